"""Roll-outs: a neighbor costs what the output costs that a policy reaches from it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NoReturn, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .beam import Beam, Selection, advance, expand, take
from .neighbors import Move, Neighbors
from .oracle import Collection, Oracle
from .output_cost import BatchedCost, Cost, costs_of
from .ranking import least, top
from .space import SearchSpace
from .trace import Trace

Out = Literal["learned", "reference"] | float
"""Who takes a roll-out to its end; a number is the probability that the reference does."""
Reference = Callable[[Any], Oracle]
"""What knows the right actions in a space, made from the space."""


@final
class RolloutOracle(Oracle):
    """Completion costs for any metric of finished outputs, estimated by roll-outs.

    The cost of a neighbor is `cost(input, output)` of the output that is reached from it, action by
    action: by the learned policy, by the reference, which takes the cheapest action of another
    oracle, or (a number) by either, with that probability of the reference for each beam.
    Without a `cost`, outputs cost what the reference says. Strategies that follow the oracle follow
    the reference, whatever is estimated, or the estimates if there is none.

    Only the `per_beam` best-scored neighbors of a beam are rolled out, and the one that the
    reference would choose; None: all of them. The others count as dearer than all that are known;
    losses that need the costs of all neighbors see the known ones alone. With `sampled`, the
    learned policy draws its actions by their probability; otherwise it is greedy. `reference` makes
    the oracle to follow in a space; None: where one is needed, the space's own. With `batched`,
    `cost` takes lists of inputs and outputs, and returns as many numbers.

    Costs are estimates: c*(v) need not be the least of the neighbors of v, so Theorem 2 says
    nothing. With an optimal reference, and roll-outs by it, they are c*.

    >>> import beamlearn as bl
    >>> words = bl.GraphSpace("", lambda word: [word + "a", word + "b"] if len(word) < 2 else [])
    >>> scorer = bl.FunctionScorer(lambda path: path[-1].count("b"))
    >>> oracle = bl.RolloutOracle(lambda start, path: path[-1].count("a"), per_beam=2)
    >>> path = bl.beam_trajectory(words, scorer, width=1, oracle=oracle)
    >>> path.transitions[0].neighbors.costs.tolist()
    [[1.0, 0.0]]
    """

    exact = False

    def __init__(
        self,
        cost: Cost | BatchedCost | None = None,
        *,
        out: Out | str = "learned",
        per_beam: int | None = None,
        reference: Reference | None = None,
        sampled: bool = False,
        batched: bool = False,
    ) -> None:
        if per_beam is not None and per_beam < 1:
            raise ValueError(f"`per_beam` must be at least 1, got {per_beam}.")
        self.cost, self.batched, self.reference = cost, batched, reference
        self.beta, self.per_beam, self.sampled = beta_of(out), per_beam, sampled

    def following(self, collection: Collection) -> "Rollouts":
        if self.per_beam is not None and self.per_beam < collection.width:
            raise ValueError(
                f"`per_beam` must be at least the width of the beam, {collection.width}, so that "
                f"the cost of each beam is known, got {self.per_beam}."
            )
        rule = self.with_metric_of(collection.space)
        return Rollouts(rule, collection, rule.guide(collection.space))

    def with_metric_of(self, space: SearchSpace[Any]) -> "RolloutOracle":
        """The same, by the metric of a space that has one, if this has none of its own."""
        own = space.oracle() if self.cost is None and self.reference is None else None
        if not isinstance(own, RolloutOracle):
            return self
        return RolloutOracle(
            own.cost,
            out=self.beta,
            per_beam=self.per_beam,
            reference=own.right_path,
            sampled=self.sampled,
            batched=own.batched,
        )

    def guided(self, reference: Reference) -> "RolloutOracle":
        """The same with another reference."""
        return RolloutOracle(
            self.cost,
            out=self.beta,
            per_beam=self.per_beam,
            reference=reference,
            sampled=self.sampled,
            batched=self.batched,
        )

    def guide(self, space: SearchSpace[Any]) -> Oracle | None:
        """The reference in a space; None: there is none, and none is needed."""
        if self.reference is not None:
            return self.reference(space)
        return space.oracle() if self.cost is None or self.beta > 0 else None

    def right_path(self, space: SearchSpace[Any]) -> Oracle:
        return self.guide(space) or space.oracle().right_path(space)

    def output_costs(self, trace: Trace) -> Float[Tensor, " batch"] | None:
        if self.cost is None:
            return None
        outputs = trace.best_outputs()
        return costs_of(self.cost, trace.space, range(len(outputs)), outputs, batched=self.batched)

    def initial(self) -> NoReturn:
        raise not_followed()

    def start(self) -> NoReturn:
        raise not_followed()

    def costs(self, memory: Any, nodes: Any) -> NoReturn:
        raise not_followed()

    def advance(self, memory: Any, nodes: Any, move: Move) -> NoReturn:
        raise not_followed()


def beta_of(out: Out | str) -> float:
    """The probability of a roll-out by the reference."""
    known: dict[Any, float] = {"learned": 0.0, "reference": 1.0}
    beta = known.get(out, out)
    if isinstance(beta, str) or not 0 <= beta <= 1:
        raise ValueError(
            f"`out` must be learned, reference or a probability of the reference, got {out!r}."
        )
    return float(beta)


def not_followed() -> ValueError:
    """The error for an oracle whose costs are asked for outside of a trajectory."""
    return ValueError(
        "A RolloutOracle needs a scorer to roll out with; pass it as `oracle` to "
        "`beam_trajectory` or `learn`."
    )


@dataclass(frozen=True)
class Prefix:
    """What led to the hypotheses of a beam."""

    actions: Int[Tensor, "batch k steps"]
    """-1 where none was taken."""
    guide: Any
    """The memory of the reference, where there is one."""
    right: Float[Tensor, "batch k a"] | None
    """What the reference says of all neighbors; of a finished hypothesis, what it said before."""


@dataclass(frozen=True)
class Reached:
    """Outputs at the ends of roll-outs, of examples whose roll-outs ended together."""

    places: Int[Tensor, " rows"]
    """Their places in the batch that was rolled out."""
    examples: Int[Tensor, " rows"]
    actions: Int[Tensor, "rows m steps"]
    costs: Float[Tensor, "rows m"]
    """By the reference; zeros without one."""
    there: Bool[Tensor, "rows m"]


@final
class Rollouts(Oracle):
    """A `RolloutOracle` along one trajectory, whose space and scorer it knows."""

    exact = False

    def __init__(self, rule: RolloutOracle, collection: Collection, guide: Oracle | None) -> None:
        self.rule, self.guide, self.collection = rule, guide, collection
        self.space, self.scorer = collection.space, collection.scorer
        self.tolerance = 1e-9 if guide is None else guide.tolerance
        self.judged: dict[tuple[int, ...], float] = {}
        """What the metric has said: by example, and the actions of the output."""

    def initial(self) -> Float[Tensor, " batch"]:
        """The cost of the output that a roll-out reaches from the initial node."""
        return self._initial

    @cached_property
    def _initial(self) -> Float[Tensor, " batch"]:
        beam = self.collection.start
        with torch.no_grad():
            neighbors = expand(self.space, self.scorer, beam)
            memory, coins = self.start(), self._coins(beam.kept)
            first = self._choice(neighbors, memory.right, coins)
            return self._roll_out(beam, memory, neighbors, first, coins)[:, 0]

    def start(self) -> Prefix:
        beam = self.collection.start
        none = torch.zeros(len(self.space), 1, 0, dtype=torch.long, device=beam.scores.device)
        if self.guide is None:
            return Prefix(none, None, None)
        guide = self.guide.start()
        return Prefix(none, guide, self.guide.costs(guide, beam.nodes))

    def costs(self, memory: Any, nodes: Any) -> NoReturn:
        raise not_followed()

    def advance(self, memory: Prefix, nodes: Any, move: Move) -> Prefix:
        taken = move.actions.masked_fill(move.stays, -1)
        actions = torch.cat([move.follow(memory.actions), taken[..., None]], dim=-1)
        if self.guide is None or memory.right is None:
            return Prefix(actions, None, None)
        guide, before = self.guide.advance(memory.guide, nodes, move), move.pick(memory.right)
        right = self.guide.costs(guide, nodes)
        return Prefix(
            actions, guide, torch.where(move.finished[..., None], before[..., None], right)
        )

    @torch.no_grad()
    def complete(self, memory: Prefix, beam: Beam, neighbors: Neighbors) -> Neighbors:
        """Roll out the best-scored neighbors, and the one that the reference would choose."""
        known = self._worth_knowing(neighbors, memory.right)
        index, there = positions(known)
        first = selection(index, there)
        found = self._roll_out(beam, memory, neighbors, first, self._coins(there))
        costs = torch.zeros_like(known, dtype=found.dtype).scatter_add(-1, index, found * there)
        return replace(
            neighbors,
            completion=costs.view(neighbors.local.shape),
            known=known,
            reference=memory.right,
        )

    def _worth_knowing(
        self, neighbors: Neighbors, right: Float[Tensor, "batch k a"] | None
    ) -> Bool[Tensor, "batch n"]:
        """Which neighbors are rolled out."""
        if self.rule.per_beam is None:
            return neighbors.mask
        kept, index = neighbors.best(self.rule.per_beam)
        known = torch.zeros_like(neighbors.mask).scatter(-1, index, kept)
        if right is not None:
            known = known.scatter(-1, least(neighbors.fill(right.flatten(1), torch.inf)), True)
        return known & neighbors.mask

    def _coins(self, there: Bool[Tensor, "batch m"]) -> Bool[Tensor, "batch m"]:
        """Which roll-outs the reference takes to their ends: all from a beam, or none.

        Costs that are compared come from the same policy; otherwise most of their difference is
        that between the policies.
        """
        if self.rule.beta in (0, 1):
            return torch.full_like(there, self.rule.beta == 1)
        coins = self._uniform((len(there), 1), there.device) < self.rule.beta
        return coins.expand_as(there)

    def _uniform(self, shape: tuple[int, ...], device: torch.device) -> Float[Tensor, "..."]:
        """Random numbers from the generator of the trajectory."""
        generator = self.collection.generator
        source = device if generator is None else generator.device
        return torch.rand(shape, generator=generator, device=source).to(device)

    def _choice(
        self,
        neighbors: Neighbors,
        right: Float[Tensor, "batch k a"] | None,
        by_reference: Bool[Tensor, "batch k"],
    ) -> Selection:
        """One action for each hypothesis, as they do not compete in a roll-out."""
        exists = neighbors.mask.view(neighbors.local.shape)
        scores = neighbors.local.detach().masked_fill(~exists, -torch.inf)
        if self.rule.sampled:
            scores = scores + self._gumbel(scores)
        if right is not None:
            dear = right > right.masked_fill(~exists, torch.inf).amin(dim=-1, keepdim=True)
            scores = scores.masked_fill(dear & by_reference[..., None], -torch.inf)
        _, actions = top(scores.flatten(0, 1), 1)
        rows, slots, count = scores.shape
        first = torch.arange(0, slots * count, count, device=scores.device)
        return selection(first + actions.view(rows, slots), neighbors.kept)

    def _gumbel(self, like: Float[Tensor, "batch k a"]) -> Float[Tensor, "batch k a"]:
        """Noise that turns the best-scored action into one drawn by its probability."""
        tiny = torch.finfo(like.dtype).tiny
        uniform = self._uniform(like.shape, like.device).to(like.dtype).clamp(min=tiny)
        return -(-uniform.log()).clamp(min=tiny).log()

    def _roll_out(
        self,
        beam: Beam,
        memory: Prefix,
        neighbors: Neighbors,
        chosen: Selection,
        by_reference: Bool[Tensor, "batch m"],
    ) -> Float[Tensor, "batch m"]:
        """Go to the chosen neighbors and on to the ends; return what is reached there costs."""
        shape, ended = chosen.index.shape, list[Reached]()
        places = torch.arange(shape[0], device=chosen.index.device)
        costs = torch.zeros(shape, device=chosen.index.device)
        while True:
            step = take(beam, neighbors, chosen)
            if memory.right is not None:
                costs = memory.right.flatten(1).gather(-1, chosen.index)
            taken = step.actions.masked_fill(step.stays, -1)
            slots = step.slots[..., None].expand(-1, -1, memory.actions.shape[-1])
            actions = torch.cat([memory.actions.gather(1, slots), taken[..., None]], dim=-1)
            over = step.settled
            if over is not None:
                parts = (places, step.examples, actions, costs, step.kept)
                ended.append(Reached(*(part[over] for part in parts)))
            beam, move = advance(self.space, self.scorer, beam, step)
            if beam.examples.numel() == 0:
                return self._costs(ended, shape)
            memory = self.advance(memory, beam.nodes, move)
            places, costs, by_reference = map(move.keep, (places, costs, by_reference))
            neighbors = expand(self.space, self.scorer, beam)
            chosen = self._choice(neighbors, memory.right, by_reference)

    def _costs(self, ended: list[Reached], shape: torch.Size) -> Float[Tensor, "batch m"]:
        """What outputs cost, at their places."""
        device = self.collection.start.scores.device
        found = torch.zeros(shape, dtype=torch.float64, device=device)
        for part in ended:
            costs = part.costs.double()
            if self.rule.cost is not None:
                costs[part.there] = self._judged(part).to(device)
            found[part.places] = costs
        return found

    def _judged(self, part: Reached) -> Float[Tensor, " outputs"]:
        """What the metric says of outputs; of each output it is asked once."""
        assert self.rule.cost is not None  # or the reference is asked
        paths = [[a for a in path if a >= 0] for path in part.actions[part.there].tolist()]
        numbers = part.examples[:, None].expand_as(part.there)[part.there].tolist()
        keys = [(example, *path) for example, path in zip(numbers, paths, strict=True)]
        if new := [key for key in dict.fromkeys(keys) if key not in self.judged]:
            examples = [key[0] for key in new]
            outputs = self.space.outputs(examples, [list(key[1:]) for key in new])
            batched = self.rule.batched
            costs = costs_of(self.rule.cost, self.space, examples, outputs, batched=batched)
            self.judged |= zip(new, costs.tolist(), strict=True)
        return torch.tensor([self.judged[key] for key in keys], dtype=torch.float64)


def selection(index: Int[Tensor, "batch m"], there: Bool[Tensor, "batch m"]) -> Selection:
    """Hypotheses that go on side by side; an example leaves when all of its are finished."""
    never = torch.zeros(len(index), dtype=torch.bool, device=index.device)
    return Selection(index.masked_fill(~there, 0), there, never, never)


def positions(
    chosen: Bool[Tensor, "batch n"],
) -> tuple[Int[Tensor, "batch m"], Bool[Tensor, "batch m"]]:
    """Where each row is True, in order, and which of these places are there.

    >>> positions(torch.tensor([[False, True, True], [False, False, True]]))[0].tolist()
    [[1, 2], [2, 0]]
    """
    most = max(1, int(chosen.sum(dim=-1).max()))
    there, index = chosen.to(torch.uint8).sort(dim=-1, descending=True, stable=True)
    return index[:, :most], there[:, :most].bool()
