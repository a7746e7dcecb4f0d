"""The tree of all paths through a graph (Appendix A), numbered as it is visited."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from math import inf, isfinite, nan
from typing import Any

import torch
from torch import Tensor

from .growing_tensor import GrowingTensor

Node = Any


@dataclass(frozen=True, eq=False)
class Graph:
    """A search space as its user describes it; see `GraphSpace`."""

    initial: Node
    neighbors: Callable[[Node], Iterable[Node]]
    cost: Callable[[tuple[Node, ...]], float] | None = None
    max_depth: int | None = None
    max_visits: int | None = None
    step_cost: Callable[[Node, Node], float] | None = None

    def __post_init__(self) -> None:
        for name in ("max_depth", "max_visits"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"`{name}` must be at least 1 or None, got {value}.")
        if self.cost is not None and self.step_cost is not None:
            raise ValueError(
                "Give either `cost`, the cost of a whole path, or `step_cost`, the cost of each "
                "step; got both."
            )

    def cost_of(self, path: tuple[Node, ...]) -> float | None:
        """The cost of a terminal path; None: no cost was given."""
        if self.cost is not None:
            return float(self.cost(path))
        if self.step_cost is not None:
            return float(sum(starmap(self.step_cost, pairwise(path))))
        return None

    @property
    def capped(self) -> bool:
        """Are paths cut, so that some may end before they reach a terminal node?"""
        return self.max_depth is not None or self.max_visits is not None


@dataclass(frozen=True)
class PathNode:
    """A path, stored as its last node and the number of the path before it."""

    graph: Graph
    node: Node
    parent: int
    depth: int
    cost: float
    """The step costs so far."""


class PathTrees:
    """The trees of paths of any number of graphs.

    What the engine needs at every step (children, terminals, completion costs) is stored in
    tensors by number, so the user's functions run only on the first visit of a path.
    """

    enumerable = 1_000_000
    """How many paths may be numbered to find completion costs by enumeration."""

    def __init__(self) -> None:
        self.paths: list[PathNode] = []
        self.first_child = GrowingTensor(torch.long)
        self.children = GrowingTensor(torch.long)  # how many; -1 while they have no numbers
        self.terminal = GrowingTensor(torch.bool)
        self.completion = GrowingTensor(torch.float64)  # c*; NaN until asked for
        self._first_child: dict[int, int] = {}  # the same for Python, which reads tensors slowly
        self._roots: dict[Graph, int] = {}
        self._known_successors: dict[tuple[Graph, Node], list[Node]] = {}
        self._known_distance: dict[tuple[Graph, Node], float] = {}
        self._known_to_go: dict[tuple[Graph, Node, int | None], float] = {}

    def root(self, graph: Graph) -> int:
        """The number of the empty path of a graph, which is added if it is new."""
        if graph not in self._roots:
            self._roots[graph] = self._plant(graph)
        return self._roots[graph]

    def _plant(self, graph: Graph) -> int:
        if graph.capped and not self._ends(graph, (graph.initial,)):
            raise ValueError(
                f"A terminal node (one without neighbors) must be reachable from "
                f"{graph.initial!r}, but none is with max_depth={graph.max_depth} and "
                f"max_visits={graph.max_visits}; raise them, or fix `neighbors`."
            )
        return self._add([PathNode(graph, graph.initial, -1, 0, 0.0)])

    def nodes_of(self, number: int) -> tuple[Node, ...]:
        """The path that a number stands for."""
        nodes = []
        while number >= 0:
            path = self.paths[number]
            nodes.append(path.node)
            number = path.parent
        return tuple(reversed(nodes))

    def child(self, number: int, action: int) -> int:
        """The number of a child that has one."""
        return self._first_child[number] + action

    def expand(self, numbers: Tensor) -> None:
        """Number the children of all these paths."""
        for number in numbers[self.children[numbers] < 0].unique().tolist():
            self._expand(number)

    def complete(self, numbers: Tensor) -> None:
        """Find c* of all these paths."""
        for number in numbers[self.completion[numbers].isnan()].unique().tolist():
            graph = self.paths[number].graph
            if graph.step_cost is not None and graph.max_visits is None:
                self._complete_by_steps(number)
            else:
                self._complete_by_enumeration(number)

    def _add(self, paths: Sequence[PathNode]) -> int:
        """Number some paths one after another; return the first number."""
        terminal = [not self._successors(path.graph, path.node) for path in paths]
        self.paths += paths
        self.first_child.extend([-1] * len(paths))
        self.children.extend([0 if ends else -1 for ends in terminal])
        self.terminal.extend(terminal)
        self.completion.extend([nan] * len(paths))
        return len(self.paths) - len(paths)

    def _expand(self, number: int) -> None:
        path, children = self.paths[number], []
        before = self.nodes_of(number)
        graph = path.graph
        for node in self._successors(graph, path.node):
            if graph.capped and not self._ends(graph, (*before, node)):
                continue
            if not graph.capped and node in before:
                raise ValueError(_cycle(node))
            step = 0.0 if graph.step_cost is None else graph.step_cost(path.node, node)
            children.append(PathNode(graph, node, number, path.depth + 1, path.cost + step))
        self._first_child[number] = self.first_child[number] = self._add(children)
        self.children[number] = len(children)

    def _successors(self, graph: Graph, node: Node) -> list[Node]:
        """The neighbors of a node; asked for once where nodes can be dictionary keys."""
        if not _hashable(node):
            return list(graph.neighbors(node))
        known = self._known_successors.get((graph, node))
        if known is None:
            known = self._known_successors[graph, node] = list(graph.neighbors(node))
        return known

    def _ends(self, graph: Graph, path: tuple[Node, ...]) -> bool:
        """Can `path` reach a terminal node within the caps of its graph?

        If so, then without visiting any further node twice, so a breadth-first search over the
        nodes that may still be visited decides it.
        """
        if not _hashable(path[-1]):
            raise TypeError(
                "`max_depth` and `max_visits` need nodes that can be dictionary keys, but "
                f"{path[-1]!r} cannot; use tuples or strings instead of lists."
            )
        left = inf if graph.max_depth is None else graph.max_depth - (len(path) - 1)
        if graph.max_visits is None:
            return self._distance(graph, path[-1], left, set()) < inf
        visits = Counter(path)
        if visits[path[-1]] > graph.max_visits:
            return False
        spent = {node for node, count in visits.items() if count >= graph.max_visits}
        return self._distance(graph, path[-1], left, spent) < inf

    def _distance(self, graph: Graph, node: Node, limit: float, spent: set[Node]) -> float:
        """How many steps it takes from `node` to a terminal; infinite if more than `limit`."""
        known = self._known_distance.get((graph, node)) if not spent else None
        if known is not None:
            return known if known <= limit else inf
        level, seen, distance = [node], {node} | spent, 0
        while level and distance <= limit:
            following = []
            for reached in level:
                successors = self._successors(graph, reached)
                if not successors:
                    if not spent:
                        self._known_distance[graph, node] = distance
                    return distance
                following += [n for n in successors if n not in seen]
                seen.update(following)
            level, distance = following, distance + 1
        return inf

    def _complete_by_steps(self, number: int) -> None:
        path, graph = self.paths[number], self.paths[number].graph
        left = None if graph.max_depth is None else graph.max_depth - path.depth
        self.completion[number] = path.cost + self._to_go(graph, path.node, left)

    def _to_go(self, graph: Graph, node: Node, left: int | None) -> float:
        """The cheapest way from `node` to a terminal, in at most `left` steps.

        Dynamic programming, c(v, l) = min over v' of step_cost(v, v') + c(v', l - 1), with a
        stack of its own because paths may be longer than Python's.
        """
        assert graph.step_cost is not None
        known, stack = self._known_to_go, [(node, left)]
        entered: set[tuple[Node, int | None]] = set()
        while stack:
            v, steps = stack[-1]
            successors = self._successors(graph, v)
            further = None if steps is None else steps - 1
            if not successors or steps == 0:
                known[graph, v, steps] = inf if successors else 0.0
            elif missing := [(n, further) for n in successors if (graph, n, further) not in known]:
                entered.add((v, steps))
                if any(key in entered for key in missing):
                    raise ValueError(_cycle(v))
                stack += missing
                continue
            else:
                known[graph, v, steps] = min(
                    graph.step_cost(v, n) + known[graph, n, further] for n in successors
                )
            entered.discard((v, steps))
            stack.pop()
        return known[graph, node, left]

    def _complete_by_enumeration(self, number: int) -> None:
        """c* as the minimum over all terminals below, each path visited once."""
        stack, listed = [number], 0
        while stack:
            number = stack[-1]
            path = self.paths[number]
            if self.terminal[number]:
                self.completion[number] = self._terminal_cost(number)
                stack.pop()
                continue
            if self.children[number] < 0:
                self._expand(number)
                listed += int(self.children[number])
                self._check_enumerable(listed, path)
            first = int(self.first_child[number])
            below = self.completion[first : first + int(self.children[number])]
            missing = below.isnan().nonzero()[:, 0]
            if missing.numel():
                stack += (first + missing).tolist()
            else:
                self.completion[number] = float(below.min())
                stack.pop()

    def _terminal_cost(self, number: int) -> float:
        path = self.paths[number]
        nodes, cost = self.nodes_of(number), path.graph.cost
        value = path.cost if cost is None else float(cost(nodes))
        if not isfinite(value):
            raise ValueError(f"Costs must be finite, got {value} for the path {nodes!r}.")
        return value

    def _check_enumerable(self, listed: int, path: PathNode) -> None:
        if listed > self.enumerable:
            raise ValueError(
                f"With `cost` alone, completion costs are computed by listing all paths, at most "
                f"{self.enumerable:,}, but there are more below {path.graph.initial!r}; give "
                "`step_cost` instead, or write a space with its own oracle (docs/extending.md)."
            )


def _hashable(node: Node) -> bool:
    """Can this very node be a dictionary key? A tuple can, unless it holds a list."""
    try:
        hash(node)
    except TypeError:
        return False
    return True


def _cycle(node: Node) -> str:
    return (
        f"Paths must end, but the graph has a cycle through {node!r}; cut it with `max_depth` or "
        "`max_visits`."
    )
