"""A_b, the neighbors of a beam, flattened slot by slot; and the move into the next beam."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from .perturbation import PerturbedNeighbors
from .ranking import cheapest, scaled, top_children


@dataclass(frozen=True)
class Neighbors:
    """The set A_b of one beam per row of the batch.

    Neighbor `i` is action `i % a` out of slot `i // a`; that index is also the total order
    which breaks ties. A finished hypothesis is its own only neighbor: action 0, at the score
    it has. Where `mask` is False there is no neighbor: scores and costs hold zeros there, and
    nothing depends on them.

    The score of a neighbor is `scale * local + offset` of its slot. These sums are formed for
    all of them only when `scores` is asked for: choosing the next beam does not need it.
    """

    local: Float[Tensor, "batch k a"]
    offset: Float[Tensor, "batch k"]
    terminal: Bool[Tensor, "#batch #k #a"]
    legal: Bool[Tensor, "#batch #k #a"] | None
    kept: Bool[Tensor, "batch k"]
    finished: Bool[Tensor, "batch k"]
    ragged: bool
    """Is there a slot that is finished or beyond the end of its beam?"""
    ending: Bool[Tensor, "#batch #k"] | None = None
    """Which nodes have only terminal neighbors, where the space says so."""
    completion: Float[Tensor, "batch k a"] | None = None
    """c* of every neighbor, where an oracle was asked; junk where `mask` is False."""
    known: Bool[Tensor, "batch n"] | None = None
    """Which costs are known; None: all."""
    reference: Float[Tensor, "batch k a"] | None = None
    """What the policy to follow says of every neighbor, where costs are estimates by others."""
    complete: bool = False
    """Is every number in `local` finite?"""
    scale: float = 1.0
    """Above 0."""
    perturbed: PerturbedNeighbors | None = None
    """What samples are ranked by, where the beam is one."""

    @property
    def actions(self) -> int:
        return self.local.shape[-1]

    @cached_property
    def mask(self) -> Bool[Tensor, "batch n"]:
        """Which entries are neighbors; an action that the scorer gives -inf is none."""
        if self.complete:
            exists = torch.ones((), dtype=torch.bool, device=self.local.device)
            exists = exists.expand_as(self.local)
        else:
            exists = self.local != -torch.inf
        if self.legal is not None:
            exists = exists & self.legal
        if self.ragged:
            stays = torch.arange(self.actions, device=exists.device) == 0
            exists = torch.where(self.finished[..., None], stays, exists) & self.kept[..., None]
        return exists.flatten(1)

    @cached_property
    def dense(self) -> bool:
        """Is every entry a neighbor? Then nothing needs to be masked."""
        if self.complete and not self.ragged:
            return self.legal is None
        return self.legal is None and bool(self.mask.all())

    def fill(self, field: Float[Tensor, "batch n"], value: float) -> Float[Tensor, "batch n"]:
        """Put `value` where there is no neighbor."""
        return field if self.dense else torch.where(self.mask, field, value)

    @property
    def unmasked_scores(self) -> Float[Tensor, "batch n"]:
        """s of every neighbor; arbitrary numbers where `mask` is False."""
        return self._summed(scaled(self.local, self.scale), self.offset)

    @property
    def unscaled_scores(self) -> Float[Tensor, "batch n"]:
        """`unmasked_scores` before they were divided by a power of the length.

        The order is the same, and what an action adds has the same weight at every depth. In a loss
        over the divided scores, late actions would hardly count.
        """
        return self._summed(self.local, scaled(self.offset, 1 / self.scale))

    def _summed(
        self, local: Float[Tensor, "batch k a"], offset: Float[Tensor, "batch k"]
    ) -> Float[Tensor, "batch n"]:
        """Add to each number what its slot has; finished hypotheses have that alone."""
        scores = local + offset[..., None]
        if self.ragged:
            scores = torch.where(self.finished[..., None], offset[..., None], scores)
        return scores.flatten(1)

    @cached_property
    def scores(self) -> Float[Tensor, "batch n"]:
        """s of every neighbor."""
        return self.fill(self.unmasked_scores, 0.0)

    @property
    def unmasked_costs(self) -> Float[Tensor, "batch n"]:
        """c* of every neighbor; arbitrary numbers where `mask` is False."""
        if self.completion is None:
            raise ValueError(
                "These neighbors have no costs; use `beam_trajectory`, which asks an oracle."
            )
        return self.completion.flatten(1)

    @cached_property
    def costs(self) -> Float[Tensor, "batch n"]:
        """c* of every neighbor."""
        return self.fill(self.unmasked_costs, 0.0)

    def with_unknown_last(self) -> "Neighbors":
        """The same, where neighbors whose cost is not known are dearer than all others."""
        if self.known is None:
            return self
        costs = self.unmasked_costs
        dearest = costs.masked_fill(~self.known, -torch.inf).amax(dim=-1, keepdim=True)
        filled = torch.where(self.known, costs, dearest + 1)
        return replace(self, completion=filled.view(self.local.shape))

    @property
    def by_reference(self) -> "Neighbors":
        """The same with the costs by which to follow the oracle.

        That is the reference, where costs are estimated by roll-outs and there is one.
        """
        if self.reference is None:
            return self
        return replace(self, completion=self.reference).with_unknown_last()

    @cached_property
    def least_cost(self) -> Float[Tensor, " batch"]:
        """c* of the cheapest neighbor."""
        return self.fill(self.unmasked_costs, torch.inf).amin(dim=-1)

    @cached_property
    def only_terminal(self) -> Bool[Tensor, " batch"]:
        """Is every neighbor terminal? Then the transition is the last one."""
        into = self.ending
        if into is None:
            into = self.terminal if self.legal is None else self.terminal | ~self.legal
            into = into.all(dim=-1)
        if self.ragged:
            into = into | self.finished | ~self.kept
        return into.all(dim=-1).expand(self.kept.shape[0])

    def look_up(self, index: Int[Tensor, "batch m"]) -> "Entries":
        """Slot, action, score (with its gradient) and terminality of neighbors by index."""
        slots = index // self.actions
        actions = index - slots * self.actions
        offset = self.offset.gather(-1, slots)
        scores = scaled(self.local.flatten(1).gather(-1, index), self.scale) + offset
        terminal = _pick(self.terminal, slots, actions)
        if self.legal is not None:
            scores = scores.masked_fill(~_pick(self.legal, slots, actions), -torch.inf)
        if self.ragged:
            finished = self.finished.gather(-1, slots)
            absent = ~self.kept.gather(-1, slots) | (finished & (actions > 0))
            scores = torch.where(finished, offset, scores).masked_fill(absent, -torch.inf)
            terminal = terminal | finished
        return Entries(slots, actions, scores, terminal)

    def best(
        self, k: int, among: Bool[Tensor, "batch k a"] | None = None
    ) -> tuple[Bool[Tensor, "batch kept"], Int[Tensor, "batch kept"]]:
        """BEST(A_b, k, s) of Algorithm 1: which slots of the result are used, and for which."""
        local, offset = self.local.detach(), self.offset.detach()
        if self.legal is not None:
            local = torch.where(self.legal, local, -torch.inf)
        if among is not None:
            local = local.masked_fill(~among, -torch.inf)
            offset = offset.masked_fill(self.finished & ~among[..., 0], -torch.inf)
        if not self.ragged:
            values, index = top_children(local, offset, k, scale=self.scale)
        else:
            offset = offset.masked_fill(~self.kept, -torch.inf)
            idle = self.finished | ~self.kept
            values, index = top_children(local, offset, k, idle, self.scale)
        return values > -torch.inf, index

    def cheapest(
        self, k: int, among: Bool[Tensor, "batch k a"] | None = None
    ) -> tuple[Bool[Tensor, "batch kept"], Int[Tensor, "batch kept"]]:
        """BEST(A_b, k, -c*), where equal costs are ranked by score."""
        mask = self.mask if among is None else self.mask & among.flatten(1)
        return cheapest(self.costs, self.scores.detach(), mask, k)

    def sampled(
        self, k: int, among: Bool[Tensor, "batch k a"] | None = None
    ) -> tuple[Bool[Tensor, "batch kept"], Int[Tensor, "batch kept"]]:
        """BEST(A_b, k, G), for perturbed log-probabilities G."""
        if self.perturbed is None:
            raise ValueError(
                "These neighbors have no noise; use `stochastic_beam_search`, or the strategy "
                "`Sample`, which draw it."
            )
        return self.perturbed.best(k, among)

    def terminals(self) -> Bool[Tensor, "batch k a"]:
        """Which entries are terminal, at full size."""
        return self.terminal.expand_as(self.local) | self.finished[..., None]


@dataclass(frozen=True)
class Entries:
    """Some neighbors, looked up."""

    slots: Int[Tensor, "batch m"]
    actions: Int[Tensor, "batch m"]
    scores: Float[Tensor, "batch m"]
    """-inf where there is no neighbor."""
    terminal: Bool[Tensor, "batch m"]


def _pick(
    field: Bool[Tensor, "#batch #k #a"],
    slot: Int[Tensor, "batch m"],
    action: Int[Tensor, "batch m"],
) -> Bool[Tensor, "batch m"]:
    """Read a broadcast field at (slot, action) without expanding it."""
    batch, k, a = field.shape
    index = torch.zeros_like(slot) if a == 1 else action
    if k > 1:
        index = index + slot * a
    if batch > 1:
        index = index + torch.arange(0, batch * k * a, k * a, device=slot.device)[:, None]
    return field.flatten().take(index)


@dataclass(frozen=True)
class Move:
    """How the beams of one step become those of the next, slot by slot.

    Slot `j` of row `i` extends slot `slots[i, j]` of the earlier row `rows[i]` by action
    `actions[i, j]`. Rows whose search is over are not in `rows`: they leave the batch. Slots in
    `stays` take no action: they hold a finished hypothesis, or nothing because the beam is
    shorter. Their indices are valid, and what is computed for them is not read.
    """

    rows: Int[Tensor, " batch"] | None
    """None: every row goes on."""
    slots: Int[Tensor, "batch k"]
    actions: Int[Tensor, "batch k"]
    stays: Bool[Tensor, "batch k"]
    finished: Bool[Tensor, "batch k"]
    """Which slots hold a finished hypothesis after the move; it will not be extended."""

    def parents(self, before: int) -> Int[Tensor, "batch k"]:
        """Which hypothesis each slot extends, counted through all rows of `before` slots each."""
        rows = self.rows
        if rows is None:
            rows = torch.arange(self.slots.shape[0], device=self.slots.device)
        return rows[:, None] * before + self.slots

    def follow(
        self, field: Shaped[Tensor, "before slots *rest"]
    ) -> Shaped[Tensor, "batch k *rest"]:
        """Give each slot what `field` holds for the slot that it extends."""
        before = field.shape[1]
        if self.rows is None and before == self.slots.shape[1] == 1:
            return field
        index = self.parents(before)
        taken = field.flatten(0, 1).index_select(0, index.flatten())
        return taken.reshape(*index.shape, *field.shape[2:])

    def pick(self, field: Shaped[Tensor, "before slots a"]) -> Shaped[Tensor, "batch k"]:
        """Give each slot what `field` holds for the action that it takes."""
        _, slots, actions = field.shape
        return field.flatten().take(self.parents(slots) * actions + self.actions)

    def keep(self, field: Shaped[Tensor, " before *rest"]) -> Shaped[Tensor, " batch *rest"]:
        """Keep the rows of a per-example `field` that go on."""
        return field if self.rows is None else field.index_select(0, self.rows)
