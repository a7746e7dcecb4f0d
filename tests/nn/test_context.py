import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlearn.nn.context import Bidirectional, Convolution, Lookahead
from beamlearn.nn.context_stream import ContextStream
from beamlearn.nn.incremental import Incremental

lengths = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)


def incremental():
    return [Incremental(2, 3, ahead, layers).double() for ahead in (0, 2, 7) for layers in (1, 2)]


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


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("ahead", [0, 1, 3])
def test_an_incremental_encoder_looks_just_so_far(ahead, layers):
    context = Incremental(2, 3, ahead, layers).double()
    words = words_of([7], 0.0)
    before = context(words, torch.tensor([7]))
    for place in range(7):
        changed = words.clone()
        changed[0, place:] += 1
        after = context(changed, torch.tensor([7]))
        unseen = max(0, place - ahead)
        assert torch.equal(before[:, :unseen], after[:, :unseen])
        assert (before != after)[0, unseen:].any(dim=-1).all()


def test_an_incremental_encoder_that_sees_the_end_is_one_in_both_directions():
    torch.manual_seed(0)
    both, one = Bidirectional(2, 3).double(), Incremental(2, 3, 9).double()
    weights = dict(both.lstm.named_parameters())
    back = {name: value for name, value in weights.items() if name.endswith("_reverse")}
    order = torch.tensor([0, 1, 3, 2])  # the gates of `lstm_step`: the one with tanh comes last

    def sorted_gates(name):
        value = back[f"{name}_l0_reverse"]
        return value.unflatten(0, (4, 3))[order].flatten(0, 1)

    with torch.no_grad():
        for name, value in one.passed.named_parameters():
            value.copy_(weights[name])
        one.given.weight.copy_(sorted_gates("weight_ih"))
        one.given.bias.copy_(sorted_gates("bias_ih") + sorted_gates("bias_hh"))
        one.recurrent.weight.copy_(sorted_gates("weight_hh"))
    lengths = [5, 1, 3]
    words = words_of(lengths, 7.0)
    expected, found = (context(words, torch.tensor(lengths)) for context in (both, one))
    for row, (a, b) in enumerate(zip(expected, found, strict=True)):
        torch.testing.assert_close(a[: lengths[row]], b[: lengths[row]])


@pytest.mark.parametrize("encoder", [Lookahead(2, 0), Lookahead(2, 2), *incremental()], ids=str)
@pytest.mark.parametrize("length", [0, 1, 2, 5])
def test_words_one_by_one_have_the_same_contexts(encoder, length):
    encoder, words = encoder.double(), words_of([max(length, 1)], 0.0)[:, :length]
    stream, found = ContextStream(encoder), []
    for place in range(length):
        found += stream.read(words[:, place])
        assert len(found) == max(0, place + 1 - encoder.ahead)
    found += stream.end()
    assert len(found) == length
    if length:
        torch.testing.assert_close(torch.cat(found), encoder(words, torch.tensor([length]))[0])
