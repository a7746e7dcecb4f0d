from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from beamlearn.data.text import DataError
from beamlearn.data.windows import Mark, Window
from beamlearn.prediction.bad_sentence import BadSentence, sorted_out
from beamlearn.tasks.task import Answering


@dataclass(frozen=True)
class Numbers(Answering):
    def sentences(self, window):
        return window.data.count(b"\n")

    def check(self, window):
        for number, line in enumerate(window.lines(), window.start.line):
            if not line.strip().isdecimal():
                raise DataError(f"{window.name}:{number}: no number")

    def answer(self, model, window, request):
        raise NotImplementedError


@given(lines=st.lists(st.sampled_from("1x"), min_size=1, max_size=9), line=st.integers(1, 3))
def test_bad_lines_stand_between_good_ones(lines, line):
    data = "".join(f"{text}\n" for text in lines).encode()
    pieces = list(sorted_out(Window("f", data, Mark(5, line, 7)), "line", Numbers()))
    assert b"".join(piece.data for piece in pieces) == data
    bad = [piece for piece in pieces if isinstance(piece, BadSentence)]
    expected = [place for place, text in enumerate(lines, line) if text == "x"]
    assert [piece.why for piece in bad] == [f"f:{place}: no number" for place in expected]
    place = 0
    for piece in pieces:
        if isinstance(piece, Window):
            assert piece.start == Mark(5 + 2 * place, line + place, 7 + place)
        place += piece.data.count(b"\n")


def test_it_is_written_with_the_reason():
    assert BadSentence(b"x", "f:1: no number").written() == b"# f:1: no number\nx\n"
