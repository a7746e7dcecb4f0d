"""Files that are packed into a folder."""

import os

import pytest

from beamlearn.data.packed_file import packed_file
from beamlearn.data.text import DataError

NAMES = ("words", "texts")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.txt"
    path.write_text("any")
    return str(path)


def windows():
    yield [["a", "b"], []], ["ab", ""]
    yield [["b"]], ["\tü"]


def unread():
    raise AssertionError("it was read again")
    yield


def test_lists_come_under_their_names(tmp_path, source):
    words, texts = packed_file(source, tmp_path / "cache", {}, NAMES, windows(), "line")
    assert list(words) == [["a", "b"], [], ["b"]]
    assert ["".join(characters) for characters in texts] == ["ab", "", "\tü"]


def test_a_file_is_read_once(tmp_path, source):
    packed_file(source, tmp_path / "cache", {"as": 1}, NAMES, windows(), "line")
    words, _ = packed_file(source, tmp_path / "cache", {"as": 1}, NAMES, unread(), "line")
    assert len(words) == 3
    with pytest.raises(AssertionError, match="read again"):
        packed_file(source, tmp_path / "cache", {"as": 2}, NAMES, unread(), "line")


def test_a_file_without_examples_is_refused(tmp_path, source):
    with pytest.raises(DataError, match="source.txt: The file must have at least one line, got"):
        packed_file(source, tmp_path / "cache", {}, NAMES, iter([]), "line")
    assert os.listdir(tmp_path) == ["source.txt"]


def test_what_is_broken_off_leaves_nothing(tmp_path, source):
    def broken():
        yield from windows()
        raise KeyError

    with pytest.raises(KeyError):
        packed_file(source, tmp_path / "cache", {}, NAMES, broken(), "line")
    assert os.listdir(tmp_path) == ["source.txt"]
