"""Check an oracle: by enumeration of a small space, by random walks through a large one."""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class OracleCheck:
    """What a check of an oracle found."""

    nodes: int
    """How many costs were compared."""
    exhaustive: bool
    """Was every node of the space compared with the enumeration of its completions?"""
    mistakes: list[Mistake]

    @property
    def ok(self) -> bool:
        """Was every cost right?"""
        return not self.mistakes


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

    A space with at most `limit` nodes at each depth is listed whole, and every cost is compared
    with the minimum over all completions. In a larger one, `walks` random walks step now with
    the oracle and now against it, and at each node the oracle must be consistent: the cost of
    the node is that of its cheapest neighbor. `cost(example, output)`, if given, is the cost of
    a terminal; otherwise the oracle is trusted there.

    >>> import beamlearn as bl
    >>> space = bl.GraphSpace(0, lambda n: [n + 1, n + 2] if n < 5 else [], cost=lambda p: len(p))
    >>> check_oracle(space, cost=lambda example, path: len(path))
    OracleCheck(nodes=24, exhaustive=True, mistakes=[])
    """
    oracle = space.oracle() if oracle is None else oracle
    try:
        found = levels(space, limit)
    except TooLargeError:
        checks = [_walk(space, oracle, cost, tolerance, generator) for _ in range(walks)]
        mistakes = [mistake for check in checks for mistake in check.mistakes]
        return OracleCheck(sum(check.nodes for check in checks), False, mistakes)
    return _check_all(space, oracle, found, cost, tolerance)


def _check_all(
    space: SearchSpace[Any],
    oracle: Oracle,
    found: Sequence[Level],
    cost: Cost | None,
    tolerance: float,
) -> OracleCheck:
    claims = _claims(oracle, found)
    if cost is None:
        leaves = [c.masked_fill(~f.terminal, torch.inf) for c, f in zip(claims, found, strict=True)]
    else:
        leaves = [terminal_costs(space, found, depth, cost) for depth in range(len(found))]
    truths = back_up(found, leaves)
    mistakes = []
    if oracle.full:
        claimed, true = oracle.initial().double(), truths[0].amin(dim=(-1, -2))
        wrong = found[0].legal.any(dim=-1)[:, 0] & ~((claimed - true).abs() <= tolerance)
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
    return OracleCheck(sum(int(level.legal.sum()) for level in found), True, mistakes)


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
    cost: Cost | None,
    tolerance: float,
    generator: torch.Generator | None,
) -> OracleCheck:
    """Walk once through the space of every example, half with and half against the oracle."""
    nodes, memory, value = space.initial(), oracle.start(), oracle.initial().double()
    examples = list(range(len(space)))
    taken: list[list[int]] = [[] for _ in examples]
    mistakes: list[Mistake] = []
    compared = steps = 0

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
        value = claim.gather(-1, action[:, None])[:, 0]
        ended = terminal.gather(-1, action[:, None])[:, 0]
        if cost is not None:
            for row in ended.nonzero()[:, 0].tolist():
                output = space.outputs([examples[row]], [taken[examples[row]]])[0]
                compare(row, float(cost(examples[row], output)))
        rows = (inner & ~ended).nonzero()[:, 0]
        examples, value = [examples[row] for row in rows.tolist()], value[rows]
        if examples:
            slots = torch.zeros_like(rows)[:, None]
            none = slots.bool()
            move = Move(rows, slots, action[rows][:, None], stays=none, finished=none)
            nodes = space.advance(nodes, move)
            memory = oracle.advance(memory, nodes, move)
    return OracleCheck(compared, False, mistakes)


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
