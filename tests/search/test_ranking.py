import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.search import ranking


def summed(local, offset, only_child):
    """The sum that `top_children` never forms."""
    sums = local + offset[..., None]
    alone = torch.full_like(sums, -torch.inf)
    alone[..., 0] = offset
    return sums if only_child is None else torch.where(only_child[..., None], alone, sums)


def by_stable_sort(values, k):
    best = values.sort(dim=-1, descending=True, stable=True)
    there = best.values[:, :k] > -torch.inf
    return there, best.indices[:, :k].masked_fill(~there, -1)


@pytest.fixture(params=[None, 2, 4, 32], ids=["whole", "in 2s", "in 4s", "in 32s"])
def chunks(request, monkeypatch):
    """Force chunks of every size onto small cases."""
    if request.param is not None:
        monkeypatch.setattr(ranking, "_chunk", lambda *_: request.param)
        monkeypatch.setattr(ranking, "WORTH_CHUNKING", -(10**9))


@given(st.integers(0, 2**31), st.sampled_from([3, 1000]), st.integers(1, 9), st.integers(1, 90))
def check_top_children(seed, levels, k, actions):
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randint(0, levels, shape, generator=generator).float()

    local, offset, only_child = draw(3, 4, actions), draw(3, 4), None
    local[torch.rand(local.shape, generator=generator) < 0.5 * (seed % 3 == 0)] = -torch.inf
    if seed % 2:
        only_child = torch.rand(3, 4, generator=generator) < 0.5
        gone = only_child & (torch.rand(3, 4, generator=generator) < 0.5)
        offset = offset.masked_fill(gone, -torch.inf)
        local = local.masked_fill(only_child[..., None], torch.nan)
    there, expected = by_stable_sort(summed(local, offset, only_child).flatten(1), k)
    values, index = ranking.top_children(local, offset, k, only_child)
    assert torch.equal(values > -torch.inf, there)
    assert torch.equal(index.masked_fill(~there, -1), expected)


@pytest.mark.usefixtures("chunks")
def test_top_children_is_a_stable_sort_of_the_sum():
    check_top_children()


@pytest.mark.parametrize("actions", [200, 5000, 32001])
@pytest.mark.parametrize("levels", [2, 10**6])
def test_top_children_at_real_sizes(actions, levels, generator):
    local = torch.randint(0, levels, (2, 8, actions), generator=generator).float() / 7
    offset = torch.randint(0, levels, (2, 8), generator=generator).float() / 3
    _, expected = by_stable_sort((local + offset[..., None]).flatten(1), 8)
    assert torch.equal(ranking.top_children(local, offset, 8)[1], expected)


@given(st.lists(st.integers(-2, 2), min_size=1, max_size=12), st.integers(1, 14))
def test_top_prefers_the_smaller_index(values, k):
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    _, index = ranking.top(torch.tensor([values]).float(), k)
    assert index[0].tolist() == order[:k]


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(-1, 1), st.booleans()), min_size=1, max_size=12
    ),
    st.integers(1, 14),
)
def test_cheapest_orders_by_cost_then_score_then_index(entries, k):
    costs, scores, mask = (torch.tensor([column]) for column in zip(*entries, strict=True))
    there = [i for i, (_, _, exists) in enumerate(entries) if exists]
    order = sorted(there, key=lambda i: (entries[i][0], -entries[i][1], i))
    present, index = ranking.cheapest(costs.float(), scores.float(), mask, k)
    assert index[present].tolist() == order[:k]


def test_nan_sorts_first_so_that_it_is_seen():
    local = torch.zeros(1, 2, 3)
    local[0, 1, 2] = torch.nan
    for k in (1, 2, 6):
        values, index = ranking.top_children(local, torch.zeros(1, 2), k)
        assert values[0, 0].isnan()
        assert index[0, 0] == 5
