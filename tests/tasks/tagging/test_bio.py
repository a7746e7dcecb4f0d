from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from taggers import BIO

from beamlearn.tasks.tagging.bio import is_bio, legal_pairs, span_scores

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
