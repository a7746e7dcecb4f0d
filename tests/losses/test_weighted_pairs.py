"""The sums that visit no pair, against the sums that visit every pair."""

import pytest
import torch

from beamlearn import losses
from beamlearn.losses import LOSSES, weighted_pairs

SETS = {
    "weighted_pairs_all": lambda i, j, k: i < j,
    "weighted_pairs_bipartite": lambda i, j, k: (i < k) & (j >= k),
    "weighted_pairs_hybrid": lambda i, j, k: (i < k) & (i < j),
}


def double_sum(name, scores, costs, width, mask):
    """Eqs. (18)-(20) over all pairs of one row, neighbors in order of cost."""
    scores, costs = scores[mask], costs[mask]
    star = costs.argsort(stable=True)
    s, c = scores[star], costs[star]
    i, j = torch.arange(len(s))[:, None], torch.arange(len(s))[None, :]
    hinge = (s[None, :] - s[:, None] + 1).relu()
    return ((c[None, :] - c[:, None]) * hinge)[SETS[name](i, j, width)].sum()


def case(n, kind, generator):
    """Three rows, the last without padding; scores and costs with or without ties."""
    if kind == "ties":
        scores = torch.randint(-3, 4, (3, n), generator=generator).double() / 2
        costs = torch.randint(0, 4, (3, n), generator=generator).double()
    else:
        scores = 2 * torch.randn(3, n, generator=generator, dtype=torch.float64)
        costs = torch.rand(3, n, generator=generator, dtype=torch.float64)
    mask = torch.rand(3, n, generator=generator) < torch.tensor([[0.5], [0.9], [1.1]])
    return scores.requires_grad_(), costs, torch.tensor([1, 5, n // 2 + 1]), mask


@pytest.fixture(params=[None, 2, 4], ids=["blocks of 32", "blocks of 2", "blocks of 4"])
def blocks(request, monkeypatch):
    """Small blocks send even small cases through every level of halving."""
    if request.param is not None:
        monkeypatch.setattr(weighted_pairs, "BLOCK", request.param)
        monkeypatch.setattr(weighted_pairs, "ONE_BLOCK", 1)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("n", [2, 3, 17, 128, 129, 500])
@pytest.mark.parametrize("kind", ["ties", "distinct"])
@pytest.mark.usefixtures("blocks")
def test_value_and_gradient_are_those_of_the_double_sum(name, n, kind, generator):
    scores, costs, width, mask = case(n, kind, generator)
    junk = scores.masked_fill(~mask, 1e30)
    fast = LOSSES[name](junk, costs.masked_fill(~mask, -1e30), width, mask)
    slow = torch.stack(
        [double_sum(name, *row) for row in zip(scores, costs, width.tolist(), mask, strict=True)]
    )
    torch.testing.assert_close(fast, slow, rtol=1e-9, atol=1e-9)
    one, two = (torch.autograd.grad(value.sum(), scores)[0] for value in (fast, slow))
    torch.testing.assert_close(one, two, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_single_precision_is_summed_in_double(name, generator):
    scores, costs, width, mask = case(700, "distinct", generator)
    low = LOSSES[name](scores.detach().float(), costs.float(), width, mask)
    high = LOSSES[name](scores.detach(), costs, width, mask)
    assert low.dtype == torch.float32
    torch.testing.assert_close(low.double(), high, rtol=1e-5, atol=1e-5)


def test_kinks_have_no_gradient():
    """A pair exactly at its margin is inactive, from whichever side it is looked at."""
    scores = torch.tensor([[1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    loss = losses.weighted_pairs_all(scores, torch.tensor([[0.0, 5.0]], dtype=torch.float64), 1)
    loss.backward()
    assert loss.item() == 0
    assert scores.grad.tolist() == [[0.0, 0.0]]
