from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.evaluation.significance import FLIPS, holm, sign_flip_test


def by_the_book(differences):
    """The share of all sign vectors whose sum is as far from 0."""
    came = abs(sum(differences))
    signs = list(product((-1, 1), repeat=len(differences)))
    sums = [sum(e * d for e, d in zip(vector, differences, strict=True)) for vector in signs]
    return sum(abs(found) >= came - 1e-9 for found in sums) / len(signs)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 1, 1], 2 / 8),
        ([1, 2, 3], 2 / 8),
        ([3, -1], 1),
        ([3, 1, -1], 6 / 8),
        ([5], 1),
        ([0, 0], 1),
        ([], 1),
        ([1] * 6 + [0] * 500, 2 / 64),
    ],
)
def test_few_differences_are_exact(differences, p):
    assert sign_flip_test(torch.tensor([differences], dtype=torch.float64)).tolist() == [p]


@given(st.lists(st.integers(-4, 4), max_size=8))
def test_exact_by_the_book(differences):
    found = sign_flip_test(torch.tensor([differences], dtype=torch.float32))
    assert found.tolist() == [by_the_book(differences)]


@pytest.mark.parametrize("whole", [[1, 2, -3, 6], [1, 2, -3, 1], [7, -1, -2, 4, 3]])
def test_fractions_that_are_rounded_still_tie(whole):
    for parts in (3, 10):
        fractions = torch.tensor([whole], dtype=torch.float64) / parts
        assert float(sign_flip_test(fractions)) == by_the_book(whole)


def test_few_differences_as_scipy_has_it(generator):
    stats = pytest.importorskip("scipy.stats")
    d = torch.randn(3, 7, dtype=torch.float64, generator=generator) + 0.5
    found = stats.permutation_test(
        (d.numpy(),),
        lambda signed, axis: abs(signed.sum(axis=axis)),
        permutation_type="samples",
        alternative="greater",
        vectorized=True,
        axis=-1,
    )
    assert sign_flip_test(d).tolist() == pytest.approx(found.pvalue.tolist())


def test_sampling_comes_near_to_the_exact_p(generator):
    d = torch.randn(6, 10, dtype=torch.float64, generator=generator) + 0.3
    exact = sign_flip_test(d, flips=2**10)
    sampled = sign_flip_test(d, flips=2**10 - 1, seed=1)
    assert not torch.equal(exact, sampled)
    assert torch.allclose(exact, sampled, atol=0.06)


def test_p_is_never_0_and_at_most_1():
    d = torch.stack([torch.ones(40), torch.ones(40) * (-1) ** torch.arange(40)])
    assert sign_flip_test(d).tolist() == [pytest.approx(1 / (FLIPS + 1)), 1.0]


def test_it_is_symmetric_and_knows_no_scale(generator):
    d = torch.randn(3, 50, dtype=torch.float64, generator=generator)
    p = sign_flip_test(d)
    assert torch.equal(sign_flip_test(-d), p)
    assert torch.equal(sign_flip_test(4 * d), p)


def test_tests_and_batches_of_them_are_the_same(generator):
    d = torch.randn(4, 600, generator=generator)
    d[1, 5:] = 0
    together = sign_flip_test(d)
    assert torch.equal(together, torch.cat([sign_flip_test(row[None]) for row in d]))


def test_seeds_make_it_repeatable(generator):
    d = torch.randn(1, 50, generator=generator)
    assert torch.equal(sign_flip_test(d, seed=3), sign_flip_test(d, seed=3))
    assert not torch.equal(sign_flip_test(d, seed=3), sign_flip_test(d, seed=4))


def test_a_true_null_hypothesis_is_rejected_as_often_as_said(generator):
    """About as often; with whole numbers, which tie, less often."""
    size = (2000, 40)
    smooth = torch.randn(size, generator=generator).double() ** 3
    whole = torch.randint(-2, 3, size, generator=generator).double()
    for level in (0.05, 0.2):
        wide = 3.5 * (level * (1 - level) / len(smooth)) ** 0.5
        assert rejected(smooth, level) == pytest.approx(level, abs=wide)
        assert level / 2 < rejected(whole, level) < level + wide


def rejected(d, level):
    return float((sign_flip_test(d, flips=999) <= level).double().mean())


def test_a_shift_is_found(generator):
    shifted = torch.randn(200, 100, generator=generator).double() + 0.4
    assert rejected(shifted, 0.05) > 0.9


def test_wrong_arguments():
    with pytest.raises(ValueError, match="`flips` must be at least 1, got 0"):
        sign_flip_test(torch.zeros(1, 2), flips=0)
    with pytest.raises(ValueError, match="`differences` must be finite"):
        sign_flip_test(torch.tensor([[1.0, torch.nan]]))


def test_holm():
    assert holm([]) == []
    assert holm([0.2]) == [0.2]
    assert holm([0.01, 0.01, 0.9]) == pytest.approx([0.03, 0.03, 0.9])
    assert holm([0.9, 0.5]) == [1.0, 1.0]
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_by_the_book(p_values):
    """Reject, from the smallest on, while p <= alpha / (hypotheses left); then stop."""
    adjusted = holm(p_values)
    for alpha in (0.01, 0.05, 0.3):
        left, rejected = sorted(p_values), 0
        while left and left[0] * len(left) <= alpha:
            rejected, left = rejected + 1, left[1:]
        assert sum(p <= alpha for p in adjusted) == rejected
