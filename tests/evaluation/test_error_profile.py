import json

import pytest
import torch
from generate import finishes, numbered, stacked_scorer, trees, widths
from hypothesis import given, settings
from hypothesis import strategies as st
from taggers import TAGS, WORDS, small

import beamlearn as bl
from beamlearn.evaluation.calibration import Bin, calibration_bins, calibration_error
from beamlearn.evaluation.error_profile import ErrorProfile, merge_profiles
from beamlearn.learning.iterates import Mixture, learned_parameters
from beamlearn.tasks.decoding import evaluated
from beamlearn.tasks.tagging.report import report


def counted(flags):
    """How many lists have an i-th entry, and in how many it is True."""
    longest = max(map(len, flags), default=0)
    at = [[row[i] for row in flags if len(row) > i] for i in range(longest)]
    return [len(some) for some in at], [sum(some) for some in at]


@settings(max_examples=25)
@given(st.lists(trees(), min_size=1, max_size=5), widths, finishes, st.integers(1, 3))
def test_steps_and_increases_are_those_of_the_trajectories(forest, k, finish, size):
    task = bl.GraphTask(lambda number: numbered(number, forest[number]))
    scorer = stacked_scorer(forest)
    batches = [range(i, min(i + size, len(forest))) for i in range(0, len(forest), size)]
    found = bl.evaluate(batches, task, scorer, k, finish=finish)
    flags = []
    for number in range(len(forest)):
        space = task.space([number])
        flags += bl.beam_trajectory(space, scorer, k, finish=finish).increased
    assert (found.steps_at.tolist(), found.increases_at.tolist()) == counted(flags)
    assert found.increases_at.sum() == found.increases.sum()


def test_a_long_search_beside_a_short_one_keeps_its_own_count():
    """The short one chooses among finished hypotheses while the long one goes on."""
    short = {"": ["a", "b", "c"], "c": ["ca"]}
    spaces = [
        bl.GraphSpace("", neighbors, cost=lambda path: float(path[-1].count("b")))
        for neighbors in (
            lambda word: short.get(word, []),
            lambda word: [word + "a", word + "b"] if len(word) < 4 else [],
        )
    ]
    scorer = bl.FunctionScorer(lambda path: path[-1].count("b") - 9 * path[-1].count("c"))
    found = bl.evaluate([[0, 1]], bl.GraphTask(lambda n: spaces[n]), scorer, 2)
    alone = [bl.beam_trajectory(space, scorer, 2).increased[0] for space in spaces]
    assert list(map(len, alone)) == [2, 4]
    assert (found.steps_at.tolist(), found.increases_at.tolist()) == counted(alone)


def example_costs(tagger, k):
    """Sentence by sentence."""
    spaces = [tagger.space([tagger.encode(w, t)]) for w, t in zip(WORDS, TAGS, strict=True)]
    with torch.no_grad():
        return [float(bl.beam_trajectory(s, tagger.scorer, k).final_costs) for s in spaces]


@pytest.mark.parametrize("size", [1, 2, 64])
def test_evaluations_are_in_the_order_of_the_data(size):
    tagger = small()
    examples = [tagger.encode(w, t) for w, t in zip(WORDS, TAGS, strict=True)]
    found = evaluated(tagger, examples, 2, size)
    assert found.costs.tolist() == example_costs(tagger, 2)
    assert len(found.search_errors) == len(WORDS)


def test_of_a_mixture_each_example_has_its_own_iterate():
    tagger = small()
    zeros = {
        name: torch.zeros_like(value) for name, value in learned_parameters(tagger.scorer).items()
    }
    iterates = [learned_parameters(tagger.scorer), zeros]
    costs = [example_costs(tagger, 2)]
    examples = [tagger.encode(w, t) for w, t in zip(WORDS, TAGS, strict=True)]
    tagger.mixture = Mixture(tagger.scorer, [zeros])
    costs.append(evaluated(tagger, examples, 2).costs.tolist())
    tagger.mixture = Mixture(tagger.scorer, iterates)
    place = {n: i for i, part in enumerate(tagger.mixture.assign(len(WORDS))) for n in part}
    assert set(place.values()) == {0, 1}
    expected = [costs[place[n]][n] for n in range(len(WORDS))]
    assert evaluated(tagger, examples, 2).costs.tolist() == expected


def test_the_mean_does_not_depend_on_the_order(generator):
    costs = torch.rand(1000, generator=generator)
    found = bl.Evaluation(costs, costs, torch.zeros(1000, dtype=torch.long))
    for _ in range(20):
        order = torch.randperm(1000, generator=generator)
        moved = found.placed(order)
        assert (moved.cost, moved.regret) == (found.cost, found.regret)
        assert torch.equal(moved.costs[order], costs)


def test_the_profile_of_a_report():
    found = report(small(), WORDS, TAGS, 2)
    profile = found.profile
    assert profile.examples == len(WORDS)
    assert profile.steps_at[0] == sum(map(bool, WORDS))
    assert sum(profile.steps_at) == sum(map(len, WORDS)) == sum(b.size for b in profile.bins)
    wrong = int((found.evaluation.regrets > 0).sum())
    assert profile.right == len(WORDS) - wrong
    assert found.search_error_rate == pytest.approx(profile.search_errors / max(1, wrong))
    assert ErrorProfile.from_json(json.loads(json.dumps(profile.to_json()))) == profile
    assert not {"profile", "evaluation"} & found.to_json().keys()
    assert "profile" not in repr(found)


@pytest.mark.parametrize("name", ["width", "steps_at", "right", "bins"])
def test_a_profile_that_lacks_something(name):
    record = report(small(), WORDS, TAGS, 2).profile.to_json()
    del record[name]
    with pytest.raises(ValueError, match=f"An error profile must have '{name}', got none"):
        ErrorProfile.from_json(record)


def test_profiles_need_references():
    one = torch.ones(1)
    found = bl.Evaluation(one, one, one.long())
    with pytest.raises(ValueError, match="must hold search errors.*references=True"):
        ErrorProfile.of(1, found, one, one > 0)


def test_every_example_is_right_or_somebodys_error():
    regrets = torch.tensor([0.0, 1.0, 2.0, 1.0, 0.0, 3.0])
    lost = torch.tensor([False, True, False, True, False, False])
    found = bl.Evaluation(regrets, regrets, regrets.long(), lost)
    profile = ErrorProfile.of(4, found, torch.ones(1), torch.ones(1) > 0)
    assert (profile.right, profile.search_errors, profile.model_errors) == (2, 2, 2)


def test_several_profiles_are_one():
    one = ErrorProfile(2, (3, 2), (1, 1), 1, 1, 1, (Bin(0.25, 0.5, 2), Bin(0.0, 0.0, 0)))
    two = ErrorProfile(2, (1, 1, 1), (0, 1, 0), 0, 0, 1, (Bin(0.5, 1.0, 2), Bin(0.75, 1.0, 4)))
    bins = (Bin(0.375, 0.75, 4), Bin(0.75, 1.0, 4))
    assert merge_profiles([one, two]) == ErrorProfile(2, (4, 3, 1), (1, 2, 0), 1, 1, 2, bins)
    assert merge_profiles([one]) == one


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.booleans()), max_size=40))
def test_bins_and_the_calibration_error_agree(pairs):
    confidence = torch.tensor([sure for sure, _ in pairs], dtype=torch.float64)
    correct = torch.tensor([right for _, right in pairs], dtype=torch.bool)
    bins = calibration_bins(confidence, correct)
    assert sum(one.size for one in bins) == len(pairs)
    assert len(bins) == 10
    for place, one in enumerate(bins):
        inside = [r for s, r in pairs if min(9, int(s * 10)) == place]
        assert one.size == len(inside)
        assert one.correct == pytest.approx(sum(inside) / max(1, len(inside)))
    gaps = sum(abs(one.confidence - one.correct) * one.size for one in bins)
    error = calibration_error(confidence, correct)
    assert error == pytest.approx(gaps / max(1, len(pairs)), abs=1e-12)
