from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from taggers import BIO

import beamlearn as bl
from beamlearn.tasks.tagging.bio import is_bio, legal_pairs, span_scores
from beamlearn.tasks.tagging.space import TaggingExample, TaggingSpace

sequences = st.lists(st.sampled_from(BIO), max_size=7)


@pytest.mark.parametrize(
    ("tags", "answer"),
    [
        (["B-X"], True),
        (["O", "B-X", "I-X", "B-a-b", "I-a-b"], True),
        (["O"], False),
        (["I-X", "O"], False),
        ([], False),
        (["B-X", "NOUN"], False),
        (["B-X", "E-X"], False),
        (["B-X", "-X"], False),
        (["B-X", "BI-X"], False),
        (["B-X", "B-"], False),
        (["B-X", "B"], False),
        (["B-X", ""], False),
        (["B-X", "o"], False),
    ],
)
def test_is_bio(tags, answer):
    assert is_bio(tags) is answer


def spans(tags):
    """(kind, first, last) of each span, a stray I- beginning one as conlleval has it."""
    found = []
    for place, tag in enumerate(tags):
        before = tags[place - 1] if place else "O"
        if tag.startswith("I-") and before[2:] == tag[2:]:
            found[-1] = (*found[-1][:2], place)
        elif tag != "O":
            found.append((tag[2:], place, place))
    return found


def stray(tags):
    """Is there an I- that nothing of its kind comes before?"""
    return any(t.startswith("I-") and b[2:] != t[2:] for b, t in pairwise(["O", *tags]))


@given(sequences, st.permutations(BIO), st.integers(1, 5))
def test_legal_is_what_has_no_stray_inside(tags, names, count):
    names = names[:count]
    pairs, first = legal_pairs(names)
    tags = [names.index(tag) for tag in tags if tag in names]
    legal = not tags or bool(first[tags[0]])
    legal = legal and all(pairs[p, q] for p, q in pairwise(tags))
    assert legal == (not stray([names[tag] for tag in tags]))


@given(st.lists(st.tuples(sequences, sequences), min_size=1, max_size=4))
def test_span_scores_count_whole_spans(both):
    both = [(gold[: len(found)], found[: len(gold)]) for gold, found in both]
    gold, found = (list(side) for side in zip(*both, strict=True))
    right, guessed = ([set(spans(tags)) for tags in side] for side in (gold, found))
    hits = sum(len(a & b) for a, b in zip(right, guessed, strict=True))
    all_right, all_guessed = sum(map(len, right)), sum(map(len, guessed))
    scores = span_scores(gold, found)
    assert scores["precision"] == pytest.approx(hits / all_guessed if all_guessed else 0)
    assert scores["recall"] == pytest.approx(hits / all_right if all_right else 0)
    total = all_right + all_guessed
    assert scores["f1"] == pytest.approx(2 * hits / total if total else 0)
    lists = [list(map(list, side)) for side in (gold, found)]
    assert scores == {
        "f1": f1_score(*lists, zero_division=0),
        "precision": precision_score(*lists, zero_division=0),
        "recall": recall_score(*lists, zero_division=0),
    }


def test_span_scores_by_hand():
    gold = [("B-X", "I-X", "O", "B-Y"), ("O", "B-X")]
    found = [("B-X", "I-X", "O", "B-X"), ("B-Y", "O")]
    assert span_scores(gold, found) == pytest.approx(
        {"f1": 1 / 3, "precision": 1 / 3, "recall": 1 / 3}
    )
    assert span_scores(gold, gold) == {"f1": 1.0, "precision": 1.0, "recall": 1.0}
    nothing = [("O",) * 4, ("O",) * 2]
    assert span_scores(gold, nothing) == {"f1": 0.0, "precision": 0.0, "recall": 0.0}


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y", "I-Z", "B-a-b"]), unique=True))
def test_pairs_by_the_book(tags):
    """I-X may follow B-X and I-X alone; everything else may come anywhere."""
    if not tags:
        return
    pairs, first = legal_pairs(tags)
    inside = [tag.startswith("I-") for tag in tags]
    assert first.tolist() == [not one for one in inside]
    expected = [[not i or a[2:] == b[2:] for b, i in zip(tags, inside, strict=True)] for a in tags]
    assert pairs.tolist() == expected


@pytest.mark.parametrize("width", [1, 2, 8])
def test_the_automaton_searches_as_the_pairs_do(width):
    """The space with pairs and one that is constrained by the automaton, with the same scores."""
    tags = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    sentences = [TaggingExample(torch.zeros(n, 1, dtype=torch.long)) for n in (3, 1, 5)]
    free = TaggingSpace(sentences, len(tags))
    paired = TaggingSpace(sentences, len(tags), *legal_pairs(tags))
    likes = bl.FunctionScorer(lambda actions: -sum((3 * a + n) % 7 for n, a in enumerate(actions)))
    one = bl.beam_search(paired, likes, width)
    two = bl.beam_search(bl.ConstrainedSpace(free, bl.Automaton.bio(tags)), likes, width)
    assert [[h.output for h in row] for row in one.nbest] == [
        [h.output for h in row] for row in two.nbest
    ]
    assert torch.equal(one.nbest_scores, two.nbest_scores)


def test_pairs_and_a_pattern_hold_together():
    tags = ["O", "B-X", "I-X"]
    space = TaggingSpace(
        [TaggingExample(torch.zeros(3, 1, dtype=torch.long))], 3, *legal_pairs(tags)
    )
    allowed = bl.Automaton.from_regex(". . I-X", tags, words=True)
    found = bl.exhaustive_search(
        bl.ConstrainedSpace(space, allowed), bl.FunctionScorer(lambda actions: float(sum(actions)))
    )
    outputs = sorted(h.output for h in found.nbest[0])
    assert outputs == [[0, 1, 2], [1, 1, 2], [1, 2, 2]]
