"""Folders that are made from a file once."""

import os
import time

import pytest

from beamlearn.data import kept as module
from beamlearn.data.kept import discard, kept


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.txt"
    path.write_text("one")
    return path


def keep(root, source, **made_with):
    """Make it if need be; where is it, and was it made?"""
    made = []

    def make(target):
        made.append(target)
        (target / "copy").write_text(source.read_text())

    return kept(root, str(source), made_with, make), bool(made)


def test_it_is_made_once(tmp_path, source):
    root = tmp_path / "deep" / "kept"
    folder, made = keep(root, source)
    assert made
    assert keep(root, source) == (folder, False)
    assert (folder / "copy").read_text() == "one"
    assert os.listdir(root.parent) == ["kept"]
    assert os.listdir(root) == [folder.name]


@pytest.mark.parametrize(
    "change",
    [
        lambda source: source.write_text("two and three"),  # of another size
        lambda source: os.utime(source, (1, 1)),
    ],
)
def test_it_is_made_again_when_the_source_changes(tmp_path, source, change):
    old, _ = keep(tmp_path / "kept", source)
    change(source)
    folder, made = keep(tmp_path / "kept", source)
    assert made
    assert (folder / "copy").read_text() == source.read_text()
    assert (old / "copy").read_text() == "one"  # somebody may still read it


def test_what_is_made_otherwise_has_a_folder_of_its_own(tmp_path, source):
    other = tmp_path / "other.txt"
    other.write_text("two")
    cases = [(source, "upos"), (source, "xpos"), (other, "upos")]
    folders = [keep(tmp_path / "kept", path, column=column)[0] for path, column in cases]
    assert len(set(folders)) == 3
    for (path, column), folder in zip(cases, folders, strict=True):
        assert keep(tmp_path / "kept", path, column=column) == (folder, False)
        assert (folder / "copy").read_text() == path.read_text()


def test_a_half_is_made_again(tmp_path, source):
    folder, _ = keep(tmp_path / "kept", source)
    (folder / "about.json").write_text("{")
    assert keep(tmp_path / "kept", source) == (folder, True)
    (folder / "about.json").unlink()
    assert keep(tmp_path / "kept", source) == (folder, True)


def test_what_fails_leaves_nothing(tmp_path, source):
    def fails(target):
        (target / "half").touch()
        raise KeyError

    with pytest.raises(KeyError):
        kept(tmp_path / "kept", str(source), {}, fails)
    assert os.listdir(tmp_path) == ["source.txt"]


def test_who_is_slower_takes_that_of_the_other(tmp_path, source):
    def slowly(target):
        (target / "copy").write_text("slow")
        keep(tmp_path / "kept", source)

    folder = kept(tmp_path / "kept", str(source), {}, slowly)
    assert (folder / "copy").read_text() == "one"
    assert sorted(os.listdir(tmp_path)) == ["kept", "source.txt"]


def test_what_another_one_may_read_already_is_not_replaced(tmp_path, source, monkeypatch):
    def make_folder(path, own=module.make_folder):
        own(path)
        if path == tmp_path / "kept" and not made:
            made.append(path)
            keep(path, source)  # the other process is faster at the last moment

    made = []
    monkeypatch.setattr(module, "make_folder", make_folder)
    folder = kept(tmp_path / "kept", str(source), {}, lambda f: (f / "copy").write_text("slow"))
    assert made
    assert (folder / "copy").read_text() == "one"


def test_what_killed_processes_left_is_swept_up_after_a_while(tmp_path, source):
    old, new = tmp_path / ".kept.0.tmp", tmp_path / ".kept.1.tmp"
    for folder in (old, new):
        folder.mkdir()
        (folder / "words.numbers").touch()
    then = time.time() - module.ABANDONED - 10
    for path in (old, old / "words.numbers", new):
        os.utime(path, (then, then))
    keep(tmp_path / "kept", source)
    assert not old.exists()
    assert new.exists()  # it was begun long ago, but somebody still writes to it
    os.utime(new / "words.numbers", (then, then))
    discard(tmp_path / "kept")
    assert os.listdir(tmp_path) == ["source.txt"]
