import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlearn.nn.context import Bidirectional, Convolution, Lookahead
from beamlearn.nn.incremental import Incremental

lengths = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)


def contexts():
    torch.manual_seed(0)
    yield from (Lookahead(2, ahead).double() for ahead in (0, 1, 3))
    yield from (
        Incremental(2, 3, ahead, layers).double() for ahead in (0, 2, 7) for layers in (1, 2)
    )
    yield from (Bidirectional(2, 3, layers).double() for layers in (1, 2))
    yield from (Convolution(2, 3, layers).double() for layers in (1, 3))


def words_of(lengths, junk):
    generator = torch.Generator().manual_seed(0)
    words = torch.randn(len(lengths), max(lengths), 2, generator=generator, dtype=torch.float64)
    for row, length in zip(words, lengths, strict=True):
        row[length:] = junk
    return words


@settings(max_examples=12)
@given(lengths, st.sampled_from([0.0, 7.0, 1e30]))
def test_alone_in_a_batch_and_with_junk_behind_the_end(lengths, junk):
    words = words_of(lengths, junk)
    for context in contexts():
        together = context(words, torch.tensor(lengths))
        assert together.shape[-1] == context.size
        for row, sentence, length in zip(together, words, lengths, strict=True):
            if length:
                alone = context(sentence[None, :length], torch.tensor([length]))
                torch.testing.assert_close(row[:length], alone[0])


@given(st.integers(1, 5), st.integers(0, 7))
def test_lookahead_is_the_word_and_the_next_ones(length, ahead):
    words = words_of([length], 0.0)
    found = Lookahead(2, ahead)(words, torch.tensor([length]))
    zero = torch.zeros(2, dtype=torch.float64)
    for place in range(length):
        window = [words[0, j] if j < length else zero for j in range(place, place + ahead + 1)]
        assert torch.equal(found[0, place], torch.cat(window))


@pytest.mark.parametrize("layers", [1, 2])
def test_a_sentence_is_seen_from_both_sides(layers):
    context = Bidirectional(2, 3, layers).double()
    words = words_of([4], 0.0)
    before = context(words, torch.tensor([4]))
    words[0, 3] += 1
    after = context(words, torch.tensor([4]))
    assert (before != after).any(dim=-1).all()


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_layer_of_a_convolution_sees_one_neighbor_each_side(layers):
    context = Convolution(2, 3, layers).double()
    words = words_of([9], 0.0)
    before = context(words, torch.tensor([9]))
    words[0, 4] += 1
    changed = (context(words, torch.tensor([9])) != before)[0].any(dim=-1)
    assert changed.tolist() == [abs(place - 4) <= layers for place in range(9)]


def test_a_layer_of_a_convolution_is_its_formula():
    context = Convolution(2, 3, 1, pieces=2).double()
    words = words_of([3], 0.0)
    x = torch.cat([torch.zeros(1, 3).double(), context.enter(words[0]), torch.zeros(1, 3).double()])
    for place in range(3):
        pieces = context.windows[0](x[place : place + 3].flatten()).view(2, 3)
        expected = x[place + 1] + context.norms[0](pieces.max(dim=0).values)
        torch.testing.assert_close(context(words, torch.tensor([3]))[0, place], expected)
