import torch
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.nn.characters import CharacterVectors


def vectors():
    torch.manual_seed(0)
    return CharacterVectors(7, 5, embedding=4).double()


def by_hand(module, letters):
    """The strongest response of each filter to three characters, around each of the word's."""
    none = torch.zeros(4, dtype=torch.float64)
    embedded = [none, *(module.embedding.weight[letter] for letter in letters), none]
    found = torch.zeros(5, dtype=torch.float64)
    for place in range(len(letters)):
        window = torch.stack(embedded[place : place + 3], dim=1)
        response = (module.filters.weight * window).sum(dim=(1, 2)) + module.filters.bias
        found = torch.maximum(found, response)
    return found


@given(st.lists(st.lists(st.integers(1, 6), max_size=4), min_size=1, max_size=4))
def test_filters_see_three_neighboring_characters(words):
    module = vectors()
    spelled = torch.tensor([[*word, *[0] * (4 - len(word))] for word in words])[None]
    found = module(spelled)
    assert found.shape == (1, len(words), module.size)
    for row, word in zip(found[0], words, strict=True):
        torch.testing.assert_close(row, by_hand(module, word))


@given(st.integers(0, 4), st.integers(0, 3))
def test_room_behind_a_word_has_no_effect(letters, room):
    module, word = vectors(), torch.randint(1, 7, (2, 3, letters))
    wider = torch.nn.functional.pad(word, (0, room + (letters == 0)))
    alone = module(word) if letters else torch.zeros(2, 3, 5).double()
    torch.testing.assert_close(module(wider), alone)


def test_no_words():
    assert vectors()(torch.zeros(2, 0, 4, dtype=torch.long)).shape == (2, 0, 5)
