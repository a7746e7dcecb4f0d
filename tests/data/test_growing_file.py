import errno
import gzip
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.data import growing_file
from beamlearn.data.growing_file import GrowingFile, compress
from beamlearn.data.text import DataError


def test_it_has_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(0o640)
    file = GrowingFile(path)
    file.append(b"new")
    assert file.saved() == 3
    assert (path.read_text(), (tmp_path / "f.partial").read_text()) == ("old", "new")
    file.finish()
    assert (path.read_text(), os.listdir(tmp_path)) == ("new", ["f"])
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_came_after_the_last_entry_is_cut_off(tmp_path):
    (tmp_path / "f.partial").write_bytes(b"kept, lost")
    file = GrowingFile(tmp_path / "f", 4)
    file.append(b"!")
    file.finish()
    assert (tmp_path / "f").read_bytes() == b"kept!"


@given(text=st.binary(max_size=100), times=st.sampled_from([1, 50_000]))
def test_it_is_compressed_as_python_does_it(tmp_path_factory, text, times):
    folder = tmp_path_factory.mktemp("packed")
    (folder / "f").write_bytes(text * times)
    compress(folder / "f", folder / "f.gz")
    assert (folder / "f.gz").read_bytes() == gzip.compress(text * times, mtime=0)


def test_a_name_that_ends_in_gz_is_compressed(tmp_path):
    file = GrowingFile(tmp_path / "f.gz")
    file.append(b"text")
    file.finish()
    assert gzip.decompress((tmp_path / "f.gz").read_bytes()) == b"text"
    assert os.listdir(tmp_path) == ["f.gz"]


def test_what_cannot_be_compressed_leaves_no_half(tmp_path, monkeypatch):
    def full(source, target):
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(growing_file, "compress", full)
    file = GrowingFile(tmp_path / "f.gz")
    with pytest.raises(OSError, match="There is no space left"):
        file.finish()
    assert os.listdir(tmp_path) == ["f.gz.partial"]


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(DataError, match=r"f: The result cannot be written there .*; choose a file"):
        GrowingFile(tmp_path / "nowhere" / "f")
