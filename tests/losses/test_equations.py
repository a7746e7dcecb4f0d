from dataclasses import replace

import by_the_book
import pytest
import torch
from generate import beams, tensors
from hypothesis import assume, given
from hypothesis import strategies as st

from beamlearn import losses
from beamlearn.losses import LOSSES
from beamlearn.losses.ranked import log_sum_exp

names = pytest.mark.parametrize("name", LOSSES)


def test_names_are_those_of_the_paper():
    assert list(LOSSES) == list(by_the_book.LOSSES)


@names
@given(beams())
def test_value_is_the_equation(name, batch):
    values = LOSSES[name](*tensors(batch))
    expected = [by_the_book.LOSSES[name](row.s, row.c, row.k) for row in batch]
    assert values.tolist() == pytest.approx(expected, abs=1e-9)


@names
@given(beams(), st.integers(1, 10))
def test_one_width_for_all_rows(name, batch, k):
    scores, costs, _, mask = tensors(batch)
    values = LOSSES[name](scores, costs, k, mask)
    expected = [by_the_book.LOSSES[name](row.s, row.c, k) for row in batch]
    assert values.tolist() == pytest.approx(expected, abs=1e-9)


def slopes(f, s, i, step):
    """One-sided difference quotients of f in s[i]."""
    up, down = list(s), list(s)
    up[i] += step
    down[i] -= step
    return (f(up) - f(s)) / step, (f(s) - f(down)) / step


@names
@given(batch=beams(distinct=True))
def test_gradient_is_the_slope_of_the_equation(name, batch):
    scores, costs, width, mask = tensors(batch, requires_grad=True)
    LOSSES[name](scores, costs, width, mask).sum().backward()
    smooth = 0
    for row, gradient in zip(batch, scores.grad, strict=True):
        places = [place for place, pad in enumerate(row.padding) if not pad]
        for i, place in enumerate(places):
            right, left = slopes(
                lambda s, row=row: by_the_book.LOSSES[name](s, row.c, row.k), row.s, i, 1e-6
            )
            low, high = min(left, right), max(left, right)
            if high - low < 1e-4:
                smooth += 1
                assert gradient[place].item() == pytest.approx((low + high) / 2, abs=1e-4)
    assume(smooth)


@names
@given(beams())
def test_padding_gets_no_gradient(name, batch):
    scores, costs, width, mask = tensors(batch, requires_grad=True)
    LOSSES[name](scores, costs, width, mask).sum().backward()
    assert torch.isfinite(scores.grad).all()
    assert (scores.grad[~mask] == 0).all()


@pytest.mark.parametrize("name", [name for name in LOSSES if LOSSES[name].convex])
@given(beams())
def test_gradient_at_ties_is_a_subgradient_of_convex_losses(name, batch):
    scores, costs, width, mask = tensors(batch, requires_grad=True)
    here = LOSSES[name](scores, costs, width, mask)
    (gradient,) = torch.autograd.grad(here.sum(), scores)
    axes = torch.eye(scores.shape[1], dtype=torch.float64)
    moves = torch.cat([step * axes for step in (0.25, -0.25, 1.0, -1.0, 3.0, -3.0)])
    moved = (scores.detach() + moves.unsqueeze(1)).flatten(0, 1)  # every row with every move
    there = LOSSES[name](
        moved, *(part.repeat(len(moves), *[1] * (part.ndim - 1)) for part in (costs, width, mask))
    )
    bound = here.detach() + moves @ gradient.T
    assert (there.view(bound.shape) >= bound - 1e-9).all()


@names
@given(beams())
def test_batch_law(name, batch):
    together = LOSSES[name](*tensors(batch))
    alone = torch.cat([LOSSES[name](*tensors([row])) for row in batch])
    reverse = LOSSES[name](*tensors(batch[::-1])).flip(0)
    assert torch.equal(together, alone)
    assert torch.equal(together, reverse)


@pytest.mark.parametrize("name", ["log_loss_beam", "softmax_margin_beam"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sums_do_not_depend_on_the_width_of_other_rows(name, dtype, generator):
    """Padding of the beam axis changes the order in which `logsumexp` adds."""
    scores = 4 * torch.randn(64, 40, generator=generator, dtype=dtype)
    costs = torch.randint(4, scores.shape, generator=generator).to(dtype)
    width = torch.arange(64) % 13 + 1
    together = LOSSES[name](scores, costs, width)
    rows = zip(scores.split(1), costs.split(1), width.split(1), strict=True)
    assert torch.equal(together, torch.cat([LOSSES[name](*row) for row in rows]))


def test_log_sum_exp(generator):
    values = torch.randn(5, 7, generator=generator, dtype=torch.float64, requires_grad=True)
    there = torch.rand(5, 7, generator=generator) < 0.7
    there[0], there[1:, 0] = False, True
    found = log_sum_exp(values, there)
    expected = values.masked_fill(~there, -torch.inf).logsumexp(dim=-1)
    torch.testing.assert_close(found[1:], expected[1:])
    assert torch.isfinite(found).all()
    assert torch.autograd.gradcheck(log_sum_exp, (values[1:], there[1:]))
    large = torch.tensor([[1e30, -1e30, 0.0]], requires_grad=True)
    log_sum_exp(large, torch.tensor([[True, True, False]])).sum().backward()
    assert large.grad.tolist() == [[1.0, 0.0, 0.0]]


@names
@given(batch=beams(), shift=st.integers(-5, 5))
def test_only_differences_count_and_no_loss_is_negative(name, batch, shift):
    scores, costs, width, mask = tensors(batch)
    value = LOSSES[name](scores, costs, width, mask)
    assert (value >= -1e-12).all()
    torch.testing.assert_close(LOSSES[name](scores, costs + shift, width, mask), value)
    torch.testing.assert_close(LOSSES[name](scores + shift, costs, width, mask), value)


@names
def test_float32_and_rows_without_neighbors(name):
    scores = torch.tensor([[0.5, 1.0, -1.0], [torch.nan, 3.0, 1.0]], requires_grad=True)
    costs = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, True], [False, False, False]])
    value = LOSSES[name](scores, costs, 1, mask)
    value.sum().backward()
    assert value.dtype == torch.float32
    assert value[1] == 0
    assert scores.grad[1].eq(0).all()
    expected = by_the_book.LOSSES[name]([0.5, 1.0, -1.0], [1.0, 0.0, 2.0], 1)
    assert value[0].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["perceptron_first", "perceptron_last"])
@pytest.mark.parametrize("cheapest", [0, 1, 2, 3])
def test_zero_start(name, cheapest):
    """Decision 8: at a tie the value is 0, and the subgradient pushes the two apart."""
    scores = torch.zeros(1, 4, dtype=torch.float64, requires_grad=True)
    costs = torch.ones(1, 4, dtype=torch.float64)
    costs[0, cheapest] = 0
    loss = LOSSES[name](scores, costs, 2)
    loss.sum().backward()
    assert loss.item() == 0
    assert scores.grad[0, cheapest] == -1
    assert scores.grad.sum() == 0
    assert scores.grad.max() == 1


@pytest.mark.parametrize(
    "name",
    [
        "perceptron_last",
        "margin_last",
        "cost_sensitive_margin_last",
        "upper_bound",
        "weighted_pairs_bipartite",
    ],
)
@given(batch=beams())
def test_nothing_falls_out_of_a_beam_with_room(name, batch):
    """Decision 6: n <= k."""
    scores, costs, _, mask = tensors(batch)
    assert (LOSSES[name](scores, costs, 8, mask) == 0).all()


@pytest.mark.parametrize("name", ["margin_last", "cost_sensitive_margin_last"])
@given(batch=beams())
def test_rival_outside(name, batch):
    """Decision 9: the best neighbor inside is compared with hat(k + 1), outside with hat(k)."""
    loss = losses.with_options(LOSSES[name], rival="outside")
    for row, value in zip(batch, loss(*tensors(batch)), strict=True):
        order, best = by_the_book.hat(row.s), by_the_book.star(row.c)[0]
        if len(row.s) <= row.k:
            assert value == 0
            continue
        rival = order[row.k] if best in order[: row.k] else order[row.k - 1]
        margin = max(0.0, 1 + row.s[rival] - row.s[best])
        weight = 1 if name == "margin_last" else row.c[rival] - row.c[best]
        assert value.item() == pytest.approx(weight * margin)


@pytest.mark.parametrize("name", [name for name in LOSSES if "pairs" not in name])
@given(batch=beams())
def test_best_scored(name, batch):
    """Decision 9: star(1) may be the best-scored among the cheapest."""
    loss = losses.with_options(LOSSES[name], best="best_scored")
    assert not loss.convex
    values = loss(*tensors(batch))
    for row, value in zip(batch, values, strict=True):
        cheap = [i for i in range(len(row.c)) if row.c[i] == min(row.c)]
        favorite = max(cheap, key=lambda i: (row.s[i], -i))
        # The fixed order finds the favorite if the others of its cost cost a bit more.
        c = [x + 1e-12 * (x == min(row.c) and i != favorite) for i, x in enumerate(row.c)]
        expected = by_the_book.LOSSES[name](row.s, c, row.k)
        assert value.item() == pytest.approx(expected, abs=1e-9)


with_best = pytest.mark.parametrize("name", [name for name in LOSSES if "pairs" not in name])


@with_best
@given(batch=beams())
def test_all_best(name, batch):
    """Decision 17: the set of the cheapest neighbors takes the place of star(1)."""
    loss = losses.with_options(LOSSES[name], best="all")
    assert not loss.convex
    assert loss.bounds_cost == LOSSES[name].bounds_cost
    values = loss(*tensors(batch))
    expected = [by_the_book.all_best(name, row.s, row.c, row.k) for row in batch]
    assert values.tolist() == pytest.approx(expected, abs=1e-9)
    assert (values >= -1e-12).all()
    if loss.bounds_cost:
        increases = [by_the_book.increase(row.s, row.c, row.k) for row in batch]
        assert all(value >= up - 1e-9 for value, up in zip(values, increases, strict=True))


@with_best
@given(batch=beams())
def test_all_best_is_the_equation_where_the_cheapest_is_unique(name, batch):
    batch = [replace(row, c=[x + (i > 0) for i, x in enumerate(row.c)]) for row in batch]
    batch = [replace(row, c=[min(row.c) - 1, *row.c[1:]]) for row in batch]
    values = LOSSES[name](*tensors(batch), best="all")
    torch.testing.assert_close(values, LOSSES[name](*tensors(batch)))


@with_best
@given(batch=beams())
def test_all_best_learns_nothing_where_nothing_is_better(name, batch):
    scores, costs, width, mask = tensors(batch, requires_grad=True)
    value = LOSSES[name](scores, torch.where(mask, 1.0, costs), width, mask, best="all")
    value.sum().backward()
    assert (value == 0).all()
    assert (scores.grad == 0).all()


@with_best
@given(batch=beams(distinct=True))
def test_gradient_of_all_best_is_the_slope(name, batch):
    scores, costs, width, mask = tensors(batch, requires_grad=True)
    LOSSES[name](scores, costs, width, mask, best="all").sum().backward()
    assert (scores.grad[~mask] == 0).all()
    for row, gradient in zip(batch, scores.grad, strict=True):
        places = [place for place, pad in enumerate(row.padding) if not pad]
        for i, place in enumerate(places):
            right, left = slopes(
                lambda s, row=row: by_the_book.all_best(name, s, row.c, row.k), row.s, i, 1e-6
            )
            low, high = sorted((left, right))
            if high - low < 1e-4:
                assert gradient[place].item() == pytest.approx((low + high) / 2, abs=1e-4)


@with_best
@given(beams())
def test_batch_law_of_all_best(name, batch):
    loss = losses.with_options(LOSSES[name], best="all")
    together = loss(*tensors(batch))
    assert torch.equal(together, torch.cat([loss(*tensors([row])) for row in batch]))
    assert torch.equal(together, loss(*tensors(batch[::-1])).flip(0))


@pytest.mark.parametrize("name", [n for n in LOSSES if LOSSES[n].convex and "pairs" not in n])
def test_all_best_is_not_convex(name):
    """Two ways to be right are both better than half of each."""
    costs = torch.tensor([[0.0, 0.0, 1.0]])
    one, two = torch.tensor([[4.0, -4.0, 2.0]]), torch.tensor([[-4.0, 4.0, 2.0]])
    loss = losses.with_options(LOSSES[name], best="all")
    middle = loss((one + two) / 2, costs, 1)
    assert middle > (loss(one, costs, 1) + loss(two, costs, 1)) / 2
    assert not loss.convex


@names
@given(batch=beams())
def test_only_on_increase(name, batch):
    wrapped = losses.only_on_increase(LOSSES[name])
    for row, value in zip(batch, wrapped(*tensors(batch)), strict=True):
        up = by_the_book.increase(row.s, row.c, row.k) > 0
        expected = by_the_book.LOSSES[name](row.s, row.c, row.k) if up else 0.0
        assert value.item() == pytest.approx(expected, abs=1e-9)
    assert not wrapped.convex
    assert wrapped.bounds_cost == LOSSES[name].bounds_cost
    assert wrapped.needs == LOSSES[name].needs
    assert wrapped.__name__ == f"only_on_increase({name})"


@names
def test_costs_are_compared_before_they_are_rounded(name):
    """Float64 costs beside float32 scores: their differences count, however large they are."""
    costs = torch.tensor([[1e8 + 1, 1e8, 1e8 + 2]], dtype=torch.float64)
    scores = torch.tensor([[2.0, 0.5, 1.0]])
    value = LOSSES[name](scores, costs, 1)
    expected = by_the_book.LOSSES[name]([2.0, 0.5, 1.0], [1.0, 0.0, 2.0], 1)
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(expected, rel=1e-5)


@names
@pytest.mark.usefixtures("no_shape_checks")
def test_costs_may_be_whole_numbers(name):
    scores, costs = torch.tensor([[2.0, 0.5, 1.0]]), torch.tensor([[1, 0, 2]])
    assert torch.equal(LOSSES[name](scores, costs, 1), LOSSES[name](scores, costs.float(), 1))


@names
@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0)])
def test_empty_shapes(name, shape):
    value = LOSSES[name](torch.zeros(shape), torch.zeros(shape), 2)
    assert value.tolist() == [0.0] * shape[0]


def test_declarations():
    convex = {name for name, loss in LOSSES.items() if loss.convex}
    bounding = {name for name, loss in LOSSES.items() if loss.bounds_cost}
    best_only = {name for name, loss in LOSSES.items() if loss.needs == "best"}
    pairs = {"weighted_pairs_all", "weighted_pairs_bipartite", "weighted_pairs_hybrid"}
    assert convex == {"perceptron_first", "upper_bound", "log_loss_neighbors"} | pairs
    margins = {"cost_sensitive_margin_last", "cost_sensitive_margin_beam", "softmax_margin_beam"}
    assert bounding == {"upper_bound"} | margins | pairs
    assert best_only == {
        "perceptron_first",
        "perceptron_last",
        "margin_last",
        "log_loss_beam",
        "log_loss_neighbors",
    }
    assert [name for name, loss in LOSSES.items() if loss.local] == ["log_loss_neighbors"]
    assert not any(loss.final for loss in LOSSES.values())


def test_other_losses_made_from_one_keep_its_properties():
    loss = losses.log_loss_neighbors
    optioned, wrapped = losses.with_options(loss, best="best_scored"), losses.only_on_increase(loss)
    assert optioned.largest is wrapped.largest is loss.largest
    assert optioned.local
    assert not wrapped.local  # it does not learn from right decisions


scores = torch.zeros(2, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((scores, scores, 0), "`width` must be at least 1, got 0"),
        ((scores, scores, -2), "`width` must be at least 1, got -2"),
        ((scores, scores, torch.tensor([1, 0])), "one per row, all at least 1"),
        ((scores, scores, torch.tensor([1])), "one per row, all at least 1"),
        ((scores, torch.zeros(2, 4), 1), r"must have the same shape.*got \(2, 3\) and \(2, 4\)"),
        ((torch.zeros(2, 3, 1), torch.zeros(2, 3, 1), 1), "flatten slots and actions"),
        ((scores, scores, 1, torch.ones(2, 4).bool()), r"`mask` must have the shape of `scores`"),
        (
            (scores.long(), scores, 1),
            "`scores` must be floating-point numbers, got torch.int64",
        ),
        ((scores, scores, 1, torch.ones(2, 3)), "`mask` must be boolean, got torch.float32"),
        ((scores, scores, torch.tensor([1.5, 2.0])), "one per row, all at least 1"),
        ((scores * torch.nan, scores, 1), "Scores must be finite, got NaN"),
        ((scores, scores + torch.inf, 1), "Costs must be finite, got NaN or an infinity"),
    ],
)
@pytest.mark.usefixtures("no_shape_checks")
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        losses.upper_bound(*arguments)


@pytest.mark.parametrize("width", [1.5, True, "8", None])
@pytest.mark.usefixtures("no_shape_checks")
def test_a_width_is_a_whole_number(width):
    with pytest.raises(TypeError, match="`width` must be a whole number"):
        losses.upper_bound(scores, scores, width)


@pytest.mark.usefixtures("no_shape_checks")
def test_unknown_options():
    with pytest.raises(ValueError, match=r"no rival called 'outsider'\. Did you mean 'outside'"):
        losses.margin_last(scores, scores, 1, rival="outsider")
    with pytest.raises(ValueError, match="no choice of the best neighbor called 'worst'"):
        losses.margin_last(scores, scores, 1, best="worst")
