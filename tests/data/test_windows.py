import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.data import windows as module
from beamlearn.data.text import DataError, blocks
from beamlearn.data.windows import Mark, Window, cut, windows

TEXTS = st.lists(st.sampled_from(["a", "# b", "1\tc", "", " ", "\t", "\r", "é"]), max_size=12)


def text_of(lines, ended):
    return ("\n".join(lines) + "\n" * ended).encode()


@given(lines=TEXTS, ended=st.booleans(), unit=st.sampled_from(["line", "block"]), data=st.data())
def test_windows_join_to_the_text_however_it_comes(lines, ended, unit, data):
    text = text_of(lines, ended)
    size, step = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 5))
    found = list(cut([text], unit, size))
    assert b"".join(found) == text
    chunks = [text[place : place + step] for place in range(0, len(text), step)]
    assert list(cut(chunks, unit, size)) == found
    done = data.draw(st.integers(0, len(found)))
    rest = text[sum(map(len, found[:done])) :]
    assert list(cut([rest], unit, size)) == found[done:]


@given(lines=TEXTS, ended=st.booleans(), size=st.integers(1, 3))
def test_no_block_is_cut_and_every_window_but_the_last_is_full(lines, ended, size):
    text = text_of(lines, ended)

    def counted(part):
        return len(list(blocks(part.decode().splitlines(keepends=True), start=2)))

    if b"\r" in text:  # `splitlines` would take it for the end of a line
        return
    found = [counted(part) for part in cut([text], "block", size)]
    assert sum(found) == counted(text)
    assert all(number == size for number in found[:-1])


def test_a_window_is_full_when_its_room_is(monkeypatch):
    monkeypatch.setattr(module, "ROOM", 4)
    assert list(cut([b"abc\nd\ne\nf\n"], "line", 3)) == [b"abc\n", b"d\ne\n", b"f\n"]


def test_windows_know_where_they_are():
    found = list(windows("f", [b"a\nb\n", b"c\n"], lambda window: 1, Mark(10, 4, 2)))
    assert [window.start for window in found] == [Mark(10, 4, 2), Mark(14, 6, 3)]
    assert found[-1].end == Mark(16, 7, 4)


def test_an_empty_text_is_one_window_and_an_empty_rest_is_none():
    assert list(windows("f", [], lambda window: 0)) == [Window("f", b"")]
    assert list(windows("f", [], lambda window: 0, Mark(3, 2, 1))) == []


def test_a_line_in_another_encoding_is_named():
    with pytest.raises(DataError, match=r"f:8: Text must be encoded in UTF-8, but byte 2"):
        Window("f", b"a\nb\xff\n", Mark(line=7)).lines()
    assert Window("f", b"b\xff\n").shown() == ["b\ufffd\n"]
