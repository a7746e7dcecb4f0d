import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.tasks.vocabulary import LEAST_COUNT, Vocabulary, count_words, spelling_of

WORDS = [["abba", "cab"], ["abba", "abba", "dab"]]


def vocabulary(words=WORDS, **options):
    chosen = {"affix_length": 0, "min_count": 1, "max_characters": 3, **options}
    return Vocabulary(**count_words(words, **chosen))


@given(st.text(max_size=12), st.integers(0, 8))
def test_spellings_have_the_beginning_and_the_end(word, length):
    found = spelling_of(word, length)
    assert len(found) == min(len(word), length)
    if len(word) <= length:
        assert found == word
    else:
        assert found[: (length + 1) // 2] == word[: (length + 1) // 2]
        assert found[(length + 1) // 2 :] == word[len(word) - length // 2 :]


def test_characters_need_to_be_frequent_where_they_are_seen():
    found = vocabulary()
    counts = {"a": 3 + 3 + 1 + 1, "b": 3 + 1 + 1, "c": 1, "d": 1}  # of "abba" the second b is cut
    assert set(found.characters) == {c for c, n in counts.items() if n >= LEAST_COUNT}
    assert vocabulary(max_characters=0).characters == ()


def test_words_in_characters():
    found = vocabulary()
    a, b, other = found.character_numbers["a"], found.character_numbers["b"], 3
    assert sorted((a, b)) == [1, 2]
    numbers = found.number_words(["abba", "cab", "b", ""])
    assert numbers[:, 1:].tolist() == [[a, b, a], [other, a, b], [b, 0, 0], [0, 0, 0]]
    assert numbers[:, 0].tolist() == [found.word_numbers["abba"], found.word_numbers["cab"], 0, 0]


@pytest.mark.parametrize("max_characters", [0, 1, 5])
@pytest.mark.parametrize("affix_length", [0, 2])
def test_the_columns_are_word_affixes_and_characters(max_characters, affix_length):
    found = vocabulary(max_characters=max_characters, affix_length=affix_length)
    affixes = 2 * affix_length + 1 if affix_length else 0
    for words in ([], ["cab"], ["unheard", "", "abba"]):
        assert found.number_words(words).shape == (len(words), 1 + affixes + max_characters)


def test_a_new_word_has_the_same_numbers_again():
    found = vocabulary()
    one, two = (found.number_words(["abc", "abba"]) for _ in range(2))
    assert torch.equal(one, two)


def test_json_keeps_every_number():
    one = vocabulary([["ab", "ü", "\U0001f600b"] * 5], max_characters=2)
    two = Vocabulary.from_json(json.loads(json.dumps(one.to_json())))
    assert one == two
    words = ["ab", "ü", "\U0001f600b", "new"]
    assert torch.equal(one.number_words(words), two.number_words(words))
