import pytest
import torch
from taggers import small

from beamlearn.nn.words import WordVectors

FEATURES = torch.tensor([[[1, 2, 1, 3], [0, 0, 0, 0]], [[2, 1, 4, 0], [1, 0, 2, 2]]])
"""A form, a number among the pretrained vectors, two affixes."""
TABLE = torch.arange(6.0).view(3, 2)


def vectors(pretrained=None, frozen=True, affix_size=2):
    torch.manual_seed(0)
    return WordVectors(4, 5, 3, affix_size, pretrained, frozen)


def test_vectors_of_word_table_and_affixes_side_by_side():
    words = vectors(TABLE)
    found = words(FEATURES)
    assert found.shape == (2, 2, words.size) == (2, 2, 7)
    for row, sentence in zip(found, FEATURES.tolist(), strict=True):
        for vector, (form, number, *affixes) in zip(row, sentence, strict=True):
            summed = sum((words.affixes.weight[a] for a in affixes if a), torch.zeros(2))
            parts = [words.words.weight[form], TABLE[number], summed]
            torch.testing.assert_close(vector, torch.cat(parts))


def test_without_a_table_affixes_begin_at_the_second_column():
    words = vectors()
    features = FEATURES[..., [0, 2, 3]]
    with_table = vectors(TABLE)
    with_table.load_state_dict(words.state_dict(), strict=False)
    torch.testing.assert_close(words(features), with_table(FEATURES)[..., [0, 1, 2, 5, 6]])


def test_without_affixes_the_word_is_all_there_is():
    words = vectors(affix_size=0)
    assert words.affixes is None
    assert words.size == 3
    torch.testing.assert_close(words(FEATURES[..., :1]), words.words.weight[FEATURES[..., 0]])
    with_table = vectors(TABLE, affix_size=0)
    torch.testing.assert_close(with_table(FEATURES[..., :2])[..., 3:], TABLE[FEATURES[..., 1]])


@pytest.mark.parametrize("frozen", [True, False])
def test_pretrained_vectors_learn_unless_frozen(frozen):
    words = vectors(TABLE, frozen)
    before = {name: value.clone() for name, value in words.state_dict().items()}
    learned = [p for p in words.parameters() if p.requires_grad]
    assert len(learned) == (2 if frozen else 3)
    optimizer = torch.optim.SGD(learned, lr=1.0)
    words(FEATURES).sum().backward()
    optimizer.step()
    for name, value in words.state_dict().items():
        changed = (value != before[name]).any(dim=-1).tolist()
        if name == "words.weight":
            assert changed == [True, True, True, False]
        elif name == "affixes.weight":  # "none" stays zero
            assert changed == [False, True, True, True, True]
        else:
            assert changed == [False, not frozen, not frozen]


def test_number_0_is_no_affix():
    words = vectors()
    assert not words.affixes.weight[0].any()
    assert not words(torch.zeros(1, 1, 3, dtype=torch.long))[0, 0, 3:].any()


@pytest.mark.parametrize("affix_length", [0, 1, 3])
def test_a_tagger_builds_what_its_lexicon_numbers(affix_length):
    tagger = small(affix_length=affix_length)
    words = tagger.scorer.words
    features = tagger.encode(["Rain", "unheard-of"]).features
    assert features.shape == (2, 1 + (2 * affix_length + 1 if affix_length else 0))
    assert (words.affixes is None) == (affix_length == 0)
    assert words(features[None]).shape == (1, 2, words.size)
