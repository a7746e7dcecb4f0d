import json
from math import log, nan, sqrt

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.theory.iterate_selection import select_iterate

runs = st.lists(
    st.lists(st.integers(0, 64).map(lambda x: x / 16), max_size=20), min_size=1, max_size=6
).filter(any)


@given(runs, st.sampled_from([0.5, 0.1, 0.01]))
def test_the_least_estimate_is_chosen(later, delta):
    found = select_iterate(later, upper=4.0, delta=delta)
    eligible = sum(map(bool, later))
    estimates = [
        sum(losses) / len(losses) + 4 * sqrt(log(eligible / delta) / (2 * len(losses)))
        if losses
        else None
        for losses in later
    ]
    assert found.estimates == tuple(
        estimate if estimate is None else pytest.approx(estimate) for estimate in estimates
    )
    assert found.bound == min(e for e in found.estimates if e is not None)
    assert found.estimates.index(found.bound) == found.index
    assert found.empirical_loss == pytest.approx(sum(later[found.index]) / len(later[found.index]))


def test_fewer_later_examples_are_trusted_less():
    assert select_iterate([[0.5] * 400, [0.4] * 4], upper=1.0).index == 0
    assert select_iterate([[0.5] * 400, [0.4] * 300], upper=1.0).index == 1


def test_iterates_without_later_examples_are_left_out():
    found = select_iterate([[], [0.5] * 10, []], upper=1.0, delta=0.1)
    assert found.index == 1
    assert found.estimates[::2] == (None, None)
    assert found.deviation == pytest.approx(sqrt(log(10) / 20))


def test_tensors_are_lists():
    later = [[0.5, 1.0], [0.0, 0.25, 0.5]]
    tensors = [torch.tensor(losses) for losses in later]
    assert select_iterate(tensors, upper=1.0) == select_iterate(later, upper=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.5, 0.1, 0.01])
def test_the_bound_holds_as_often_as_it_says(delta, generator):
    """Iterates that drift with what they saw are judged on what comes after them."""
    seeds, iterates, block = 1000, 8, 10
    draws = torch.rand(seeds, iterates * block, generator=generator, dtype=torch.float64)
    expected = torch.full((seeds, iterates), 0.5, dtype=torch.float64)
    for t in range(1, iterates):
        seen = draws[:, (t - 1) * block : t * block].mean(dim=-1)
        expected[:, t] = 0.2 + 0.6 * (0.5 * (expected[:, t - 1] - 0.2) / 0.6 + 0.5 * seen)
    failed = unpenalized = 0
    for row, risks in zip(draws, expected.tolist(), strict=True):
        later = [(row[t * block :] < risk).double() for t, risk in enumerate(risks)]
        found = select_iterate(later, upper=1.0, delta=delta)
        failed += found.bound < risks[found.index]
        means = [float(losses.mean()) for losses in later]
        lowest = means.index(min(means))
        unpenalized += means[lowest] < risks[lowest]
    assert failed / seeds <= delta + 4 * sqrt(delta * (1 - delta) / seeds)
    assert unpenalized / seeds > 0.5


def test_a_selection_in_words():
    found = select_iterate([[1.0] * 100, [0.5] * 100, []], upper=1.0)
    assert str(found) == (
        "With probability at least 0.95, the expected loss of iterate 2, chosen among 2, is at "
        "most 0.6359.\n"
        "       0.5  mean loss on later examples\n"
        "    0.1358  deviation of a sample of this size, and the choice"
    )
    assert str(select_iterate([[1.0]], upper=1.0)).endswith("Vacuous: no loss is above 1 anyway.")
    shown = json.loads(json.dumps(found.to_json()))
    assert (shown["index"], shown["bound"], shown["vacuous"]) == (1, found.bound, False)
    assert shown["estimates"][2] is None


@pytest.mark.parametrize(
    ("later", "options", "message"),
    [
        ([], {}, "at least one iterate, got none"),
        ([[], []], {}, "at least one iterate, got none"),
        ([[0.5], [0.5, 2.0]], {}, "got 2 for iterate 2, example 2; raise `upper`."),
        ([[0.5], [-0.5]], {}, "at least 0, got -0.5 for iterate 2, example 1"),
        ([[nan]], {}, "must be finite"),
        ([[0.5]], {"delta": 0.0}, "`delta` must be above 0"),
        ([[0.5]], {"upper": -1.0}, "`upper` must be a finite number of at least 0"),
    ],
)
def test_refusals(later, options, message):
    with pytest.raises(ValueError, match=message):
        select_iterate(later, **({"upper": 1.0} | options))


def test_with_clip_losses_above_the_bound_count_as_it():
    found = select_iterate([[3.0, 0.0] * 50, [0.5] * 100], upper=1.0, clip=True)
    assert found.index == 0 or found.empirical_loss == 0.5
    assert select_iterate([[3.0, 0.0] * 50], upper=1.0, clip=True).empirical_loss == 0.5
    assert "min(loss, 1)" in str(found)
    with pytest.raises(ValueError, match="iterate 1, example 1"):
        select_iterate([[3.0, 0.0] * 50], upper=1.0)
