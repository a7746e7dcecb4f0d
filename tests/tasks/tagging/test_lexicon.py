import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.tasks.tagging.lexicon import TaggingLexicon
from beamlearn.tasks.tagging.space import UNSEEN
from beamlearn.tasks.vocabulary import LEAST_COUNT, affixes_of, shape_of

WORDS = [["The", "dog", "saw", "the", "cat"], ["the", "Dog", "ran"]]
TAGS = [["D", "N", "V", "D", "N"], ["D", "N", "V"]]


def lexicon(**options):
    return TaggingLexicon.of(WORDS, TAGS, **{"affix_length": 0} | options)


def test_words_count_whatever_their_case():
    assert lexicon().words == {"the": 2, "The": 1, "dog": 1, "saw": 1, "cat": 1, "Dog": 1, "ran": 1}
    assert lexicon().word_numbers == {"the": 1, "dog": 2}
    assert lexicon(min_count=3).word_numbers == {"the": 1}
    assert lexicon(min_count=1).word_numbers == {"the": 1, "dog": 2, "saw": 3, "cat": 4, "ran": 5}


def test_unknown_and_rare_words_are_number_0():
    numbers = lexicon().number_words(["DOG", "cat", "unheard", "the", ""])
    assert numbers.tolist() == [[2], [0], [0], [1], [0]]


def test_known_is_what_the_training_data_has_to_the_letter():
    assert "cat" in lexicon()
    assert "The" in lexicon()
    assert "Cat" not in lexicon()


def test_tags_are_in_order_of_the_alphabet():
    assert lexicon().tags == ("D", "N", "V")
    assert lexicon().number_tags(["V", "D", "X", "N"]).tolist() == [2, 0, UNSEEN, 1]


def test_pretrained_vectors_are_found_by_form_and_then_in_lower_case():
    found = lexicon(vectors=["the", "Dog", "dog", "unheard"], vector_size=3)
    rows = found.number_words(["The", "Dog", "DOG", "unheard", "cat"]).tolist()
    assert rows == [[1, 1], [2, 2], [2, 3], [0, 4], [0, 0]]


def test_affixes_need_to_be_frequent():
    words = [["walking"] * (LEAST_COUNT - 1), ["Sing", "Old"]]
    found = TaggingLexicon.of(words, [["V"]], affix_length=3)
    assert set(found.affixes) == {"g$", "ng$", "ing$"}
    numbers = found.number_words(["Bring", "sung", "x"])
    assert numbers.shape == (3, 1 + 7)
    g, ng, ing = (found.affix_numbers[a] for a in ("g$", "ng$", "ing$"))
    assert numbers.tolist() == [
        [0, 0, 0, 0, g, ng, ing, 0],
        [0, 0, 0, 0, g, ng, 0, 0],
        [0] * 8,
    ]
    assert sorted(found.affix_numbers.values()) == [1, 2, 3]


@given(st.text("aBİß1-é", max_size=6), st.integers(0, 5))
def test_every_word_has_equally_many_affixes(word, length):
    found = affixes_of(word, length)
    assert len(found) == (2 * length + 1 if length else 0)
    for n in range(length):
        assert found[n] == "^" + word.lower()[: n + 1]
        assert found[length + n] == word.lower()[-n - 1 :] + "$"


@pytest.mark.parametrize(
    ("word", "shape"),
    [("", ""), ("a", "x"), ("USA", "XX"), ("iPhone12", "xXxx00"), ("...", ".."), ("été", "xx")],
)
def test_shapes(word, shape):
    assert shape_of(word) == shape


def test_shapes_are_cut():
    assert shape_of("a-" * 20) == "x-x-x-x-x-x-"


@given(
    st.lists(st.lists(st.text("abAİ1\n", max_size=4), max_size=4), max_size=5), st.integers(0, 3)
)
def test_json_keeps_every_number(words, affix_length):
    tags = [[word[:1] for word in sentence] for sentence in words]
    options = {"vectors": ["a", "b"], "vector_size": 2, "min_count": 1}
    one = TaggingLexicon.of(words, tags, affix_length=affix_length, **options)
    two = TaggingLexicon.from_json(json.loads(json.dumps(one.to_json())))
    assert one == two
    assert list(one.words) == list(two.words)
    for sentence, right in zip([*words, ["new", "A"]], [*tags, ["n", "?"]], strict=True):
        assert torch.equal(one.number_words(sentence), two.number_words(sentence))
        assert torch.equal(one.number_tags(right), two.number_tags(right))


@given(st.lists(st.sampled_from(["a", "b", "A", "cc"]), max_size=6), st.integers(0, 2))
def test_sentences_keep_their_shape(words, affix_length):
    found = lexicon(affix_length=affix_length).number_words(words)
    assert found.dtype == torch.long
    assert found.shape == (len(words), len(affixes_of("", affix_length)) + 1)
