"""Check an oracle: by enumeration of a small space, by random walks through a large one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..check import check_steps
from .brute_force import (
    Cost,
    Level,
    TooLargeError,
    actions_to,
    back_up,
    full_size,
    levels,
    terminal_costs,
)
from .neighbors import Move
from .oracle import Oracle
from .space import SearchSpace


@dataclass(frozen=True)
class Mistake:
    """A node whose cost the oracle gets wrong."""

    example: int
    output: Any
    """The output so far."""
    claimed: float
    true: float


@dataclass(frozen=True, repr=False)
class OracleCheck:
    """What a check of an oracle found; printed, it is a verdict."""

    nodes: int
    """How many costs were compared."""
    exhaustive: bool
    """Was every node of the space compared with the enumeration of its completions?"""
    mistakes: list[Mistake]
    costs_known: bool
    """Were the costs of outputs known, not just claimed by the oracle?"""

    @property
    def ok(self) -> bool:
        """Was every cost right? Never, if the oracle could be compared with nothing but itself."""
        return self.costs_known and not self.mistakes

    def __str__(self) -> str:
        if self.mistakes:
            first = self.mistakes[0]
            return (
                f"wrong: {len(self.mistakes)} costs; for {first.output!r:.60} of example "
                f"{first.example} the oracle says {first.claimed:g}, not {first.true:g}"
            )
        if not self.costs_known:
            return (
                "self-consistent; not compared with any cost: pass `cost`, or give the space a "
                "method `cost`"
            )
        way = "all completions" if self.exhaustive else "outputs of random walks"
        return f"ok: {self.nodes} costs compared with those of {way}"

    def __repr__(self) -> str:
        return f"<OracleCheck: {self}>"


def check_oracle(
    space: SearchSpace[Any],
    oracle: Oracle | None = None,
    *,
    cost: Cost | None = None,
    limit: int = 20_000,
    walks: int = 32,
    tolerance: float = 1e-6,
    generator: torch.Generator | None = None,
) -> OracleCheck:
    """Compare an oracle with the definition c*(v) = min over the terminals below v of c.

    c is `cost(example, output)` or else the method `cost` of the space. If there is neither, the
    oracle's own costs of outputs are taken for c. Then an oracle that always says 0 agrees with
    itself, and so does one that takes the wrong output for the right one: the check is not `ok`,
    but says that the oracle is self-consistent.

    A space with at most `limit` nodes at each depth is listed whole, and every cost is compared
    with the minimum over all completions. In a larger one, `walks` random walks step now with
    the oracle and now against it. At each node the cost must be that of the cheapest neighbor, and
    at the end it must be c.

    >>> import beamlearn as bl
    >>> space = bl.GraphSpace(0, lambda n: [n + 1, n + 2] if n < 5 else [], cost=lambda p: len(p))
    >>> print(check_oracle(space))
    ok: 24 costs compared with those of all completions
    >>> print(check_oracle(space, cost=lambda example, path: 7.0))
    wrong: 25 costs; for (0,) of example 0 the oracle says 4, not 7
    """
    oracle = space.oracle() if oracle is None else oracle
    known = _known(space.cost if cost is None else cost)
    try:
        found = levels(space, limit)
    except TooLargeError:
        checks = [_walk(space, oracle, known, tolerance, generator) for _ in range(walks)]
        mistakes = [mistake for check in checks for mistake in check.mistakes]
        nodes, all_known = sum(c.nodes for c in checks), all(c.costs_known for c in checks)
        return OracleCheck(nodes, False, mistakes, all_known)
    return _check_all(space, oracle, found, known, tolerance)


def _known(cost: Callable[[int, Any], float | None]) -> Cost:
    """The same cost, with NaN for one that is not known."""

    def known(example: int, output: Any) -> float:
        value = cost(example, output)
        return nan if value is None else float(value)

    return known


def _check_all(
    space: SearchSpace[Any],
    oracle: Oracle,
    found: Sequence[Level],
    cost: Cost,
    tolerance: float,
) -> OracleCheck:
    claims = _claims(oracle, found)
    costs = [terminal_costs(space, found, depth, cost) for depth in range(len(found))]
    leaves = [torch.where(c.isnan(), claim, c) for c, claim in zip(costs, claims, strict=True)]
    truths = back_up(found, leaves)
    costs_known = not any(bool(c.isnan().any()) for c in costs)
    mistakes = []
    if oracle.full:
        claimed, true = oracle.initial().double(), truths[0].amin(dim=(-1, -2))
        for example in (~found[0].legal.any(dim=-1)[:, 0]).nonzero()[:, 0].tolist():
            # The initial node is itself terminal.
            value = cost(example, space.outputs([example], [[]])[0])
            costs_known = costs_known and not isnan(value)
            true[example] = claimed[example] if isnan(value) else value
        wrong = ~((claimed - true).abs() <= tolerance)
        for example in wrong.nonzero()[:, 0].tolist():
            output = space.outputs([example], [[]])[0]
            mistakes.append(Mistake(example, output, float(claimed[example]), float(true[example])))
    for depth, (level, claim, truth) in enumerate(zip(found, claims, truths, strict=True)):
        wrong = _wrong(claim, truth, level.legal, oracle.full, tolerance)
        for at in wrong.nonzero().tolist():
            actions = [*actions_to(found, depth, at[0], at[1]), at[2]]
            output = space.outputs([at[0]], [actions])[0]
            claimed_here, true_here = (float(field[tuple(at)]) for field in (claim, truth))
            mistakes.append(Mistake(at[0], output, claimed_here, true_here))
    nodes = sum(int(level.legal.sum()) for level in found)
    return OracleCheck(nodes, True, mistakes, costs_known)


def _claims(oracle: Oracle, found: Sequence[Level]) -> list[Tensor]:
    """The oracle's costs of the neighbors of all nodes, level by level."""
    memory = oracle.start()
    claims = []
    for level, following in zip(found, [*found[1:], None], strict=True):
        claims.append(oracle.costs(memory, level.nodes).double())
        if level.move is not None and following is not None:
            memory = oracle.advance(memory, following.nodes, level.move)
    return claims


def _wrong(
    claim: Float[Tensor, "batch slots a"],
    truth: Float[Tensor, "batch slots a"],
    legal: Bool[Tensor, "batch slots a"],
    full: bool,
    tolerance: float,
) -> Bool[Tensor, "batch slots a"]:
    """Find claims that are not true.

    Of an oracle without full costs: neighbors that it calls cheapest and that are not.
    """
    if full:
        return legal & ~((claim - truth).abs() <= tolerance)
    claim, truth = (field.masked_fill(~legal, torch.inf) for field in (claim, truth))
    named = claim == claim.amin(dim=(-1, -2), keepdim=True)
    return legal & named & (truth > truth.amin(dim=(-1, -2), keepdim=True) + tolerance)


def _walk(
    space: SearchSpace[Any],
    oracle: Oracle,
    cost: Cost,
    tolerance: float,
    generator: torch.Generator | None,
) -> OracleCheck:
    """Walk once through the space of every example, half with and half against the oracle.

    An oracle without full costs cannot be compared with anything on the way.
    """
    nodes, memory, value = space.initial(), oracle.start(), oracle.initial().double()
    examples = list(range(len(space)))
    taken: list[list[int]] = [[] for _ in examples]
    mistakes: list[Mistake] = []
    compared = steps = 0
    costs_known = oracle.full

    def compare(row: int, true: float) -> None:
        claimed = float(value[row])
        if not abs(claimed - true) <= tolerance:
            output = space.outputs([examples[row]], [taken[examples[row]]])[0]
            mistakes.append(Mistake(examples[row], output, claimed, true))

    while examples:
        check_steps(steps := steps + 1, MAX_STEPS)
        expansion = space.expand(nodes)
        there = torch.ones(len(examples), 1, dtype=torch.bool, device=value.device)
        legal, terminal = (field[:, 0] for field in full_size(expansion, there))
        claim = oracle.costs(memory, nodes).double()[:, 0].masked_fill(~legal, torch.inf)
        inner = legal.any(dim=-1)
        for row in inner.nonzero()[:, 0].tolist() if oracle.full else ():
            compare(row, float(claim[row].min()))
        compared += int(legal.sum())
        action = _with_or_against(claim, legal, generator)
        for row in inner.nonzero()[:, 0].tolist():
            taken[examples[row]].append(int(action[row]))
        value = torch.where(inner, claim.gather(-1, action[:, None])[:, 0], value)
        ended = terminal.gather(-1, action[:, None])[:, 0]
        done = ended | ~inner if steps == 1 else ended  # an initial node may be terminal
        for row in done.nonzero()[:, 0].tolist() if oracle.full else ():
            output = space.outputs([examples[row]], [taken[examples[row]]])[0]
            true = cost(examples[row], output)
            costs_known = costs_known and not isnan(true)
            compare(row, float(value[row]) if isnan(true) else true)
        rows = (inner & ~ended).nonzero()[:, 0]
        examples, value = [examples[row] for row in rows.tolist()], value[rows]
        if examples:
            slots = torch.zeros_like(rows)[:, None]
            none = slots.bool()
            move = Move(rows, slots, action[rows][:, None], stays=none, finished=none)
            nodes = space.advance(nodes, move)
            memory = oracle.advance(memory, nodes, move)
    return OracleCheck(compared, False, mistakes, costs_known)


MAX_STEPS = 10_000


def _with_or_against(
    claim: Float[Tensor, "batch a"],
    legal: Bool[Tensor, "batch a"],
    generator: torch.Generator | None,
) -> Int[Tensor, " batch"]:
    """Toss a coin between the cheapest action and any other legal one."""
    source = claim.device if generator is None else generator.device
    luck = torch.rand(claim.shape, generator=generator, device=source).to(claim.device)
    coin = torch.rand(len(claim), generator=generator, device=source).to(claim.device)
    at_random = luck.masked_fill(~legal, -1.0).argmax(dim=-1)
    return torch.where(coin < 0.5, claim.argmin(dim=-1), at_random)
