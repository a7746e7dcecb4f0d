"""One small tree, on which all pictures of the paper are drawn, and a search of it."""

from collections.abc import Iterator

import beamlearn as bl

TREE = {
    "": "abc",
    "a": "12",
    "b": "12",
    "c": "12",
    **{name + number: "xy" for name in "abc" for number in "12"},
}
COSTS = {
    node: float(cost)
    for node, cost in zip(
        "a1x a1y a2x a2y b1x b1y b2x b2y c1x c1y c2x c2y".split(),  # noqa: SIM905 (one line)
        (2, 3, 4, 4, 1, 3, 3, 2, 2, 0, 1, 3),
        strict=True,
    )
}
"""Of the outputs."""
FIRST = {"a": 3.0, "b": 2.0, "c": 1.0}
SECOND = {"a1": 5.0, "a2": 4.0, "b1": 3.0, "b2": 2.0, "c1": 3.5, "c2": 2.5}
LAST = dict(zip(COSTS, (6.0, 5.5, 5.0, 4.0, 5.2, 4.0, 3.0, 2.0, 4.5, 4.2, 3.0, 2.0), strict=True))
SCORES = {**FIRST, **SECOND, **LAST}
"""What an untrained model might say: it likes a, and sees no good in c."""


def children(node: str) -> list[str]:
    """The nodes one step further."""
    return [node + step for step in TREE.get(node, "")]


def nodes(under: str = "") -> Iterator[str]:
    """All nodes, every one before those below it."""
    yield under
    for child in children(under):
        yield from nodes(child)


def completion_cost(node: str) -> float:
    """c*: the cost of the best output below a node."""
    below = children(node)
    return min(map(completion_cost, below)) if below else COSTS[node]


def space() -> bl.GraphSpace:
    """The tree as a search space of the library."""
    return bl.GraphSpace("", children, cost=lambda path: COSTS[path[-1]])


def scorer() -> bl.FunctionScorer:
    """The scores above."""
    return bl.FunctionScorer(lambda path: SCORES.get(path[-1], 0.0))


def visited(strategy: bl.strategies.Strategy, width: int = 2) -> list[list[str]]:
    """The beams that a strategy visits, best first."""
    path = bl.beam_trajectory(space(), scorer(), width=width, strategy=strategy)
    return [[output[-1] for output in beam] for beam in path.beams[0]]


def increases(strategy: bl.strategies.Strategy, width: int = 2) -> list[bool]:
    """At which transitions the model's own choice would raise the cost."""
    path = bl.beam_trajectory(space(), scorer(), width=width, strategy=strategy)
    return list(path.increased[0])
