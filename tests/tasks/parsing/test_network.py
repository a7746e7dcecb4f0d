import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_trees import SYSTEMS, sentences, small

import beamlearn as bl

KINDS = [
    {"system": "arc-hybrid"},
    {"system": "arc-eager", "history": "none", "encoder": "convolution"},
    {"system": "arc-standard", "history": "gru", "normalize": "log_softmax"},
    {"system": "covington", "max_characters": 0, "affix_length": 0, "encoder_layers": 2},
    {"lookahead": 2, "encoder_layers": 2},
]
kinds = pytest.mark.parametrize("options", KINDS, ids=[*SYSTEMS, "lookahead"])
DATA = sentences(8, seed=5)


def search(parser, batch, junk=0, width=3):
    space = parser.space(batch)
    for row, sentence in zip(space.features, batch, strict=True):
        row[len(sentence) + 1 :] = row[0] = junk
    with torch.no_grad():
        return bl.beam_search(space, parser.scorer, width)


def close(one, two):
    """The same n-best list; the order of a sum may differ in the last digits."""
    assert [h.output for h in one] == [h.output for h in two]
    for a, b in zip(one, two, strict=True):
        assert a.score == pytest.approx(b.score, abs=1e-5)
        assert a.step_scores == pytest.approx(b.step_scores, abs=1e-5)


@pytest.mark.slow
@kinds
@settings(max_examples=4)
@given(st.permutations(range(8)), st.integers(0, 2))
def test_batch_law(options, order, junk):
    parser = small(**options)
    batch = [parser.encode(DATA.words[place]) for place in order[:4]]
    together, reverse = search(parser, batch, junk=junk), search(parser, batch[::-1])
    for number, sentence in enumerate(batch):
        alone = search(parser, [sentence]).nbest[0]
        close(together.nbest[number], alone)
        close(reverse.nbest[len(batch) - 1 - number], alone)


@kinds
def test_every_weight_learns(options):
    parser = small(**options)
    batch = [
        parser.encode(words, None, tree) for words, tree in zip(DATA.words, DATA.trees, strict=True)
    ]
    path = bl.beam_trajectory(parser.space(batch), parser.scorer, width=2)
    path.losses(bl.losses.log_loss_neighbors).sum().backward()
    silent = [name for name, p in parser.scorer.named_parameters() if p.grad is None]
    assert silent == []
    assert all(p.grad.isfinite().all() for p in parser.scorer.parameters())
    assert parser.scorer.look.weight.grad.any()
    assert parser.scorer.absent.grad.any()


def test_a_gradient_through_the_search_is_that_of_finite_differences():
    parser = small(encoder_size=3, hidden_size=3, history_size=3)
    parser.scorer.double()
    batch = [parser.encode(DATA.words[0], None, DATA.trees[0])]
    weight = parser.scorer.look.weight

    def loss():
        path = bl.beam_trajectory(
            parser.space(batch), parser.scorer, width=2, strategy=bl.strategies.Oracle()
        )
        return path.losses(bl.losses.log_loss_neighbors).sum()

    (found,) = torch.autograd.grad(loss(), weight)
    place = divmod(int(found.abs().argmax()), found.shape[1])
    values = []
    for change in (1e-6, -2e-6):
        with torch.no_grad():
            weight[place] += change
        values.append(loss().item())
    assert float(found[place]) == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-4)


def test_tags_and_characters_are_seen():
    data = sentences(8, tagged=True)
    parser = small(data, tags="upos", word_size=4)

    def scores(words, tags):
        return search(parser, [parser.encode(words, tags)]).nbest_scores

    base = scores(["the", "dog"], ["DET", "NOUN"])
    assert not torch.equal(base, scores(["the", "dog"], ["NOUN", "NOUN"]))
    assert not torch.equal(base, scores(["the", "dot"], ["DET", "NOUN"]))
    unheard, other = (scores(["the", word], ["DET", "NOUN"]) for word in ("xaz", "xdz"))
    assert not torch.equal(unheard, other)  # apart by a letter in the middle


def test_training_drops_and_evaluation_does_not():
    parser = small(dropout=0.5, word_dropout=0.5)
    batch = [parser.encode(words) for words in DATA.words]
    one, two = (search(parser, batch).nbest_scores for _ in range(2))
    assert torch.equal(one, two)
    parser.scorer.train()
    one, two = (search(parser, batch).nbest_scores for _ in range(2))
    assert not torch.allclose(one, two)


def test_word_dropout_takes_words_for_unknown_ones():
    parser = small(word_dropout=0.9999, dropout=0.0, affix_length=0, max_characters=0)
    parser.scorer.train()
    one, two = (search(parser, [parser.encode([w, "saw"])]) for w in ("dog", "cat"))
    assert torch.equal(one.nbest_scores, two.nbest_scores)


@pytest.mark.parametrize("lookahead", [0, 1, 2])
def test_a_lookahead_shows_no_later_word(lookahead):
    """Not a digit of what is known of a word depends on words further ahead."""
    parser = small(lookahead=lookahead)
    sentence = ["the", "dog", "saw", "man", "whom", "cat"]

    def seen(words, beside=()):
        batch = [parser.encode(words), *map(parser.encode, beside)]
        memory = parser.scorer.start(parser.space(batch))
        return memory.seen.table.view(len(batch), memory.words, -1)[0, 1 : len(words) + 1].detach()

    before = seen(sentence)
    for changed in range(6):
        other = [*sentence[:changed], *["met"] * (6 - changed)]
        after = seen(other)
        unseen = max(0, changed - lookahead)
        assert torch.equal(before[:unseen], after[:unseen])
        assert (before[unseen:] != after[unseen:]).any(dim=-1).all()
    beside = seen(sentence, [["the"] * 9, ["dog"]])
    torch.testing.assert_close(beside, before)
