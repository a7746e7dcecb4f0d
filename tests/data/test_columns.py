import gzip

import pytest
from shared_data import shared

from beamlearn.data.columns import appended, parse, replaced, separator
from beamlearn.data.text import DataError, read_lines


def fields(text):
    lines = [line + "\n" for line in text.split("\n")]
    return [[row.fields for row in sentence] for sentence in parse(lines, "f")]


def test_tabs_separate_where_the_first_line_has_one():
    assert fields("New York\tB X\n\xa0\tO\n\nx\tO") == [
        [("New York", "B X"), ("\xa0", "O")],
        [("x", "O")],
    ]


def test_otherwise_runs_of_spaces_do():
    assert fields(" a  b \nc\td\n \t\ne\xa0e f") == [
        [("a", "b"), ("c", "d")],
        [("e\xa0e", "f")],
    ]


def test_words_alone():
    assert fields("a\nb\n\n\nc") == [[("a",), ("b",)], [("c",)]]
    assert fields("") == []


def test_lines_are_numbered():
    rows = parse(["\ufeffa x\r\n", "\r\n", "\n", "b y"], "f")
    assert [(row.fields, row.line) for s in rows for row in s] == [(("a", "x"), 1), (("b", "y"), 4)]


def test_a_number_sign_is_a_word():
    assert fields("# O\n1 O") == [[("#", "O"), ("1", "O")]]
    assert fields("#\tO\n#tag\tO") == [[("#", "O"), ("#tag", "O")]]
    assert fields("-DOCSTART- O\n\na O") == [[("-DOCSTART-", "O")], [("a", "O")]]


def test_a_comment_stands_before_a_sentence_of_a_file_with_tabs():
    assert fields("# text = a\n# more\na\tO\n\n# 2\nb\tO") == [[("a", "O")], [("b", "O")]]
    with pytest.raises(DataError, match="f:2: Every line must have as many columns as the first"):
        fields("a\tO\n# O")
    assert fields("# alone") == [[("#", "alone")]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a b\n\nc",
            r"f:3: .* as the first, 2 \(line 1\), got 1; .* separated by spaces in this file",
        ),
        ("\na\tb\tc\nd\te", r"f:3: .*, 3 \(line 2\), got 2; .* separated by one tab in this file"),
        ("a\tb\nc d", "f:2: .* got 1"),
        ("a\tb\n\tc", "f:2: Every line needs a word in column 1, but this one is empty"),
    ],
)
def test_what_is_wrong_with_a_line(text, message):
    with pytest.raises(DataError, match=message):
        fields(text)


def test_the_separator_of_a_new_column():
    assert separator(["a b\n"]) == " "
    assert separator(["a\tb c\n"]) == "\t"
    assert separator(["a\n", "b\n"]) == "\t"
    assert separator(["a\n", "b \n"]) == " "


def test_writing_a_field():
    assert replaced("a b\tc\t", True, 2, "x") == "a b\tc\tx"
    assert replaced("  a  b ", False, 0, "x") == "  x  b "
    assert appended("a b ", " ", "x") == "a b x "
    assert appended("a\tb", "\t", "x") == "a\tb\tx"


@pytest.mark.parametrize(
    ("name", "sentences", "words"),
    [
        ("ner-wnut17/train.tsv.gz", 3394, 62730),
        ("ner-wnut17/test.tsv.gz", 1287, 23394),
        ("ner-uner-danish-ddt/train.tsv.gz", 4383, 80378),
    ],
)
@pytest.mark.usefixtures("no_shape_checks")  # a check per word takes its time
def test_real_data(name, sentences, words):
    path = shared(name)
    ours = [[row.fields for row in s] for s in parse(read_lines(path), str(path))]
    assert (len(ours), sum(map(len, ours))) == (sentences, words)
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        blocks = file.read().strip("\n").split("\n\n")
    assert ours == [[tuple(line.split("\t")) for line in block.split("\n")] for block in blocks]
