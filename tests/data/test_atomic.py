import errno
import os

import pytest

from beamlearn.data import atomic, text
from beamlearn.data.atomic import DiskFullError
from beamlearn.training.run import Run


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_named_with_the_file_and_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    message = f"There is no space left on the disk to write {path} .* free some space"
    with pytest.raises(DiskFullError, match=message):
        atomic.write_bytes(path, b"new")
    with pytest.raises(DiskFullError, match=message):
        text.write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_quota_is_a_full_disk(tmp_path):
    with (
        pytest.raises(DiskFullError, match="Disk quota exceeded"),
        atomic.needing_space(tmp_path),
    ):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))


def test_other_errors_stay_what_they_are(tmp_path):
    with pytest.raises(PermissionError), atomic.needing_space(tmp_path):
        raise PermissionError(errno.EACCES, "Permission denied")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_log_on_a_full_disk(tmp_path):
    run = Run.create(tmp_path / "run", {}, {})
    (run.path / "rounds.jsonl").symlink_to("/dev/full")
    with pytest.raises(DiskFullError, match="rounds.jsonl"):
        run.log({"round": 1})
