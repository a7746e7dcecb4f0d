import gzip

import pytest
from shared_data import shared

from beamlearn.data.conllu import FIELDS, FORM, HEAD, UPOS, heads, parse, relations, tree
from beamlearn.data.text import DataError, read_lines


def line(id="1", form="word", head="0", deprel="root", **others):
    fields = {"id": id, "form": form, "head": head, "deprel": deprel, **others}
    return "\t".join(fields.get(name, "_") for name in FIELDS) + "\n"


def test_a_head_of_thousands_of_digits_is_refused_in_a_short_message():
    [sentence] = parse([line(head="9" * 5000)], "file")
    with pytest.raises(DataError, match=r"file:1: A head must .* got '9{199}\.\.\. for word 1"):
        heads(sentence, "file")
    with pytest.raises(DataError, match=r"got 9{200}\.\.\. instead of 1; renumber"):
        parse([line(id="9" * 5000)], "file")


def test_only_words_become_rows():
    lines = [
        "# sent_id = 1\n",
        "# text = ...\n",
        line("1-2", "vámonos"),
        line("1", "vamos"),
        line("2", "nos"),
        line("2.1", "empty"),
        "\n",
        "\n",
        "# comments alone\n",
        "\n",
        line("1", "New York").rstrip("\n"),
    ]
    sentences = parse(lines, "f")
    assert [[row.fields[FORM] for row in s] for s in sentences] == [["vamos", "nos"], ["New York"]]
    assert [[row.line for row in s] for s in sentences] == [[4, 5], [11]]
    assert parse([], "f") == []


def test_ends_and_blanks_of_lines():
    lines = [
        "\ufeff" + line("1", "a").replace("\n", "\r\n"),
        "\r\n",
        line("1", "b"),
        " \t \n",
        line("1", "c"),
    ]
    assert [[row.fields[FORM] for row in s] for s in parse(lines, "f")] == [["a"], ["b"], ["c"]]
    assert parse(lines, "f")[0][0].fields[-1] == "_"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("1\tword\n", "f:3: A CoNLL-U line must have 10 fields .* got 2; write '_' where"),
        ("1 a b c d e 0 root _ _\n", "got 1; replace the spaces by tabs"),
        (line("1-2").replace("\t_\n", "\n"), "f:3: .* got 9"),
        (line("1.1").replace("\n", "\t_\n"), "got 11; remove the fields after MISC"),
        (line("x"), "f:3: An id must be a number such as 1, .* got 'x'; correct column 1"),
        (line("1-2x"), "An id must be .* got '1-2x'"),
        (line("²"), "An id must be a number such as 1"),
        (line(""), "An id must be a number such as 1, .* got ''"),
        (line("2"), "f:3: The words of a sentence must be numbered 1, 2, ..., got 2 instead of 1"),
        (line("01"), "got 01 instead of 1; renumber the words"),
        (line("1") + line("1"), "f:4: .* got 1 instead of 2; put a blank line between sentences"),
        (line("1", ""), "f:3: Every word needs a form, but column 2 is empty"),
    ],
)
def test_what_is_wrong_with_a_line(wrong, message):
    lines = ["# comment\n", "\n", *wrong.splitlines(keepends=True)]
    with pytest.raises(DataError, match=message):
        parse(lines, "f")


def test_trees():
    (sentence,) = parse([line("1", head="2", deprel="det"), line("2")], "f")
    assert heads(sentence) == [2, 0]
    assert relations(sentence) == ["det", "root"]
    assert tree(sentence) == ([2, 0], ["det", "root"])


@pytest.mark.parametrize("head", ["_", "", "-1", "3", "1", "1.1", "²"])
def test_heads_that_are_none(head):
    (sentence,) = parse([line("1", head=head, deprel="det"), line("2")], "f")
    with pytest.raises(DataError, match=r"^f:1: A head must .*\(1 to 2\).* for word 1"):
        heads(sentence, "f")
    with pytest.raises(DataError, match="^CoNLL-U:1: A head must"):
        heads(sentence)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ("23124", "^f:4: A tree must have one root, but no word has head 0; correct column 7"),
        ("03004", "^f:7: A tree must have one root, but words 1 and 3 both have head 0; correct"),
        ("03425", "^f:9: A head must be the number of another word .* got '5' for word 5"),
        ("03421", "^f:6: The heads .* but here they lead from 2 to 3 to 4 to 2; correct column 7"),
    ],
)
def test_heads_that_are_no_tree(numbers, message):
    lines = ["# a tree\n", line("1"), "\n"]
    lines += [line(str(i), head=head) for i, head in enumerate(numbers, 1)]
    lines.insert(4, line("1-2"))
    first, second = parse(lines, "f")
    assert tree(first, "f") == ([0], ["root"])
    with pytest.raises(DataError, match=message):
        tree(second, "f")


def test_relations_that_are_none():
    (sentence,) = parse([line("1", deprel="_")], "f")
    with pytest.raises(DataError, match="^f:1: Every word needs a relation to its head, got '_'"):
        relations(sentence, "f")


def is_word(id):
    return isinstance(id, int)  # ranges and empty nodes are tuples


@pytest.mark.parametrize("name", ["ud-english-ewt", "ud-dutch-lassysmall"])
@pytest.mark.usefixtures("no_shape_checks")  # a check per word takes its time
def test_real_data_is_read_as_by_the_conllu_library(name):
    conllu = pytest.importorskip("conllu")
    path = shared(f"{name}/dev.conllu.gz")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        theirs = [s.filter(id=is_word) for s in conllu.parse_incr(file)]
    ours = parse(read_lines(path), str(path))
    assert len(ours) == len(theirs)
    for our, their in zip(ours, theirs, strict=True):
        assert [row.fields[FORM] for row in our] == [token["form"] for token in their]
        assert [row.fields[UPOS] for row in our] == [token["upos"] for token in their]
        assert heads(our) == [token["head"] for token in their]
        assert [int(row.fields[HEAD]) for row in our] == heads(our)
        assert relations(our) == [token["deprel"] for token in their]
