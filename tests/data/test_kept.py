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


def keep(folder, source, **made_with):
    """Make it if need be; was it made?"""
    made = []

    def make(target):
        made.append(target)
        (target / "copy").write_text(source.read_text())

    kept(folder, str(source), made_with, make)
    return bool(made)


def test_it_is_made_once(tmp_path, source):
    folder = tmp_path / "deep" / "kept"
    assert keep(folder, source)
    assert not keep(folder, source)
    assert (folder / "copy").read_text() == "one"
    assert os.listdir(folder.parent) == ["kept"]


@pytest.mark.parametrize(
    "change",
    [
        lambda source: source.write_text("two and three"),  # of another size
        lambda source: os.utime(source, (1, 1)),
    ],
)
def test_it_is_made_again_when_the_source_changes(tmp_path, source, change):
    keep(tmp_path / "kept", source)
    change(source)
    assert keep(tmp_path / "kept", source)
    assert (tmp_path / "kept" / "copy").read_text() == source.read_text()


def test_it_is_made_again_with_other_settings(tmp_path, source):
    keep(tmp_path / "kept", source, column="upos")
    assert not keep(tmp_path / "kept", source, column="upos")
    assert keep(tmp_path / "kept", source, column="xpos")


def test_a_half_is_made_again(tmp_path, source):
    keep(tmp_path / "kept", source)
    (tmp_path / "kept" / "about.json").write_text("{")
    assert keep(tmp_path / "kept", source)
    (tmp_path / "kept" / "about.json").unlink()
    assert keep(tmp_path / "kept", source)


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

    kept(tmp_path / "kept", str(source), {}, slowly)
    assert (tmp_path / "kept" / "copy").read_text() == "one"
    assert sorted(os.listdir(tmp_path)) == ["kept", "source.txt"]


def test_what_killed_processes_left_is_swept_up_after_a_while(tmp_path, source):
    old, new = tmp_path / ".kept.0.tmp", tmp_path / ".kept.1.tmp"
    for folder in (old, new):
        folder.mkdir()
    then = time.time() - module.ABANDONED - 10
    os.utime(old, (then, then))
    keep(tmp_path / "kept", source)
    assert not old.exists()
    assert new.exists()
    os.utime(new, (then, then))
    discard(tmp_path / "kept")
    assert os.listdir(tmp_path) == ["source.txt"]
