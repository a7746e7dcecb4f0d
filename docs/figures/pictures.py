"""The paper in pictures: a beam, its neighbors, completion costs, and what strategies visit."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import beamlearn as bl

from .drawing import Drawing
from .loss_curves import all_losses
from .small_tree import SCORES, children, completion_cost, increases, nodes, visited


@dataclass(frozen=True)
class Looks:
    """How a node is drawn."""

    color: str = "line"
    words: str = "soft"
    dashes: str = "none"
    fill: str = "paper"


KEPT = Looks("blue", "ink", fill="panel")
DROPPED = Looks("orange", "ink", "4 3")
BEST = Looks("green", "ink", fill="panel")
PLAIN = Looks()
WIDE, GAP, TOP = 720.0, 82.0, 40.0


def places(left: float, width: float, top: float, gap: float) -> dict[str, tuple[float, float]]:
    """Where each node of the tree is: outputs side by side, the others above their children."""
    found: dict[str, tuple[float, float]] = {}
    leaves = [node for node in nodes() if not children(node)]
    for number, leaf in enumerate(leaves):
        found[leaf] = (left + width * (number + 0.5) / len(leaves), top + 3 * gap)
    for node in sorted(nodes(), key=len, reverse=True):
        if below := children(node):
            found[node] = (sum(found[one][0] for one in below) / len(below), top + len(node) * gap)
    return found


def tree(
    title: str,
    looks: Mapping[str, Looks],
    say: Callable[[str], str],
    legend: Mapping[str, Looks],
    strong: Collection[tuple[str, str]] = (),
) -> str:
    """The whole tree, each node with its name and what is said of it."""
    drawing = Drawing(WIDE, TOP + 3 * GAP + 90, title)
    where = places(0, WIDE, TOP, GAP)
    for node in nodes():
        for child in children(node):
            seen = (node, child) in strong
            color, width = ("blue", 2.0) if seen else ("line", 1.5)
            drawing.line([where[node], where[child]], color, width)
    for node in nodes():
        (x, y), look = where[node], looks.get(node, PLAIN)
        drawing.box(x, y, 54, 40, look.color, look.fill, look.dashes, 2)
        told = say(node)
        drawing.text(x, y - (2 if told else -5), node or "start", look.words, "middle", 13, 600)
        drawing.text(x, y + 14, told, look.words, "middle", 11.5)
    x, y = 12.0, TOP + 3 * GAP + 64
    for words, look in legend.items():
        drawing.box(x + 9, y - 4, 18, 14, look.color, look.fill, look.dashes, 2)
        drawing.text(x + 25, y, words)
        x += 52 + 7.2 * len(words)
    return drawing.svg()


def scored(node: str) -> str:
    """The score of a node."""
    return f"s = {SCORES[node]:g}" if node else ""


def a_beam() -> str:
    """A search with a beam of two: what it keeps at each step, and where it arrives."""
    beams = visited(bl.strategies.Continue())
    kept = {node for beam in beams for node in beam}
    seen = {child for beam in beams for node in beam for child in children(node)}
    looks = {node: KEPT if node in kept else DROPPED for node in seen | {""}}
    edges = {(node[:-1], node) for node in kept if node}
    return tree(
        "A beam search of width two",
        looks,
        lambda node: scored(node) if node in seen else "",
        {"in the beam": KEPT, "seen and dropped": DROPPED, "never seen": PLAIN},
        edges,
    )


def neighbors() -> str:
    """A beam of two nodes, its four neighbors in a row, and the two that come next."""
    beams = visited(bl.strategies.Continue())
    beam, after = beams[1], beams[2]
    drawing = Drawing(WIDE, 262, "A beam and its neighbors")
    across = {node: 260.0 + 290 * place for place, node in enumerate(beam)}
    found = [child for node in beam for child in children(node)]
    below = {node: 187.0 + 145 * place for place, node in enumerate(found)}
    drawing.text(14, 44, "beam b", weight=600)
    drawing.text(14, 144, "neighbors", weight=600)
    drawing.text(14, 162, "of the beam")
    for node in beam:
        for child in children(node):
            color = "blue" if child in after else "line"
            drawing.line([(across[node], 40), (below[child], 140)], color, 2)
    for node in beam:
        drawing.box(across[node], 40, 90, 44, "blue", "panel", stroke=2)
        drawing.text(across[node], 37, node, anchor="middle", weight=600)
        drawing.text(across[node], 53, scored(node), anchor="middle", size=11.5)
    cheapest = min(found, key=completion_cost)
    for node in found:
        look = KEPT if node in after else DROPPED
        drawing.box(below[node], 148, 104, 62, look.color, look.fill, look.dashes, 2)
        drawing.text(below[node], 134, node, anchor="middle", weight=600)
        drawing.text(below[node], 151, scored(node), anchor="middle", size=11.5)
        told = f"c* = {completion_cost(node):g}"
        color = "green" if node == cheapest else "ink"
        drawing.text(below[node], 168, told, color, "middle", 11.5, 600 if color != "ink" else 400)
    drawing.text(140, 214, "The two with the highest scores come next.", "blue")
    told = f"The cheapest, {cheapest}, falls out: a mistake to learn from."
    drawing.text(140, 236, told, "orange")
    return drawing.svg()


def completion_costs() -> str:
    """Every node with the cost of the best output below it, and the way to the best of all."""
    best = {node for node in nodes() if completion_cost(node) == completion_cost("")}
    return tree(
        "Completion costs",
        dict.fromkeys(best, BEST),
        lambda node: f"c* = {completion_cost(node):g}",
        {"can still become the best output": BEST, "cannot": PLAIN},
    )


def strategies() -> str:
    """Which nodes training visits with each strategy, on the same tree with the same scores."""
    drawing = Drawing(WIDE, 500, "What the strategies visit")
    chosen = {
        "oracle: only cheap beams": bl.strategies.Oracle(),
        "stop: ends at the first mistake": bl.strategies.Stop(),
        "reset: goes back to the best": bl.strategies.Reset(),
        "continue: lives with it": bl.strategies.Continue(),
    }
    for number, (title, strategy) in enumerate(chosen.items()):
        left, top = 8.0 + 366 * (number % 2), 50.0 + 235 * (number // 2)
        beams, wrong = visited(strategy), increases(strategy)
        where = places(left + 18, 330, top, 48)
        kept = {node for beam in beams for node in beam}
        drawing.text(left + 8, top - 24, title, weight=600, size=14)
        for node in nodes():
            for child in children(node):
                drawing.line([where[node], where[child]])
        for node in nodes():
            color = "green" if completion_cost(node) == 0 else "blue"
            if node in kept:
                drawing.dot(*where[node], 7, color)
            else:
                drawing.dot(*where[node], 4.5, "line", "paper")
        for step, increased in enumerate(wrong):
            if increased:
                drawing.text(left + 2, top + 48 * (step + 1) + 5, "✗", "orange", "start", 15, 700)
    drawing.dot(20, 486, 7, "green")
    drawing.text(34, 491, "visited, can become the best output")
    drawing.dot(302, 486, 7, "blue")
    drawing.text(316, 491, "visited, cannot")
    drawing.text(440, 491, "✗", "orange", size=15, weight=700)
    drawing.text(458, 491, "the model's own step raises the cost")
    return drawing.svg()


PICTURES: dict[str, Callable[[], str]] = {
    "beam": a_beam,
    "neighbors": neighbors,
    "completion_costs": completion_costs,
    "losses": all_losses,
    "strategies": strategies,
}
"""Each figure by the name of its file."""
