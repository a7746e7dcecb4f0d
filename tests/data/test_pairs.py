import gzip
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

from beamlearn.data.pairs import (
    Pair,
    merged,
    pair_windows,
    parse,
    parse_sources,
    read_references,
    read_sources,
)
from beamlearn.data.text import DataError

FIELD = st.text(st.characters(exclude_characters="\t\n\r\ufeff", exclude_categories=["Cs"]))


def pairs(text, references="one"):
    return parse(text.splitlines(keepends=True), "f", references)


def test_a_line_is_source_tab_target():
    assert pairs("a b\tc d\n ü \t\xa0\n") == [Pair("a b", ("c d",), 1), Pair(" ü ", ("\xa0",), 2)]
    assert pairs("") == []


def test_source_and_target_may_be_empty_where_the_tab_is_there():
    assert pairs("\tb\na\t\n\t\n") == [Pair("", ("b",), 1), Pair("a", ("",), 2), Pair("", ("",), 3)]


def test_marks_and_ends_of_lines_are_no_text():
    assert pairs("\ufeffa\tb\r\nc\td") == [Pair("a", ("b",), 1), Pair("c", ("d",), 2)]
    assert pairs("\ufeff\tb\r\n") == [Pair("", ("b",), 1)]


@given(st.lists(st.tuples(FIELD, FIELD)), st.sampled_from(["\n", "\r\n"]))
def test_everything_else_is(both, end):
    lines = [f"{source}\t{target}{end}" for source, target in both]
    found = parse(lines, "f")
    assert [(pair.source, *pair.references) for pair in found] == both
    assert [pair.line for pair in found] == list(range(1, len(both) + 1))
    assert parse_sources(lines, "f") == found


@given(st.lists(FIELD))
def test_every_line_is_a_source_to_be_transduced(sources):
    found = parse_sources([source + "\n" for source in sources], "f")
    assert found == [Pair(source, (), n) for n, source in enumerate(sources, 1)]


def test_sources_may_have_targets():
    assert parse_sources(["a\n", "\n", "b\tc\n"], "f") == [
        Pair("a", (), 1),
        Pair("", (), 2),
        Pair("b", ("c",), 3),
    ]


def test_several_references():
    assert pairs("a\tb\na\tc\td\te\n", "several") == [
        Pair("a", ("b",), 1),
        Pair("a", ("c", "d", "e"), 2),
    ]


def test_empty_cells_of_a_table_are_no_further_references():
    assert pairs("a\tb\t\t\na\t\tc\td\n\t\t", "several") == [
        Pair("a", ("b",), 1),
        Pair("a", ("", "c", "d"), 2),
        Pair("", ("",), 3),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\nc d\n", "^f: Every line must have a source and a target .* no line .* has a tab; "),
        ("a\n\n", "^f: Every line must have .* no line of this file has a tab; add the tabs"),
        ("a\tb\n\nc\td\n", "^f:2: .* but this one is empty; .* empty field before a tab"),
        ("a\tb\n\n", "^f:2: .* but this one is empty; remove it"),
        ("\n\n", "^f:1: .* but this one is empty; remove it"),
        (
            "a\tb\nc d\n",
            "^f:2: A line must have a tab .* but 'c d' has none; add it .* empty target",
        ),
        ("a\tb\n \n", "^f:2: A line must have a tab .* but ' ' has none"),
        (
            "a\tb\nc\td\te\n",
            r"^f:2: A line must have one tab, .* got 2; .* = several if they separate",
        ),
        ("a\tb\t\n", r"^f:1: A line must have one tab, .* got 2; remove the others, or "),
    ],
)
def test_what_is_wrong_with_a_file(text, message):
    with pytest.raises(DataError, match=message):
        pairs(text)


def test_sources_have_one_tab_at_most_too():
    with pytest.raises(DataError, match="^f:2: A line must have one tab, .* got 3; "):
        parse_sources(["a\n", "b\tc\td\te\n"], "f")
    with pytest.raises(DataError, match="^f: Every line must have a source and a target"):
        pairs("a\nb", "several")


@pytest.mark.usefixtures("no_shape_checks")
def test_there_are_two_ways_to_read_references():
    message = "^There is no way to read references called 'sevral'. Did you mean 'several'?"
    with pytest.raises(ValueError, match=message):
        pairs("", "sevral")


def test_merging_equal_sources():
    lines = ["b\tx\n", "a\ty\n", "b\tz\n", "b\tx\n", "\t\n"]
    assert merged(parse(lines, "f")) == [
        Pair("b", ("x", "z"), 1),
        Pair("a", ("y",), 2),
        Pair("", ("",), 5),
    ]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["", "x", "y"]))))
def test_merging_loses_no_reference_and_repeats_none(both):
    some = [Pair(source, (target,), n) for n, (source, target) in enumerate(both, 1)]
    found = merged(some)
    assert [pair.source for pair in found] == list(dict.fromkeys(pair.source for pair in some))
    assert merged(found) == found
    for pair in found:
        same = [one for one in some if one.source == pair.source]
        assert pair.line == same[0].line
        assert sorted(pair.references) == sorted({r for one in same for r in one.references})


def test_files(tmp_path, monkeypatch):
    data = b"a\tb\n\tc"
    right = [Pair("a", ("b",), 1), Pair("", ("c",), 2)]
    (tmp_path / "f.tsv").write_bytes(data)
    (tmp_path / "f.tsv.gz").write_bytes(gzip.compress(data))
    for name in ("f.tsv", "f.tsv.gz"):
        assert read_references(tmp_path / name) == read_sources(str(tmp_path / name)) == right
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read_references("-") == right


def test_windows_have_the_lines_of_the_file(tmp_path):
    path = tmp_path / "f.tsv"
    path.write_text("\ufeffa\tx\n\ty\r\nb\t", encoding="utf-8", newline="")
    parts = list(pair_windows(path, window=2))
    assert [len(part) for part in parts] == [2, 1]
    assert [pair for part in parts for pair in part] == read_references(path)


def test_a_line_without_a_tab_is_refused_before_the_rest_is_read(tmp_path):
    path = tmp_path / "f.tsv"
    path.write_bytes(b"a\tx\nb\nc\ty\n\xff\n")
    with pytest.raises(DataError, match=r"f\.tsv:2: A line must have a tab"):
        list(pair_windows(path, window=2))


def test_messages_name_the_file(tmp_path, monkeypatch):
    path = tmp_path / "f.tsv"
    path.write_bytes(b"a\tb\n\n")
    with pytest.raises(DataError, match=r"f.tsv:2: .* this one is empty"):
        read_references(path)
    assert read_sources(path)[1] == Pair("", (), 2)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\tb\tc\n")))
    with pytest.raises(DataError, match=r"^standard input:1: A line must have one tab"):
        read_sources("-")
    with pytest.raises(DataError, match=r"none.tsv: There is no such file"):
        read_references(tmp_path / "none.tsv")


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("g2p-sigmorphon2021/eng_us.train.tsv.gz", 33344),
        ("g2p-sigmorphon2021/hun.test.tsv.gz", 1000),
        ("mt-multi30k-en-de/val.tok.tsv.gz", 1014),
    ],
)
@pytest.mark.usefixtures("no_shape_checks")  # a check per line takes its time
def test_real_data(name, lines):
    path = shared(name)
    found = read_references(path)
    both = [(pair.source, *pair.references) for pair in found]
    assert len(found) == lines
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        assert "".join(f"{source}\t{target}\n" for source, target in both) == file.read()
