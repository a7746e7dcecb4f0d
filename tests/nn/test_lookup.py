import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import embedding_bag

from beamlearn.nn.lookup import Lookup

shapes = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=4)


def read(source, places):
    """What a search computes from a table: every step reads some rows."""
    return sum(((number + 1) * source(rows).square()).sum() for number, rows in enumerate(places))


def drawn(shapes, rows=5):
    generator = torch.Generator().manual_seed(len(shapes))
    table = torch.randn(rows, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    return table, [torch.randint(rows, shape, generator=generator) for shape in shapes]


@given(shapes)
def test_values_and_gradients_are_those_of_plain_sums(shapes):
    table, places = drawn(shapes)
    plain = read(lambda rows: embedding_bag(rows, table, mode="sum"), places)
    (expected,) = torch.autograd.grad(plain, table)
    found = read(Lookup(table), places)
    assert torch.equal(found, plain)
    torch.testing.assert_close(torch.autograd.grad(found, table)[0], expected)


def test_the_table_may_come_from_a_network():
    table, places = drawn([(3, 2), (2, 2)])
    expected = torch.autograd.grad(read(lambda r: table.tanh()[r].sum(dim=1), places), table)[0]
    found = torch.autograd.grad(read(Lookup(table.tanh()), places), table)[0]
    torch.testing.assert_close(found, expected)


def test_backward_can_run_again():
    table, places = drawn([(3, 2), (1, 1)])
    found = read(Lookup(table), places)
    first, second = (
        torch.autograd.grad(found, table, retain_graph=True)[0].clone() for _ in range(2)
    )
    assert torch.equal(first, second)
    found.backward()
    torch.testing.assert_close(table.grad, first)


def test_what_has_no_effect_has_no_gradient():
    table, (rows, others) = drawn([(3, 2), (2, 2)])
    lookup = Lookup(table)
    lookup(others)
    found = torch.autograd.grad(lookup(rows).sum(), table)[0]
    expected = torch.zeros_like(table).index_add(0, rows.flatten(), torch.ones(6, 3).double())
    assert torch.equal(found, expected)


@pytest.mark.parametrize("when", ["made", "read"])
def test_without_gradients(when):
    table, (rows,) = drawn([(3, 2)])
    with torch.set_grad_enabled(when == "read"):
        lookup = Lookup(table)
    with torch.set_grad_enabled(when == "made"):
        found = lookup(rows)
    assert not found.requires_grad
    assert torch.equal(found, table.detach()[rows].sum(dim=1))


def test_a_table_that_does_not_learn():
    table, (rows,) = drawn([(3, 2)])
    assert not Lookup(table.detach())(rows).requires_grad
