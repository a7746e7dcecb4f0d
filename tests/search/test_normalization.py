import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from taggers import TableTagger, corpora

import beamlearn as bl
from beamlearn.search.normalization import normalizer

INF = torch.inf


def test_normalizer_is_the_log_of_the_sum_over_legal_actions(generator):
    local = 3 * torch.randn(4, 3, 7, generator=generator, dtype=torch.float64)
    legal = torch.rand(4, 3, 7, generator=generator) < 0.6
    legal[..., 2] = True
    local.requires_grad_()
    expected = local.masked_fill(~legal, -INF).logsumexp(dim=-1)
    torch.testing.assert_close(normalizer(local, legal, None), expected)
    assert torch.autograd.gradcheck(lambda x: normalizer(x, legal, None), local)
    assert torch.autograd.gradgradcheck(lambda x: normalizer(x, legal, None), local)


def test_slots_without_legal_actions_get_no_gradient():
    rows = [[1.0, 2.0, 0.5], [-INF, -INF, -INF], [-INF, 2.0, 1.0], [torch.nan, INF, 0.0]]
    local = torch.tensor([rows], requires_grad=True)
    legal = torch.tensor([[[True, True, False], [True, True, True], [True] * 3, [False] * 3]])
    idle = torch.tensor([[False, False, False, True]])
    for choice in (idle, None):
        found = normalizer(local, legal, choice)
        assert found.isfinite().all()
        (gradient,) = torch.autograd.grad(found.sum(), local)
        expected = local.detach()[0, [0, 2]].masked_fill(~legal[0, [0, 2]], -INF).softmax(dim=-1)
        torch.testing.assert_close(gradient[0, [0, 2]], expected)
        assert (gradient[0, [1, 3]] == 0).all()


def test_large_and_many_numbers(generator):
    local = torch.randn(2, 3, 100_000, generator=generator) * 50 + 1e4
    torch.testing.assert_close(normalizer(local, None, None), local.logsumexp(dim=-1))


@pytest.mark.parametrize("finish", ["pad", "first"])
@given(corpus=corpora(), k=st.integers(1, 5), seed=st.integers(0, 2**31))
def test_scores_are_the_same_with_and_without_gradients(finish, corpus, k, seed):
    scorer = TableTagger(corpus.tags, seed, "log_softmax")
    space = corpus.space()
    with_gradients, without = (
        bl.beam_search(space, scorer, k, finish=finish, gradients=on) for on in (True, False)
    )
    assert torch.equal(with_gradients.nbest_scores, without.nbest_scores)
    assert with_gradients.outputs == without.outputs
    path = bl.beam_trajectory(space, scorer, k, finish=finish)
    with torch.no_grad():
        again = bl.beam_trajectory(space, scorer, k, finish=finish)
    assert torch.equal(path.final_scores, again.final_scores)
    for one, two in zip(path.transitions, again.transitions, strict=True):
        assert torch.equal(one.neighbors.scores, two.neighbors.scores)
