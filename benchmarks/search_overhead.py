"""What a beam search costs beside its scorer, and where that goes.

`scorer` repeats the calls of `score` and `advance` that a search made, on the same moves: the
network, and its states following the beam. `network` is the network alone.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import torch
from measure import interleave, print_table, report
from synthetic import BATCH, FixedLength, Memory, Recurrent, sentences

from beamlearn import Move, beam_search
from beamlearn.search.beam import advance, expand, initial_beam, policy, take

WIDTHS = (1, 8)
PHASES = ("start", "expand", "policy", "take", "advance")


@torch.no_grad()
def recorded_moves(space: FixedLength, scorer: Recurrent, width: int) -> list[Move]:
    """The moves of one search but the last, after which there is nothing to score."""
    moves = []
    beam = initial_beam(space, scorer)
    while beam.examples.numel() > 0:
        neighbors = expand(space, scorer, beam)
        step = take(beam, neighbors, policy(neighbors, width, "pad"))
        beam, move = advance(space, scorer, beam, step)
        moves.append(move)
    return moves[:-1]


@torch.no_grad()
def scorer_alone(space: FixedLength, scorer: Recurrent, moves: list[Move]) -> None:
    memory = scorer.start(space)
    scorer.score(memory, 0)
    for nodes, move in enumerate(moves, 1):
        memory = scorer.advance(memory, nodes, move)
        scorer.score(memory, nodes)


@torch.no_grad()
def network_alone(space: FixedLength, scorer: Recurrent, moves: list[Move]) -> None:
    memory = scorer.start(space)
    scorer.score(memory, 0)
    hidden, cell = (moves[0].follow(field) for field in (memory.hidden, memory.cell))
    memory = Memory(hidden, cell, memory.words)
    for nodes, move in enumerate(moves, 1):
        memory = scorer.read(memory, move.actions, nodes)
        scorer.score(memory, nodes)


class Clock:
    """Seconds per phase."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = perf_counter()
        yield
        self.spent[name] += perf_counter() - start


@torch.no_grad()
def phases(space: FixedLength, scorer: Recurrent, width: int) -> dict[str, float]:
    """The loop of `beam_search`, phase by phase; `expand` and `advance` include the scorer."""
    clock = Clock()
    with clock.phase("start"):
        beam = initial_beam(space, scorer)
    while beam.examples.numel() > 0:
        with clock.phase("expand"):
            neighbors = expand(space, scorer, beam)
        with clock.phase("policy"):
            chosen = policy(neighbors, width, "pad")
        with clock.phase("take"):
            step = take(beam, neighbors, chosen)
        with clock.phase("advance"):
            beam, _ = advance(space, scorer, beam, step)
    return clock.spent


@torch.no_grad()
def scorer_phases(space: FixedLength, scorer: Recurrent, moves: list[Move]) -> dict[str, float]:
    """The scorer's share of each phase."""
    clock = Clock()
    with clock.phase("start"):
        memory = scorer.start(space)
    with clock.phase("expand"):
        scorer.score(memory, 0)
    for nodes, move in enumerate(moves, 1):
        with clock.phase("advance"):
            memory = scorer.advance(memory, nodes, move)
        with clock.phase("expand"):
            scorer.score(memory, nodes)
    return clock.spent


def breakdown(
    space: FixedLength, scorer: Recurrent, width: int, moves: list[Move]
) -> list[dict[str, Any]]:
    """Each phase as a share of the scorer's time: as a whole, and without the scorer."""
    turns = [(phases(space, scorer, width), scorer_phases(space, scorer, moves)) for _ in range(15)]
    scorer_time = median(sum(alone.values()) for _, alone in turns)

    def share(name: str, own: bool) -> float:
        spent = [total[name] - own * alone.get(name, 0.0) for total, alone in turns]
        return median(spent) / scorer_time

    return [
        {"width": width, "phase": name, "all": share(name, False), "overhead": share(name, True)}
        for name in PHASES
    ]


def row(space: FixedLength, scorer: Recurrent, width: int, moves: list[Move]) -> dict[str, Any]:
    search = partial(beam_search, space, scorer, width=width)
    times = interleave(
        {
            "scorer": partial(scorer_alone, space, scorer, moves),
            "search": search,
            "outputs": lambda: search().outputs,
            "nbest": lambda: search().nbest,
            "network": partial(network_alone, space, scorer, moves),
        },
        seconds=15,
    )
    return {
        "width": width,
        "batch": BATCH,
        "scorer_ms": 1e3 * times["scorer"].seconds,
        "search_ms": 1e3 * times["search"].seconds,
        "search/scorer": times["search"].ratio,
        "with outputs": times["outputs"].ratio,
        "with nbest": times["nbest"].ratio,
        "network/scorer": times["network"].ratio,
    }


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    space, scorer = sentences(), Recurrent()
    rows, parts = [], []
    for width in WIDTHS:
        moves = recorded_moves(space, scorer, width)
        rows.append(row(space, scorer, width, moves))
        parts += breakdown(space, scorer, width, moves)
    print_table(parts)
    report("search_overhead", rows, phases=parts)


if __name__ == "__main__":
    main()
