import codecs
import gzip
import io
import os
import sys
from contextlib import redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.data.text import DataError, bare, blank, read_lines, unreadable, write_text

EXOTIC = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\rh"


def stdin(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_lines_keep_their_ends_and_the_byte_order_mark(tmp_path, ending):
    path = tmp_path / "a.txt"
    lines = ["\ufeffone\r\n", "\n", EXOTIC + "\n", "last" + ending]
    path.write_bytes("".join(lines).encode())
    assert read_lines(path) == lines
    assert read_lines(str(path)) == lines


def test_an_empty_file_has_no_lines(tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(b"")
    assert read_lines(path) == []


@given(st.text(alphabet="ab\n\r\x0b\x85\u2028\ufeff𡃉"))
def test_lines_join_to_the_file(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "joined"
    write_text(path, text)
    assert path.read_bytes() == text.encode()
    lines = read_lines(path)
    assert "".join(lines) == text
    assert all("\n" not in line[:-1] for line in lines)
    assert all(line.endswith("\n") for line in lines[:-1])


def test_gzip_is_known_by_its_content(tmp_path, monkeypatch):
    packed = gzip.compress(b"one\n") + gzip.compress(b"two\n")
    for name in ("a.gz", "a.txt"):
        (tmp_path / name).write_bytes(packed)
        assert read_lines(tmp_path / name) == ["one\n", "two\n"]
    (tmp_path / "plain.gz").write_bytes(b"plain\n")
    assert read_lines(tmp_path / "plain.gz") == ["plain\n"]
    stdin(monkeypatch, packed)
    assert read_lines("-") == ["one\n", "two\n"]


def test_standard_input(monkeypatch):
    stdin(monkeypatch, b"one\r\ntwo")
    assert read_lines("-") == ["one\r\n", "two"]
    assert not sys.stdin.closed


def test_wrong_encoding(tmp_path, monkeypatch):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"fine\ncaf\xe9\n")
    message = r"UTF-8, but byte 4 of this line \(0xe9\) is not; convert the file"
    with pytest.raises(DataError, match=rf"latin\.txt:2: Text must be encoded in {message}"):
        read_lines(path)
    path.write_bytes(b"\xffword")
    with pytest.raises(DataError, match=r"latin\.txt:1: .*0xff"):
        read_lines(path)
    stdin(monkeypatch, b"caf\xe9\n")
    with pytest.raises(DataError, match=r"^standard input:1: Text must be"):
        read_lines("-")


def test_no_such_file(tmp_path):
    with pytest.raises(DataError, match=r"none\.txt: There is no such file"):
        read_lines(tmp_path / "none.txt")
    with pytest.raises(DataError, match="A file was expected, got a folder"):
        read_lines(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match="There is no such file"):
        read_lines(tmp_path / "file" / "below")
    with pytest.raises(DataError, match="cannot be read .embedded null byte"):
        read_lines("a\0b")
    assert "do not have permission" in str(unreadable("x", PermissionError()))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="may read all files")
def test_no_permission(tmp_path):
    path = tmp_path / "closed"
    path.write_bytes(b"")
    path.chmod(0)
    with pytest.raises(DataError, match="do not have permission"):
        read_lines(path)


def test_damaged_gzip(tmp_path):
    whole = gzip.compress(os.urandom(100).hex().encode() * 50 + b"\n")
    path = tmp_path / "a.gz"
    flipped = bytearray(whole)
    flipped[-6] ^= 255
    for damaged in (whole[:-20], whole[:5], bytes(flipped), whole[:12] + b"\xff" * 50):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"a\.gz: A gzip file must be complete, but this one"):
            read_lines(path)


def test_bare_and_blank():
    assert bare("a\r\n", 2) == "a"
    assert bare("\ufeffa", 1) == "a"
    assert bare("\ufeffa\n", 2) == "\ufeffa"
    assert bare("a\r\r\n", 2) == "a\r"
    assert blank("")
    assert blank(" \t")
    assert not blank("\xa0")


def test_writing_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(0o640)
    write_text(path, "é\r\n")
    assert path.read_bytes() == "é\r\n".encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def full(descriptor):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        DataError, match=r"out\.txt: The result cannot be written there .No space left on device"
    ):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_the_file_is_seen_only_when_it_is_whole(tmp_path, monkeypatch):
    path, seen = tmp_path / "out.txt", []
    monkeypatch.setattr(os, "fsync", lambda descriptor: seen.append(path.exists()))
    write_text(path, "new")
    assert seen[0] is False
    assert path.read_text() == "new"


def test_a_missing_folder(tmp_path):
    with pytest.raises(DataError, match="in an existing folder"):
        write_text(tmp_path / "none" / "out.txt", "text")
    with pytest.raises(DataError, match="choose a file in an existing"):
        write_text(tmp_path, "text")


def test_whoever_reads_the_old_file_reads_it_to_its_end(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with open(path) as file:
        write_text(path, "new")
        assert file.read() == "old"
    assert path.read_text() == "new"


def test_links_are_followed(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    # Never a device of the system: a mistake in the code would replace it.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_gzip_output_is_reproducible(tmp_path):
    write_text(tmp_path / "a.gz", "one\n")
    write_text(tmp_path / "b.gz", "one\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert read_lines(tmp_path / "a.gz") == ["one\n"]
    assert (tmp_path / "a.gz").read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize("target", ["-", None])
def test_standard_output(capfdbinary, target):
    write_text(target, "é\r\n")
    assert capfdbinary.readouterr().out == "é\r\n".encode()
    with redirect_stdout(io.StringIO()) as replaced:
        write_text(target, "é\n")
    assert replaced.getvalue() == "é\n"


@pytest.mark.parametrize(
    ("encoding", "mark", "named"),
    [
        ("utf-16-le", codecs.BOM_UTF16_LE, "UTF-16"),
        ("utf-16-be", codecs.BOM_UTF16_BE, "UTF-16"),
        ("utf-32-le", codecs.BOM_UTF32_LE, "UTF-32"),
        ("utf-32-be", codecs.BOM_UTF32_BE, "UTF-32"),
    ],
)
def test_a_byte_order_mark_names_the_encoding(tmp_path, encoding, mark, named):
    path = tmp_path / "wide.txt"
    path.write_bytes(mark + "dogs\nbark\n".encode(encoding))
    message = f"wide.txt:1: .* byte-order mark of {named}; convert it with `iconv -f {named} -t"
    with pytest.raises(DataError, match=message):
        read_lines(path)
