"""GraphSpace: any finite directed graph of Python objects as a search space."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .neighbors import Move
from .oracle import Oracle
from .path_tree import Graph, Node, PathTrees
from .space import Expansion, NumberedSpace

Numbers = Int[Tensor, "batch k"]


@final
class GraphSpace(NumberedSpace):
    """A search space in plain Python objects.

    The graph is searched as the tree of its paths (Appendix A), so scores and costs may depend
    on the whole path. A node without neighbors is terminal. Paths of different lengths are
    padded by the engine (`finish="pad"`).

    `cost(path)` is the cost of a terminal path, a tuple of nodes; completion costs are then
    found by listing the paths. Where the cost of a path is the sum of its steps, `step_cost(node,
    neighbor)` lets dynamic programming find them. `max_depth` (steps in a path) and `max_visits`
    (of any one node) cut the cycles of a graph; paths that could then no longer end at a terminal
    node are not offered.

    >>> import beamlearn as bl
    >>> space = bl.GraphSpace(1, lambda n: [2 * n, 3 * n] if n < 10 else [], cost=lambda p: p[-1])
    >>> bl.beam_search(space, bl.FunctionScorer(lambda path: -path[-1]), width=2).outputs
    [(1, 2, 4, 12)]
    """

    def __init__(
        self,
        initial: Node,
        neighbors: Callable[[Node], Iterable[Node]],
        cost: Callable[[tuple[Node, ...]], float] | None = None,
        max_depth: int | None = None,
        max_visits: int | None = None,
        *,
        step_cost: Callable[[Node, Node], float] | None = None,
    ) -> None:
        graph = Graph(initial, neighbors, cost, max_depth, max_visits, step_cost)
        self._settle([graph], PathTrees())

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        initial: Node,
        *,
        cost: Callable[[tuple[Node, ...]], float] | None = None,
        weight: str | None = None,
        max_depth: int | None = None,
        max_visits: int | None = None,
    ) -> "GraphSpace":
        """Search a networkx `DiGraph`; with `weight`, that edge attribute is the step cost."""
        if initial not in graph:
            raise ValueError(f"`initial` must be a node of the graph, got {initial!r}.")
        step_cost = None if weight is None else (lambda u, v: float(graph.edges[u, v][weight]))
        return cls(initial, graph.successors, cost, max_depth, max_visits, step_cost=step_cost)

    @classmethod
    def stack(cls, spaces: Sequence["GraphSpace"], trees: PathTrees | None = None) -> "GraphSpace":
        """Search several spaces as one batch."""
        stacked = cls.__new__(cls)
        graphs = [graph for space in spaces for graph in space.graphs]
        stacked._settle(graphs, PathTrees() if trees is None else trees)
        return stacked

    def _settle(self, graphs: Sequence[Graph], trees: PathTrees) -> None:
        self.graphs, self.trees = graphs, trees
        self.roots = torch.tensor([trees.root(graph) for graph in graphs], dtype=torch.long)

    @property
    def numbering(self) -> PathTrees:
        return self.trees

    def __len__(self) -> int:
        return len(self.graphs)

    def initial(self) -> Numbers:
        return self.roots[:, None]

    def children(self, nodes: Numbers) -> Int[Tensor, "batch k a"]:
        self.trees.expand(nodes)
        count = self.trees.children[nodes]
        action = torch.arange(max(1, int(count.max()) if count.numel() else 1))
        numbers = self.trees.first_child[nodes][..., None] + action
        return numbers.masked_fill(action >= count[..., None], -1)

    def expand(self, nodes: Numbers) -> Expansion:
        children = self.children(nodes)
        legal = children >= 0
        return Expansion(children.shape[-1], self.trees.terminal[children] & legal, legal)

    def advance(self, nodes: Numbers, move: Move) -> Int[Tensor, "after k_after"]:
        children = move.follow(self.children(nodes))
        reached = children.gather(-1, move.actions[..., None])[..., 0]
        return torch.where(move.stays, move.follow(nodes), reached)

    def outputs(self, examples: Sequence[int], actions: Sequence[Sequence[int]]) -> list[Any]:
        return [
            self.output_of(self._number(example, path))
            for example, path in zip(examples, actions, strict=True)
        ]

    def action_name(self, example: int, actions: Sequence[int]) -> str:
        """The node that it leads to."""
        return str(self.output_of(self._number(example, actions))[-1])

    def output_of(self, number: int) -> tuple[Node, ...]:
        return self.trees.nodes_of(number)

    def _number(self, example: int, actions: Sequence[int]) -> int:
        number = int(self.roots[example])
        for action in actions:
            number = self.trees.child(number, action)
        return number

    def input(self, example: int) -> Node:
        """The initial node."""
        return self.graphs[example].initial

    def cost(self, example: int, output: tuple[Node, ...]) -> float | None:
        return self.graphs[example].cost_of(output)

    def oracle(self) -> Oracle:
        if any(graph.cost is None and graph.step_cost is None for graph in self.graphs):
            return super().oracle()
        return GraphOracle(self)


@final
class GraphOracle(Oracle):
    """The exact completion costs of a `GraphSpace`, found once per path."""

    tolerance = 1e-9

    def __init__(self, space: GraphSpace) -> None:
        self.space = space

    def initial(self) -> Float[Tensor, " batch"]:
        return self._costs(self.space.roots)

    def start(self) -> None:
        return None

    def costs(self, memory: None, nodes: Numbers) -> Float[Tensor, "batch k a"]:
        return self._costs(self.space.children(nodes))

    def advance(self, memory: None, nodes: Numbers, move: Move) -> None:
        return None

    def _costs(self, numbers: Tensor) -> Tensor:
        trees = self.space.trees
        trees.complete(numbers[numbers >= 0])
        return trees.completion[numbers].masked_fill(numbers < 0, 0.0)


@final
class GraphTask:
    """The task of searching Python graphs: a batch is a list of examples.

    `build(example)` makes the `GraphSpace` of one example, with its costs. It is called once
    for each example object, and what is computed for its graph is kept for later epochs, so
    pass the same objects again, not copies.
    """

    def __init__(self, build: Callable[[Any], GraphSpace]) -> None:
        self.build = build
        self.trees = PathTrees()
        self._built: dict[int, tuple[Any, GraphSpace]] = {}

    def space(self, batch: Sequence[Any]) -> GraphSpace:
        return GraphSpace.stack([self._space(example) for example in batch], self.trees)

    def _space(self, example: Any) -> GraphSpace:
        # Kept by identity, since examples need not be hashable; keeping the example keeps its
        # identity from being given to another.
        if id(example) not in self._built:
            self._built[id(example)] = (example, self.build(example))
        return self._built[id(example)][1]
