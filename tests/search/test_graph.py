from itertools import pairwise

import networkx as nx
import pytest
import torch
from generate import trees
from hypothesis import given
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.search.path_tree import PathTrees

ANY = bl.FunctionScorer(lambda path: -len(path))


def everything(space):
    """All outputs of a space."""
    return {h.output for h in bl.exhaustive_search(space, ANY).nbest[0]}


def simple_paths(graph, path, ends, cap):
    """All paths that the caps allow, by plain recursion."""
    if not graph[path[-1]]:
        return {path} if ends(path) else set()
    found = set()
    for node in graph[path[-1]]:
        if cap((*path, node)):
            found |= simple_paths(graph, (*path, node), ends, cap)
    return found


@st.composite
def digraphs(draw):
    """Small graphs with cycles, dead ends after cutting, and at least one terminal node."""
    n = draw(st.integers(2, 5))
    pairs = [(a, b) for a in range(n - 1) for b in range(n) if a != b]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=10))
    return {a: [b for x, b in edges if x == a] for a in range(n)}


CAPS = [(1, None), (3, None), (5, None), (4, 1), (3, 2), (None, 1), (2, 1)]


@given(digraphs(), st.sampled_from(CAPS))
def test_caps_keep_exactly_the_paths_that_end(graph, caps):
    depth, visits = caps

    def cap(path):
        short = depth is None or len(path) - 1 <= depth
        return short and (visits is None or path.count(path[-1]) <= visits)

    expected = simple_paths(graph, (0,), lambda path: True, cap)
    if not expected:
        with pytest.raises(ValueError, match="must be reachable"):
            bl.GraphSpace(0, graph.__getitem__, max_depth=depth, max_visits=visits)
        return
    space = bl.GraphSpace(0, graph.__getitem__, max_depth=depth, max_visits=visits)
    assert everything(space) == expected


@given(digraphs(), st.integers(0, 99), st.sampled_from([(4, None), (None, 1), (4, 1)]))
def test_step_costs_are_completed_exactly(graph, seed, caps):
    depth, visits = caps
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randint(-2, 5, (5, 5), generator=generator).tolist()

    def total(path):
        return sum(weight[a][b] for a, b in pairwise(path))

    try:
        space = bl.GraphSpace(
            0,
            graph.__getitem__,
            max_depth=depth,
            max_visits=visits,
            step_cost=lambda a, b: weight[a][b],
        )
    except ValueError:
        return
    assert bl.check_oracle(space, cost=lambda _, path: total(path)).ok


@given(trees())
def test_completion_costs_are_those_of_the_book(tree):
    space = tree.space()
    oracle = space.oracle()
    assert oracle.initial().tolist() == [tree.cstar(())]
    check = bl.check_oracle(space, cost=lambda _, path: tree.costs[path[-1]])
    assert check.ok
    assert check.exhaustive
    assert check.nodes == len(tree.children) - 1


def test_networkx():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "a", 1), ("b", "c", 5), ("a", "c", 9)])
    space = bl.GraphSpace.from_networkx(graph, "a", weight="weight", max_depth=3)
    assert everything(space) == {("a", "c"), ("a", "b", "c"), ("a", "b", "a", "c")}
    assert space.oracle().initial().tolist() == [6.0]
    with pytest.raises(ValueError, match="must be a node of the graph, got 'z'"):
        bl.GraphSpace.from_networkx(graph, "z")


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")  # for their time
def test_deep_paths_do_not_exhaust_the_stack():
    space = bl.GraphSpace(0, lambda n: [n + 1] if n < 1500 else [], step_cost=lambda a, b: 1.0)
    assert space.oracle().initial().tolist() == [1500.0]
    assert len(bl.beam_search(space, ANY, width=1).outputs[0]) == 1501


def test_user_functions_run_once_per_node():
    calls = []

    def neighbors(node):
        calls.append(node)
        return [node + 1, node + 2] if node < 6 else []

    space = bl.GraphSpace(0, neighbors, cost=lambda path: len(path))
    for _ in range(3):
        bl.beam_trajectory(space, ANY, width=2)
    assert len(calls) == len(set(calls))


def test_a_task_builds_each_example_once():
    built = []

    def build(goal):
        built.append(goal)
        return bl.GraphSpace(0, lambda n: [n + 1, n + 2] if n < 4 else [], lambda p: len(p))

    task = bl.GraphTask(build)
    examples = [["unhashable"], ["also"]]
    for _ in range(2):
        assert len(task.space(examples)) == 2
    assert built == examples


def test_unhashable_nodes_are_fine_without_caps():
    space = bl.GraphSpace([], lambda node: [[*node, 0], [*node, 1]] if len(node) < 2 else [])
    assert bl.beam_search(space, ANY, width=2).outputs == [([], [0], [0, 0])]
    tuples = bl.GraphSpace((0, []), lambda node: [(1, [])] if node[0] == 0 else [])
    assert bl.beam_search(tuples, ANY).outputs == [((0, []), (1, []))]
    with pytest.raises(TypeError, match="need nodes that can be dictionary keys"):
        bl.GraphSpace([], lambda node: [[*node, 0]], max_depth=2)


def test_cycles_without_caps_are_refused():
    space = bl.GraphSpace("a", lambda node: ["b"] if node == "a" else ["a"])
    with pytest.raises(ValueError, match="cycle through 'a'; cut it with `max_depth`"):
        bl.beam_search(space, ANY)


def test_cycles_with_step_costs_are_refused():
    graph = {"a": ["b"], "b": ["a", "t"], "t": []}
    space = bl.GraphSpace("a", graph.__getitem__, step_cost=lambda u, v: 1.0)
    with pytest.raises(ValueError, match="cycle through"):
        space.oracle().initial()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_costs_must_be_finite(value):
    space = bl.GraphSpace(0, lambda n: [n + 1] if n < 2 else [], cost=lambda path: value)
    with pytest.raises(ValueError, match=r"must be finite, got (nan|inf) for the path \(0, 1, 2"):
        space.oracle().initial()


def test_a_forest_may_hold_more_than_any_one_enumeration(monkeypatch):
    monkeypatch.setattr(PathTrees, "enumerable", 50)
    more = lambda w: [w + "a", w + "b"] if len(w) < 4 else []  # noqa: E731
    task = bl.GraphTask(lambda _: bl.GraphSpace("", more, cost=len))
    assert task.space(list("0123456789")).oracle().initial().tolist() == [5.0] * 10


def test_too_many_paths_to_list(monkeypatch):
    monkeypatch.setattr(PathTrees, "enumerable", 50)
    space = bl.GraphSpace("", lambda w: [w + "a", w + "b"] if len(w) < 9 else [], cost=len)
    with pytest.raises(ValueError, match=r"there are more below ''; give `step_cost`"):
        space.oracle().initial()


@pytest.mark.parametrize("name", ["max_depth", "max_visits"])
def test_caps_start_at_one(name):
    with pytest.raises(ValueError, match=f"`{name}` must be at least 1 or None, got 0"):
        bl.GraphSpace(0, lambda n: [], **{name: 0})


def test_one_kind_of_cost():
    with pytest.raises(ValueError, match="got both"):
        bl.GraphSpace(0, lambda n: [], cost=len, step_cost=lambda a, b: 1.0)


def test_a_space_without_costs_cannot_be_trained_on():
    space = bl.GraphSpace(0, lambda n: [1] if n == 0 else [])
    with pytest.raises(ValueError, match="this GraphSpace has none; build it with"):
        bl.beam_trajectory(space, ANY)
