"""Generated cases: beams full of ties and junk, and small search spaces of every shape."""

from dataclasses import dataclass
from functools import cached_property
from random import Random

import by_the_book
import torch
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.strategies import Continue, Oracle, Reset, Stop

STRATEGIES = {
    "oracle": Oracle(),
    "stop": Stop(),
    "continue": Continue(),
    ("reset", "best"): Reset(),
    ("reset", "oracle_beam"): Reset(to="oracle_beam"),
    ("reset", "keep"): Reset(to="keep"),
}
"""Every deterministic strategy, by the name that `by_the_book` has for it."""

sizes, row_widths = st.integers(1, 8), st.integers(1, 10)
seeds = st.integers(0, 2**32 - 1)
JUNK = (float("nan"), float("inf"), float("-inf"), 1e30, -7.0)


@dataclass(frozen=True)
class Row:
    """One beam's neighbors as lists, and the same with junk in between as padding."""

    s: list[float]
    c: list[float]
    k: int
    padding: list[bool]
    junk: list[float]

    def padded(self, values):
        values, junk = iter(values), iter(self.junk)
        return [next(junk) if pad else next(values) for pad in self.padding]


@st.composite
def rows(draw, length=None, distinct=False):
    """Sizes are drawn one by one; what fills them comes from a seed, since each draw takes long."""
    n, k, seed = draw(sizes), draw(row_widths), draw(seeds)
    random = Random(seed)
    numbers = [x / 1009 for x in random.sample(range(-3000, 3001), n)]
    spread, most = random.randint(0, 4), random.randint(0, 3)  # 0: all of them tie
    s = numbers if distinct else [random.randint(-spread, spread) / 2 for _ in range(n)]
    c = [float(random.randint(0, most)) for _ in range(n)]
    length = n + random.randint(0, 3) if length is None else max(length, n)
    places = random.sample(range(length), length - n)
    padding = [place in places for place in range(length)]
    return Row(s, c, k, padding, random.choices(JUNK, k=length - n))


@st.composite
def beams(draw, distinct=False):
    """A batch of rows of one length."""
    return draw(st.lists(rows(length=10, distinct=distinct), min_size=1, max_size=4))


def tensors(batch, requires_grad=False):
    """Scores, costs, widths and mask of a batch of rows."""
    scores = torch.tensor([row.padded(row.s) for row in batch], dtype=torch.float64)
    costs = torch.tensor([row.padded(row.c) for row in batch], dtype=torch.float64)
    width = torch.tensor([row.k for row in batch])
    mask = ~torch.tensor([row.padding for row in batch])
    return scores.requires_grad_(requires_grad), costs, width, mask


@dataclass(frozen=True)
class Tree:
    """A search space spelled out: the children, score and terminal cost of every path."""

    children: dict
    scores: dict
    costs: dict

    def neighbors(self, path):
        return self.children[path]

    def score(self, path):
        return self.scores[path]

    @cached_property
    def completion(self):
        return {
            path: by_the_book.completion_cost(self.neighbors, self.costs.__getitem__, path)
            for path in self.children
        }

    def cstar(self, path):
        return self.completion[path]

    def space(self):
        """The same as a GraphSpace, whose nodes are the paths of this tree."""
        return bl.GraphSpace((), self.neighbors, cost=lambda path: self.costs[path[-1]])


@st.composite
def trees(draw, depth=4, equal_depth=False, root_terminal=True, scores=None):
    """Trees with up to three children per node, many ties, and leaves at any depth."""
    random = draw(st.randoms(use_true_random=False))
    children, path_scores, costs = {}, {}, {}
    height = random.randint(1, depth)

    def grow(path):
        inner = len(path) < height and (equal_depth or random.random() < 0.75)
        if not path and not root_terminal:
            inner = True
        count = random.randint(1, 3) if inner else 0
        children[path] = [(*path, action) for action in range(count)]
        path_scores[path] = random.randint(-2, 2) if scores is None else scores(random)
        costs[path] = float(random.randint(0, 3))
        for child in children[path]:
            grow(child)

    grow(())
    return Tree(children, path_scores, costs)


def scorer_of(tree):
    """Score the nodes of a tree by its table."""
    return bl.FunctionScorer(lambda path: tree.scores[path[-1]])


def stacked_scorer(forest):
    """Score the nodes of `stacked` trees by their tables."""
    return bl.FunctionScorer(lambda path: forest[path[0][0]].scores[path[-1][1]])


def stacked(forest):
    """Several trees as one batch; a node is (number of its tree, path)."""
    spaces = [
        bl.GraphSpace(
            (number, ()),
            lambda node, tree=tree: [(node[0], child) for child in tree.neighbors(node[1])],
            cost=lambda path, tree=tree: tree.costs[path[-1][1]],
        )
        for number, tree in enumerate(forest)
    ]
    return bl.GraphSpace.stack(spaces)


finishes = st.sampled_from(["pad", "first"])
widths = st.integers(1, 4)


def numbered(number, tree):
    """A tree as `stacked_scorer` knows it."""
    return bl.GraphSpace(
        (number, ()),
        lambda node: [(number, child) for child in tree.neighbors(node[1])],
        cost=lambda path: tree.costs[path[-1][1]],
    )
