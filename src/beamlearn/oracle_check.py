"""Is an oracle right? Against enumeration where the space is small, by deviations where not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from .enumeration import Cost, Level, actions_to, back_up, levels, terminal_costs
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
    the node is that of its cheapest neighbor. `cost(example, output)`, if given, says what the
    terminals cost; else the oracle is believed there.

    >>> import beamlearn as bl
    >>> space = bl.GraphSpace(0, lambda n: [n + 1, n + 2] if n < 5 else [], cost=lambda p: len(p))
    >>> check_oracle(space, cost=lambda example, path: len(path))
    OracleCheck(nodes=24, exhaustive=True, mistakes=[])
    """
    oracle = space.oracle() if oracle is None else oracle
    try:
        found = levels(space, limit)
    except ValueError:
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
    memory = oracle.start()
    claims = []
    for level, following in zip(found, [*found[1:], None], strict=True):
        claims.append(oracle.costs(memory, level.nodes).double())
        if level.move is not None and following is not None:
            memory = oracle.advance(memory, following.nodes, level.move)
    if cost is None:
        leaves = [
            claim.masked_fill(~level.terminal, torch.inf)
            for level, claim in zip(found, claims, strict=True)
        ]
    else:
        leaves = [terminal_costs(space, found, depth, cost) for depth in range(len(found))]
    truths = back_up(found, leaves)
    mistakes = []
    for depth, (level, claim, truth) in enumerate(zip(found, claims, truths, strict=True)):
        wrong = _wrong(claim, truth, level.legal, oracle.full, tolerance)
        for example, slot, action in wrong.nonzero().tolist():
            actions = [*actions_to(found, depth, example, slot), action]
            output = space.outputs([example], [actions])[0]
            at = (example, slot, action)
            mistakes.append(Mistake(example, output, float(claim[at]), float(truth[at])))
    if oracle.full:
        inner = found[0].legal.any(dim=-1)[:, 0]
        roots = truths[0].amin(dim=(-1, -2))
        claimed = oracle.initial().double()
        for example in (inner & ((claimed - roots).abs() > tolerance)).nonzero()[:, 0].tolist():
            output = space.outputs([example], [[]])[0]
            found_here = (float(claimed[example]), float(roots[example]))
            mistakes.insert(0, Mistake(example, output, *found_here))
    return OracleCheck(sum(int(level.legal.sum()) for level in found), True, mistakes)


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
    histories: list[list[int]] = [[] for _ in examples]
    mistakes: list[Mistake] = []
    compared = 0

    def compare(row: int, true: float) -> None:
        if not abs(float(value[row]) - true) <= tolerance:
            example = examples[row]
            output = space.outputs([example], [histories[example]])[0]
            mistakes.append(Mistake(example, output, float(value[row]), true))

    while examples:
        expansion = space.expand(nodes)
        claim = oracle.costs(memory, nodes).double()[:, 0]
        legal = torch.ones_like(claim, dtype=torch.bool)
        if expansion.legal is not None:
            legal = expansion.legal.expand(len(examples), 1, expansion.actions)[:, 0]
        cheapest = claim.masked_fill(~legal, torch.inf)
        if oracle.full:
            for row in legal.any(dim=-1).nonzero()[:, 0].tolist():
                compare(row, float(cheapest[row].min()))
        compared += int(legal.sum())
        luck = torch.rand(legal.shape, generator=generator).masked_fill(~legal, -1.0)
        along = torch.rand(len(examples), generator=generator) < 0.5
        action = torch.where(along, cheapest.argmin(dim=-1), luck.argmax(dim=-1))
        for row, taken in enumerate(action.tolist()):
            if bool(legal[row].any()):
                histories[examples[row]].append(taken)
        value = claim.gather(-1, action[:, None])[:, 0]
        terminal = expansion.terminal.expand(len(examples), 1, expansion.actions)[:, 0]
        ended = terminal.gather(-1, action[:, None])[:, 0] | ~legal.any(dim=-1)
        if cost is not None:
            for row in (ended & legal.any(dim=-1)).nonzero()[:, 0].tolist():
                output = space.outputs([examples[row]], [histories[examples[row]]])[0]
                compare(row, float(cost(examples[row], output)))
        rows = (~ended).nonzero()[:, 0]
        examples, value = [examples[row] for row in rows.tolist()], value[rows]
        if examples:
            slots = torch.zeros(len(examples), 1, dtype=torch.long)
            move = Move(rows, slots, action[rows][:, None], slots.bool())
            nodes = space.advance(nodes, move)
            memory = oracle.advance(memory, nodes, move)
    return OracleCheck(compared, False, mistakes)
