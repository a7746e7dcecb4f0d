"""Searches in constrained spaces find what filtered exhaustive searches find."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from spaces import HammingTask, TableScorer, TaggingSpace

import beamlearn as bl
from beamlearn.check import UsageError
from beamlearn.search.constrained_space import ConstrainedOracle
from beamlearn.search.steps_left import StepsLeft

TAGS = 3
PATTERNS = ["a*b", "(ab|c)*", "[ab]*c?", ".*c.*", "a{2}.*|b*"]
LENGTHS = [3, 1, 4, 0, 2]


class Counted(bl.SearchSpace):
    """The same as `TaggingSpace`, which knows how many words are left."""

    def __init__(self, gold, tags=TAGS):
        self.inner = TaggingSpace(gold, tags)

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __len__(self):
        return len(self.inner)

    def initial(self):
        return self.inner.initial()

    def expand(self, nodes):
        return self.inner.expand(nodes)

    def advance(self, nodes, move):
        return self.inner.advance(nodes, move)

    def outputs(self, examples, actions):
        return self.inner.outputs(examples, actions)

    def oracle(self):
        return self.inner.oracle()

    def steps_left(self, nodes):
        left = self.inner.lengths[nodes.examples] - nodes.step
        return StepsLeft(left, left)


def scorer(seed, normalize=None):
    generator = torch.Generator().manual_seed(seed)
    table = torch.randn(5, TAGS + 1, TAGS, generator=generator, dtype=torch.float64)
    return TableScorer(table, normalize=normalize)


def filtered(pattern, length, seed):
    """All outputs that match, and their scores, best first."""
    allowed = bl.Automaton.from_regex(pattern, "abc")
    found = bl.exhaustive_search(TaggingSpace([[0] * length], TAGS), scorer(seed)).nbest[0]
    return [(h.output, h.score) for h in found if allowed.accepts(h.output)]


def constrained(pattern, lengths):
    gold = [[number % TAGS for number in range(length)] for length in lengths]
    return bl.ConstrainedSpace(Counted(gold), bl.Automaton.from_regex(pattern, "abc"))


def possible(pattern):
    """Lengths for which there is an output."""
    return [n for n in LENGTHS if n == 0 or filtered(pattern, n, 0)]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_finds_what_filtering_finds(pattern, seed):
    lengths = possible(pattern)
    result = bl.exhaustive_search(constrained(pattern, lengths), scorer(seed))
    for length, nbest in zip(lengths, result.nbest, strict=True):
        if length:
            found = [(h.output, pytest.approx(h.score)) for h in nbest]
            assert filtered(pattern, length, seed) == found


@given(st.sampled_from(PATTERNS), st.integers(1, 4), st.integers(0, 99))
def test_every_output_matches_at_any_width(pattern, width, seed):
    """And there is no dead end, not even for a beam of one."""
    lengths = possible(pattern)
    allowed = bl.Automaton.from_regex(pattern, "abc")
    result = bl.beam_search(constrained(pattern, lengths), scorer(seed), width)
    for length, nbest in zip(lengths, result.nbest, strict=True):
        assert all(allowed.accepts(h.output) and len(h.output) == length for h in nbest if length)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_batch_law(pattern):
    lengths = possible(pattern)
    whole = bl.beam_search(constrained(pattern, lengths), scorer(1), 2)
    for place, length in enumerate(lengths):
        if length:  # the words of an example do not depend on the others
            alone = bl.beam_search(constrained(pattern, [length]), scorer(1), 2).nbest[0]
            assert [h.output for h in whole.nbest[place]] == [h.output for h in alone]


def test_samples_match():
    allowed = bl.Automaton.from_regex("a*b|c*", "abc")
    space = constrained("a*b|c*", [3, 2])
    sample = bl.stochastic_beam_search(space, scorer(0, "log_softmax"), 8, seeds=[1, 2])
    outputs = [[way.output for way in ways] for ways in sample.nbest]
    assert sorted(outputs[0]) == [[0, 0, 1], [2, 2, 2]]
    assert all(allowed.accepts(output) for row in outputs for output in row)
    assert sum(way.probability for way in sample.nbest[0]) == pytest.approx(1)


def test_learning_in_a_constrained_space():
    """The model learns the right output among those that are allowed."""

    class Task:
        def space(self, batch):
            return bl.ConstrainedSpace(Counted(batch), bl.Automaton.from_regex("a*b*", "abc"))

    learner, gold = scorer(0), [[0, 0, 1]]
    learner.table = torch.nn.Parameter(-learner.table)
    optimizer = torch.optim.Adam(learner.parameters(), lr=0.1)
    assert bl.beam_search(Task().space(gold), learner, 1).outputs != gold
    rounds = bl.learn([gold] * 40, Task(), learner, optimizer, loss="perceptron_first", width=2)
    assert len([*rounds]) == 40
    assert bl.beam_search(Task().space(gold), learner, 1).outputs == gold


def test_costs_are_those_inside_and_may_be_too_low():
    space = bl.ConstrainedSpace(Counted([[2, 2]]), bl.Automaton.from_regex("a*b*", "abc"))
    oracle = space.oracle()
    assert isinstance(oracle, ConstrainedOracle)
    assert not oracle.exact
    assert not oracle.unique
    assert oracle.initial().tolist() == [0]  # but every output that is left costs 2
    path = bl.beam_trajectory(space, scorer(0), width=2)
    assert path.final_costs.tolist() == [2]
    exact = bl.BruteForceOracle(
        space, lambda _, output: float(sum(a != b for a, b in zip(output, [2, 2], strict=True)))
    )
    assert exact.initial().tolist() == [2]


def test_roll_outs_keep_to_the_constraint():
    asked = []

    def cost(example, output):
        asked.append(output)
        return float(output.count(2))

    oracle = bl.RolloutOracle(cost)
    bl.beam_trajectory(constrained("a*b|c*", [3, 2]), scorer(0), width=2, oracle=oracle)
    allowed = bl.Automaton.from_regex("a*b|c*", "abc")
    assert asked
    assert all(map(allowed.accepts, asked))


class RollingSpace(Counted):
    """A space whose own oracle rolls out, guided by another one."""

    def oracle(self):
        inner = self.inner
        return bl.RolloutOracle(
            lambda example, output: float(output[-1] != 1), reference=lambda _: inner.oracle()
        )


def test_an_oracle_that_rolls_out_keeps_to_the_constraint_too():
    space = bl.ConstrainedSpace(RollingSpace([[0, 1, 2]]), bl.Automaton.from_regex("a*b", "abc"))
    path = bl.beam_trajectory(space, scorer(0), width=1)
    assert path.final_costs.tolist() == [0]
    assert isinstance(space.oracle().right_path(space), ConstrainedOracle)


def test_a_function_scorer_works_as_it_is():
    space = constrained("a*b|c*", [3])
    best = bl.FunctionScorer(lambda tags: -sum(tags))
    assert bl.beam_search(space, best, 2).outputs == [[0, 0, 1]]


def test_an_input_without_an_output():
    with pytest.raises(UsageError, match="example 1 has none of an allowed length; loosen the"):
        constrained("(ab)*|c", [2, 3]).initial()


def test_a_constraint_of_other_actions():
    space = bl.ConstrainedSpace(TaggingSpace([[0]], TAGS), bl.Automaton.from_regex("a", "abcd"))
    with pytest.raises(UsageError, match="which are 3, got one of 4; make it from the symbols"):
        space.initial()


def test_a_task_can_be_wrapped():
    inner = HammingTask(TAGS).space([[0, 1]])
    space = bl.ConstrainedSpace(inner, bl.Automaton.from_regex("ab|ba", "abc"))
    assert len(space) == 1
    assert space.input(0) == 0
    assert space.action_name(0, [1]) == "1"
    assert space.cost(0, [0, 1]) is None
    assert space.scored is inner
