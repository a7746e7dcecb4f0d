from importlib import metadata

import pytest

from beamlearn.data import hkcancor
from beamlearn.data.hkcancor import characters, parse, read_hkcancor, tagged
from beamlearn.data.text import DataError

CHAT = """@UTF8
@Begin
*XXA:\t喂 遲 啲
\t?
%mor:\te|wai3 a|ci4
\tu|di1 ?
*XXB:\t係 .
%mor:\tv|hai6 .
@End
""".splitlines(keepends=True)


def test_the_corpus_is_complete(corpus):
    utterances = [utterance for recording in corpus.values() for utterance in recording]
    words = [pair for utterance in utterances for pair in utterance]
    assert (len(corpus), len(utterances), len(words)) == (58, 16_162, 153_654)
    marks = [word for word, tag in words if tag == "w" and not word.isalpha()]
    assert len(marks) == 28_262
    assert set(marks) == set(".,?!-\"'") | {"..."}
    assert all(word and tag and "|" not in tag for word, tag in words)
    assert list(corpus) == sorted(corpus)


def test_the_first_utterance(corpus):
    assert corpus["FC-001_v2"][0] == [
        ("喂", "e"),
        ("遲", "a"),
        ("啲", "u"),
        ("去", "v"),
        ("唔", "d"),
        ("去", "v"),
        ("旅行", "vn"),
        ("啊", "y"),
        ("?", "w"),
    ]


def test_lines_are_continued():
    assert parse(CHAT, "f") == [
        [("喂", "e"), ("遲", "a"), ("啲", "u"), ("?", "w")],
        [("係", "v"), (".", "w")],
    ]


def test_utterances_without_tags():
    with pytest.raises(DataError, match="f:3: An utterance needs .* each of its 3 words, got 4"):
        parse([*CHAT[:3], *CHAT[4:]], "f")
    with pytest.raises(DataError, match="f:7: An utterance needs .* 2 words, got none"):
        parse(CHAT[:7], "f")


def test_tags():
    assert tagged(["Kong", "..."], ["Kong0", "..."]) == [("Kong", "w"), ("...", "w")]
    assert tagged(["x", "Don't"], ["xnz|x", "Don't0"]) == [("x", "xnz"), ("Don't", "xnz")]
    assert tagged(["○"], ["#|#"]) == [("○", "#")]


def test_characters():
    cut, labels = characters([("Kong", "xn"), ("旅行", "vn"), ("...", "w")])
    assert cut == list("Kong旅行...")
    assert labels == ["B-xn", "I-xn", "I-xn", "I-xn", "B-vn", "I-vn", "B-w", "I-w", "I-w"]
    assert characters([]) == ([], [])


def test_the_package_is_missing(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(hkcancor, "distribution", missing)
    with pytest.raises(DataError, match=r"not installed; run `pip install 'beamlearn\[demo\]'`"):
        read_hkcancor()


@pytest.mark.parametrize("files", [None, [metadata.PackagePath("pycantonese/__init__.py")]])
def test_the_package_is_another_version(monkeypatch, files):
    class Other:
        version = "3.0"

    Other.files = files
    monkeypatch.setattr(hkcancor, "distribution", lambda name: Other)
    with pytest.raises(DataError, match="version 3.0 does not contain it"):
        read_hkcancor()
