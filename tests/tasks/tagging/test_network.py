import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from taggers import neural, random_sentences

import beamlearn as bl
from beamlearn.search.neighbors import Move
from beamlearn.tasks.tagging.space import TaggingExample, TaggingSpace

CONTEXTS = [
    {"lookahead": 0},
    {"lookahead": 1},
    {"lookahead": 3},
    {"lookahead": 0, "encoder": "lstm"},
    {"lookahead": 2, "encoder": "lstm"},
    {"context": "sentence"},
]
contexts = pytest.mark.parametrize("context", CONTEXTS, ids=str)


def search(scorer, sentences, width=3, junk=0):
    space = TaggingSpace(sentences, 4)
    for row, sentence in zip(space.features, sentences, strict=True):
        row[len(sentence) :] = junk
    return bl.beam_search(space, scorer, width=width)


def close(one, two):
    """The same n-best list; the order of a sum may differ in the last digits."""
    assert [h.output for h in one] == [h.output for h in two]
    for a, b in zip(one, two, strict=True):
        assert a.score == pytest.approx(b.score)
        assert a.step_scores == pytest.approx(b.step_scores)


@contexts
@settings(max_examples=10)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=4),
    st.sampled_from(["lstm", "gru"]),
    st.sampled_from([None, "log_softmax"]),
    st.integers(0, 4),
)
def test_batch_law(context, lengths, history, normalize, junk):
    scorer = neural(**context, history=history, normalize=normalize)
    sentences = random_sentences(lengths)
    together = search(scorer, sentences, junk=junk)
    reverse = search(scorer, sentences[::-1])
    for number, sentence in enumerate(sentences):
        alone = search(scorer, [sentence]).nbest[0]
        close(together.nbest[number], alone)
        close(reverse.nbest[len(sentences) - 1 - number], alone)


@pytest.mark.parametrize("encoder", ["window", "lstm"])
@pytest.mark.parametrize("lookahead", [0, 1, 2, 3])
def test_a_stream_shows_no_later_word(lookahead, encoder):
    scorer, (sentence,) = neural(lookahead=lookahead, encoder=encoder), random_sentences([6])
    before = emissions(scorer, sentence)
    for changed in range(6):
        features = sentence.features.clone()
        features[changed:] = (features[changed:] + 1) % 5
        after = emissions(scorer, TaggingExample(features))
        unseen = max(0, changed - lookahead)
        assert torch.equal(before[:unseen], after[:unseen])
        assert (before[unseen:] != after[unseen:]).any(dim=-1).all()


def test_a_sentence_is_seen_whole():
    scorer, (sentence,) = neural(context="sentence"), random_sentences([6])
    before = emissions(scorer, sentence)
    for changed in range(6):
        features = sentence.features.clone()
        features[changed] = (features[changed] + 1) % 5
        assert (before != emissions(scorer, TaggingExample(features))).any(dim=-1).all()


def emissions(scorer, sentence):
    return torch.cat(scorer.start(TaggingSpace([sentence], 4)).emissions)


def test_scores_are_what_the_word_and_the_history_say():
    scorer, (sentence,) = neural(history="gru"), random_sentences([4])
    emitted = emissions(scorer, sentence)
    for hypothesis in search(scorer, [sentence]).nbest[0]:
        recalled, expected = scorer.history.start(1), []
        for word, tag in enumerate(hypothesis.output):
            scores = emitted[word] + scorer.recall(recalled.hidden)[0, 0]
            expected.append(scores[tag].item())
            recalled = scorer.history.advance(recalled, move([[0]], [[tag]]))
        assert hypothesis.step_scores == pytest.approx(expected)


def move(slots, actions, rows=None):
    slots = torch.tensor(slots)
    none = torch.zeros_like(slots, dtype=torch.bool)
    rows = None if rows is None else torch.tensor(rows)
    return Move(rows, slots, torch.tensor(actions), none, none)


@contexts
def test_dropout_treats_the_hypotheses_of_a_sentence_alike(context):
    scorer = neural(**context, dropout=0.5, history_size=16).train()
    twins = [TaggingExample(random_sentences([4])[0].features)] * 3
    space = TaggingSpace(twins, 4)
    nodes, memory = space.initial(), scorer.start(space)
    steps = [
        ([[0, 0, 0]] * 3, [[1, 1, 2]] * 3, None),
        ([[0, 1, 2]] * 2, [[3, 3, 3]] * 2, [0, 2]),
        ([[1, 0, 2]], [[0, 0, 0]], [1]),
    ]
    masks = memory.dropped
    assert not torch.equal(masks[0], masks[1])
    for slots, actions, rows in steps:
        step = move(slots, actions, rows)
        nodes = space.advance(nodes, step)
        memory = scorer.advance(memory, nodes, step)
        scores = scorer.score(memory, nodes)
        torch.testing.assert_close(scores[:, 0], scores[:, 1])
        assert (scores[:, 0] != scores[:, 2]).any(dim=-1).all()
        assert torch.equal(memory.dropped, masks[nodes.examples])
    assert set(masks.unique().tolist()) == {0.0, 2.0}


@contexts
def test_evaluation_drops_nothing(context):
    scorer = neural(**context, dropout=0.5, encoder_layers=2).eval()
    sentences = random_sentences([3, 5])
    one, two = (search(scorer, sentences) for _ in range(2))
    assert torch.equal(one.nbest_scores, two.nbest_scores)
    plain = neural(**context, encoder_layers=2)
    plain.load_state_dict(scorer.state_dict())
    assert torch.equal(one.nbest_scores, search(plain, sentences).nbest_scores)
    assert scorer.start(TaggingSpace(sentences, 4)).dropped is None
    scorer.train()
    assert not torch.allclose(search(scorer, sentences).scores, search(scorer, sentences).scores)


@contexts
def test_every_weight_learns(context):
    scorer = neural(**context)
    space = TaggingSpace(
        [
            TaggingExample(s.features, torch.tensor([0, 1, 2, 3][: len(s)]))
            for s in random_sentences([4, 2])
        ],
        4,
    )
    path = bl.beam_trajectory(space, scorer, width=2)
    path.losses(bl.losses.log_loss_neighbors).sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in scorer.parameters())


@contexts
def test_only_empty_sentences(context):
    scorer = neural(**context)
    assert search(scorer, random_sentences([0, 0])).outputs == [[], []]
