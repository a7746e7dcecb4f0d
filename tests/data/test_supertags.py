import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

from beamlearn.data.document import read_document
from beamlearn.data.supertags import supertags


def test_by_hand():
    words = ["The", "old", "dog", "that", "barks", "sleeps", "."]
    heads = [3, 3, 6, 5, 3, 0, 6]
    relations = ["det", "amod", "nsubj:outer", "nsubj", "acl:relcl", "root", "punct"]
    assert dict(zip(words, supertags(heads, relations), strict=True)) == {
        "The": "det/R",
        "old": "amod/R",
        "dog": "nsubj/R+LR",
        "that": "nsubj/R",
        "barks": "acl/L+L",
        "sleeps": "root+LR",
        ".": "punct/L",
    }
    assert supertags([0], ["root"]) == ["root"]
    assert supertags([0, 1], ["root", "obj"]) == ["root+R", "obj/L"]
    assert supertags([], []) == []


def test_one_relation_for_each_head():
    with pytest.raises(ValueError, match="zip"):
        supertags([0, 1], ["root"])


@given(st.data())
def test_definition(data):
    n = data.draw(st.integers(1, 7))
    heads = [
        data.draw(st.sampled_from([h for h in range(n + 1) if h != i])) for i in range(1, n + 1)
    ]
    for word, tag in enumerate(supertags(heads, ["r:sub"] * n), 1):
        place, _, sides = tag.partition("+")
        head = heads[word - 1]
        assert place == ("r" if head == 0 else "r/L" if head < word else "r/R")
        assert ("L" in sides) == any(heads[i - 1] == word for i in range(1, word))
        assert ("R" in sides) == any(heads[i - 1] == word for i in range(word + 1, n + 1))


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")  # a check per word takes its time
def test_english_has_199():
    document = read_document(shared("ud-english-ewt/train.conllu.gz"))
    tags = document.column("supertag")
    assert [len(sentence) for sentence in tags] == [len(words) for words in document.words()]
    assert sum(map(len, tags)) == 204_577
    assert len({tag for sentence in tags for tag in sentence}) == 199
