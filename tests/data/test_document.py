import io
import sys
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared

from beamlearn.data.document import DocumentForm, read_document
from beamlearn.data.rewriting import with_supertag
from beamlearn.data.text import DataError, iterate_chunks, read_lines
from beamlearn.data.windows import Window, cut, windows

ROW = "{}\t{}\tlemma\t{}\t_\t_\t{}\tdep\t_\t{}"
MARKS = "ab#é𡃉\x0b\x0c\x1c\x85\xa0\u2028\u2029"
forms = st.text(alphabet=MARKS + " \ufeff", min_size=1, max_size=4)
plain_words = st.text(alphabet=MARKS, min_size=1, max_size=4)
labels = st.text(alphabet="XYZ#é\u2028", min_size=1, max_size=3)
ends = st.sampled_from(["\n", "\r\n"])
blanks = st.sampled_from(["", "", " ", "\t "])


@dataclass(frozen=True)
class Case:
    """A generated file: what was put into it, and its text for any labels."""

    words: list
    labels: list
    pieces: list
    """Text, or the index of the sentence and of the word whose label stands there."""

    def text(self, labels=None):
        labels = self.labels if labels is None else labels
        return "".join(
            piece if isinstance(piece, str) else labels[piece[0]][piece[1]] for piece in self.pieces
        )


@st.composite
def conllu_cases(draw):
    words, pieces, cut = [], [], draw(st.booleans())
    some = st.lists(forms, max_size=2)

    def put(*line):
        pieces.extend([*line, draw(ends)])

    for s in range(draw(st.integers(1, 3))):
        for comment in draw(some):
            put("#" + comment)
        sentence = draw(st.lists(forms, min_size=1, max_size=4))
        for w, form in enumerate(sentence):
            if draw(st.booleans()):
                put(ROW.format(f"{w + 1}-{w + 2}", "both", "_", "_", "SpaceAfter=No"))
            before, after = ROW.format(w + 1, form, "\0", 0, draw(forms)).split("\0")
            put(before, (s, w), after)
            if draw(st.booleans()):
                put(ROW.format(f"{w + 1}.1", "empty", "X", "_", "_"))
        words.append(sentence)
        for _ in range(draw(st.integers(1, 2))):
            put(draw(blanks))
    return finished(draw, words, pieces, cut)


@st.composite
def column_cases(draw):
    words, pieces, tabs, cut = [], [], draw(st.booleans()), draw(st.booleans())
    between = st.just("\t") if tabs else st.sampled_from([" ", "  ", "   "])
    edge = st.just("") if tabs else st.sampled_from(["", " "])
    after = draw(st.integers(0, 2))
    for s in range(draw(st.integers(1, 3))):
        if tabs and draw(st.booleans()):
            pieces.extend(["# comment", draw(ends)])
        words.append(draw(st.lists(plain_words, min_size=1, max_size=4)))
        for w, word in enumerate(words[-1]):
            pieces.extend([draw(edge), word, draw(between), (s, w)])
            for _ in range(after):
                pieces.extend([draw(between), draw(labels)])
            pieces.extend([draw(edge), draw(ends)])
        pieces.extend([draw(blanks), draw(ends)])
    return finished(draw, words, pieces, cut)


def finished(draw, words, pieces, cut):
    if cut:  # the last line, which may be blank, without its end
        pieces.pop()
    if draw(st.booleans()):
        pieces.insert(0, "\ufeff")
    return Case(words, [draw_labels(draw, sentence) for sentence in words], pieces)


def draw_labels(draw, sentence):
    return draw(st.lists(labels, min_size=len(sentence), max_size=len(sentence)))


def others(case, data):
    return [draw_labels(data.draw, sentence) for sentence in case.words]


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Write a text to a file of this name and read it."""
    folder = tmp_path_factory.mktemp("documents")

    def write_and_read(text, layout="auto", name="f"):
        (folder / name).write_bytes(text.encode())
        return read_document(folder / name, layout)

    return write_and_read


@settings(max_examples=150)
@given(case=conllu_cases(), data=st.data())
def test_conllu_there_and_back(read, case, data):
    document = read(case.text())
    assert document.layout == "conllu"
    assert document.words() == case.words
    assert document.column("upos") == document.column("4") == case.labels
    assert document.rewrite("upos", case.labels) == case.text()
    new = others(case, data)
    assert document.rewrite("upos", new) == case.text(new)
    tagged = read(document.rewrite("supertag", new))
    assert tagged.words() == case.words
    assert [[m.split("|")[-1] for m in s] for s in tagged.column("10")] == [
        [f"Supertag={tag}" for tag in s] for s in new
    ]


@settings(max_examples=150)
@given(case=column_cases(), data=st.data())
def test_columns_there_and_back(read, case, data):
    document = read(case.text(), "columns")
    assert document.words() == case.words
    with pytest.raises(DataError, match="which holds the words"):
        document.column("1")
    assert document.column("2") == case.labels
    assert document.column(str(1 - document.width)) == case.labels
    assert document.rewrite("2", case.labels) == case.text()
    new = others(case, data)
    assert document.rewrite("2", new) == case.text(new)
    longer = read(document.rewrite("9", new), "columns")
    assert longer.words() == case.words
    assert longer.column("2") == case.labels
    assert longer.column("-1") == new
    assert longer.width == document.width + 1


@given(st.lists(st.lists(plain_words, min_size=1, max_size=3), min_size=1), st.booleans())
def test_words_alone_get_a_column(read, words, spaced):
    text = "\r\n\r\n".join(" \r\n".join(s) if spaced else "\r\n".join(s) for s in words)
    document = read(text)
    assert document.words() == words
    values = [["X"] * len(sentence) for sentence in words]
    for name in ("2", "-1", "4", "upos", "supertag"):
        longer = read(document.rewrite(name, values))
        assert longer.words() == words
        assert longer.column("2") == longer.column("-1") == values


def test_words_alone_are_separated_from_their_labels_by_a_tab(read):
    assert read("a\nb\r\n\nc").rewrite("2", [["X", "Y"], ["Z"]]) == "a\tX\nb\tY\r\n\nc\tZ"
    assert read("a b\n").rewrite("3", [["X"]]) == "a b X\n"


SENTENCE = [ROW.format(1, "a", "X", 2, "_"), ROW.format(2, "b", "Y", 0, "Gloss=b")]
CONLLU = "\n".join(SENTENCE) + "\n\n"


def test_supertags_go_into_misc(read):
    document = read(CONLLU)
    assert document.column("supertag") == [["dep/R", "dep+L"]]
    written = document.rewrite("supertag", [["dep/R", "dep+L"]])
    assert written == "\n".join(
        [
            ROW.format(1, "a", "X", 2, "Supertag=dep/R"),
            ROW.format(2, "b", "Y", 0, "Gloss=b|Supertag=dep+L"),
            "\n",
        ]
    )
    assert read(written).rewrite("supertag", [["dep/R", "dep+L"]]) == written


def test_an_earlier_supertag_is_replaced():
    assert with_supertag("_", "x") == with_supertag("", "x") == "Supertag=x"
    assert with_supertag("Supertag=y|A=b|Supertag=z", "x") == "Supertag=x|A=b"
    assert with_supertag("OldSupertag=y", "x") == "OldSupertag=y|Supertag=x"


def test_every_column_of_conllu_can_be_written(read):
    document = read(CONLLU)
    for number in range(3, 11):
        written = read(document.rewrite(str(number), [["P", "Q"]]))
        assert written.column(str(number)) == [["P", "Q"]]
        for other in set(range(1, 11)) - {number}:
            assert written.fields(other - 1) == document.fields(other - 1)


TREE = [([2, 0], ["dep", "dep"])]


@settings(max_examples=150)
@given(case=conllu_cases(), data=st.data())
def test_trees_there_and_back(read, case, data):
    document = read(case.text())
    trees = [
        ([*(data.draw(st.sampled_from([0, len(s)])) for _ in s[1:]), 0], draw_labels(data.draw, s))
        for s in case.words
    ]
    written = read(document.rewrite_trees(trees))
    assert written.fields(6) == [[str(head) for head in heads] for heads, _ in trees]
    assert written.fields(7) == [relations for _, relations in trees]
    assert written.words() == case.words
    was = [([0] * len(words), ["dep"] * len(words)) for words in case.words]
    assert written.rewrite_trees(was) == case.text()
    assert written.column("upos") == case.labels


@settings(max_examples=150)
@given(case=conllu_cases(), data=st.data())
def test_comments_go_before_the_first_line_that_is_none(read, case, data):
    document = read(case.text())
    was = [([0] * len(words), ["dep"] * len(words)) for words in case.words]
    new = [[f"#!{i}.{j}" for j in range(data.draw(st.integers(0, 2)))] for i in range(len(was))]
    longer = read(document.rewrite_trees(was, new), "conllu")
    assert longer.words() == case.words
    kept = [line for line in longer.lines if "#!" not in line.removeprefix("\ufeff")[:2]]
    mark = "\ufeff" * longer.lines[0].startswith("\ufeff#!")
    assert mark + "".join(kept) == case.text()
    texts = [line.removeprefix("\ufeff").rstrip("\r\n") for line in longer.lines]
    assert [text for text in texts if text.startswith("#!")] == [c for added in new for c in added]
    for text, after in pairwise(texts):
        if text.startswith("#!"):
            assert after.startswith(("#!", "1\t", "1-2\t"))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_added_comments_end_as_the_lines_around_them(read, end):
    bare = CONLLU.replace("\t2\tdep", "\t_\t_").replace("\t0\tdep", "\t_\t_").replace("\n", end)
    wanted = CONLLU.replace("\n", end)
    assert read("\ufeff" + bare).rewrite_trees(TREE, [["# 1", "# 2"]]) == (
        f"\ufeff# 1{end}# 2{end}{wanted}"
    )
    for before in ("", f"# old{end}"):
        one = before + ROW.format("0.1", "e", "_", "_", "_") + end + SENTENCE[0]
        assert read(one).rewrite_trees([([0], ["root"])], [["# new"]]) == (
            before + f"# new{end}" + one.removeprefix(before).replace("2\tdep", "0\troot")
        )


@pytest.mark.parametrize(("before", "added"), [("", "#\n"), ("# old\r\n", "#\r\n")])
def test_comments_before_a_line_without_end(read, before, added):
    last = ROW.format(1, "a", "X", 0, "_")
    assert read(before + last).rewrite_trees([([0], ["dep"])], [["#"]]) == before + added + last


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CONLLU.replace("\t2\tdep", "\t_\t_"), "f:1: A head must be .* got '_' for word 1"),
        (CONLLU.replace("\t2\tdep", "\t3\tdep"), "f:1: A head .* got '3' for word 1"),
        (CONLLU.replace("\t0\tdep", "\t0\t_"), "f:2: Every word needs a relation to its head"),
        (CONLLU.replace("\t2\tdep", "\t0\tdep"), "f:2: A tree must have one root, but words 1 and"),
        (CONLLU.replace("\t0\tdep", "\t1\tdep"), "f:1: A tree must have one root, but no word"),
        ("a X\n", "f: Trees need a CoNLL-U file, but this is a column file; convert it"),
    ],
)
def test_trees_that_are_none(read, text, message):
    with pytest.raises(DataError, match=message):
        read(text).trees()


@pytest.mark.parametrize(
    ("trees", "comments", "message"),
    [
        ([], None, "f: `heads` must hold one list for each of the 1 sentence, got 0"),
        ([([0], ["a", "b"])], None, "f:1: `heads` must .* each of the 2 words .* got 1"),
        ([([2, 0], ["a"])], None, "f:1: `relations` must .* each of the 2 words .* got 1"),
        ([([3, 0], ["a", "b"])], None, r"f:1: A head must .*\(1 to 2\).* got 3 for word 1"),
        ([([-1, 0], ["a", "b"])], None, "f:1: A head must .* got -1 for word 1"),
        ([([2, 2], ["a", "b"])], None, "f:2: A head must .* got 2 for word 2"),
        ([([2, 0], ["a", ""])], None, "must not be empty or contain any of .* got ''"),
        ([([2, 0], ["a", "b\tc"])], None, r"got 'b\\tc'"),
        (TREE, [], "f: `comments` must hold one list for each of the 1 sentence, got 0"),
        (TREE, [["text"]], "f: A comment must be one line that begins with '#', .* got 'text'"),
        (TREE, [["# a\nb"]], r"got '# a\\nb'; give one comment for each line"),
    ],
)
def test_trees_that_cannot_be_written(read, trees, comments, message):
    with pytest.raises(ValueError, match=message):
        read(CONLLU).rewrite_trees(trees, comments)


def test_trees_are_not_written_to_columns(read):
    with pytest.raises(DataError, match="f: Trees need a CoNLL-U file"):
        read("a X\n").rewrite_trees([([0], ["root"])])


def test_no_words_no_trees(read):
    for text, layout in (("# nothing\n\n", "conllu"), ("", "auto"), ("\n", "columns")):
        assert read(text, layout).trees() == []
        assert read(text, layout).rewrite_trees([], []) == text


def test_the_layout_shows_in_name_or_content(read, monkeypatch):
    assert read(CONLLU).layout == "conllu"
    assert read("# text = a\n\n1-2" + CONLLU[1:].replace("\n2\t", "\n1\t", 1)).layout == "conllu"
    assert read("0.1" + SENTENCE[0][1:] + "\n").layout == "conllu"
    assert read("").layout == "columns"
    assert read("", name="f.conllu").layout == "conllu"
    assert read("1\tNUM\n").layout == "columns"
    assert read("\t".join("abcdefghij")).layout == "columns"
    assert read(CONLLU, "columns").width == 10
    with pytest.raises(DataError, match="must have 10 fields .* got 2; .* or rename the file"):
        read("a\tX\n", name="f.conllu.gz")
    with pytest.raises(DataError, match="got 1; replace the spaces by tabs"):
        read(CONLLU.replace("\t", "  "))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CONLLU.encode())))
    document = read_document("-")
    assert (document.path, document.layout) == ("standard input", "conllu")


@pytest.mark.usefixtures("no_shape_checks")
def test_an_unknown_layout(read):
    with pytest.raises(ValueError, match="no layout called 'conll'. Did you mean 'conllu'"):
        read("", "conll")


def test_no_words_no_labels(read):
    for name in ("upos", "supertag", "3"):
        assert read("# nothing\n\n", "conllu").column(name) == []
        assert read("# nothing\n\n", "conllu").rewrite(name, []) == "# nothing\n\n"
    assert read("\n", "columns").column("-1") == []
    assert read("\n", "columns").rewrite("2", []) == "\n"


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (CONLLU, "upso", "f: There is no column called 'upso'. Did you mean 'upos'"),
        (CONLLU, "0", "no column called '0'.* Known: upos, xpos, feats, supertag, 1, ..., 10"),
        (CONLLU, "11", "no column called '11'"),
        (CONLLU, "-1", "no column called '-1'"),
        (CONLLU, "xpos", "f:1: Column xpos must hold labels, but it is '_' for every word"),
        (CONLLU, "5", "f:1: Column 5 must hold labels, but it is '_'"),
        (CONLLU.replace("\tX\t", "\t\t"), "upos", "f:1: Every word needs a label in column upos"),
        (CONLLU.replace("\t2\tdep", "\t_\t_"), "supertag", "f:1: A head must be the number"),
        (CONLLU.replace("0\tdep", "0\t_"), "supertag", "f:2: Every word needs a relation"),
        ("a X\n", "upos", "f: There is no column called 'upos'.* Known: 1, 2, -1"),
        ("a X\n", "02", "no column called '02'"),
        ("a X\n", "3", "f: `column` must exist in this file, which has 2 columns, got 3"),
        ("a X\n", "-2", "`column` must exist .* got -2"),
        ("a X\n", "-3", "`column` must exist .* got -3"),
        ("a\n", "-1", "which has 1 column, got -1;"),
        ("a\tX\nb\t\n", "2", "f:2: Every word needs a label in column 2, but this one is empty"),
    ],
)
def test_labels_that_are_not_there(read, text, name, message):
    with pytest.raises(DataError, match=message):
        read(text).column(name)


def test_no_features_is_a_label_unless_nothing_is_annotated(read):
    assert read(CONLLU).column("feats") == read(CONLLU).column("6") == [["_", "_"]]
    bare = CONLLU.replace("\tX\t", "\t_\t").replace("\tY\t", "\t_\t")
    with pytest.raises(
        DataError, match="Column feats must hold labels, but it is '_' for every word"
    ):
        read(bare).column("feats")
    half = CONLLU.replace("\tX\t", "\t_\t")
    assert read(half).column("upos") == [["_", "Y"]]


@pytest.mark.parametrize(
    ("text", "column", "values", "message"),
    [
        (CONLLU, "upos", [], "f: `values` must hold one list for each of the 1 sentence, got 0"),
        (CONLLU, "upos", [["X"]], "f:1: .* for each of the 2 words of the sentence .* got 1"),
        (CONLLU, "upos", [["X", ""]], "must not be empty or contain any of .* got ''"),
        (CONLLU, "upos", [["X", "a\tb"]], r"got 'a\\tb'; rename the label"),
        (CONLLU, "upos", [["X", "a\n"]], r"got 'a\\n'"),
        (CONLLU, "supertag", [["X", "a|b"]], r"got 'a\|b'"),
        (CONLLU, "form", [["X", "Y"]], "no column called 'form'"),
        (CONLLU, "1", [["X", "Y"]], "f: Labels must not replace the words, but column 1"),
        (CONLLU, "2", [["X", "Y"]], "Labels must not replace the words, but column 2"),
        ("a X\n", "1", [["Y"]], "Labels must not replace the words, but column 1"),
        ("a X\n", "2", [["a b"]], "use a file with tabs between its columns"),
        ("a X\n", "label", [["Y"]], "no column called 'label'"),
    ],
)
def test_values_that_cannot_be_written(read, text, column, values, message):
    with pytest.raises(ValueError, match=message):
        read(text).rewrite(column, values)


@pytest.mark.parametrize("name", ["ud-english-ewt/dev.conllu.gz", "ner-wnut17/dev.tsv.gz"])
@pytest.mark.usefixtures("no_shape_checks")  # a check per word takes its time
def test_real_data_there_and_back(name):
    path = shared(name)
    document, text = read_document(path), "".join(read_lines(path))
    column = "upos" if document.layout == "conllu" else "2"
    assert document.rewrite(column, document.column(column)) == text
    changed = document.rewrite(column, [["?"] * len(words) for words in document.words()])
    assert changed.count("\t?\t" if document.layout == "conllu" else "\t?\n") >= sum(
        map(len, document.words())
    )


@pytest.mark.parametrize("name", ["ud-english-ewt", "ud-dutch-lassysmall"])
@pytest.mark.usefixtures("no_shape_checks")
def test_real_trees_there_and_back(name):
    path = shared(f"{name}/dev.conllu.gz")
    document = read_document(path)
    assert document.rewrite_trees(document.trees()) == "".join(read_lines(path))


def parts(path, layout, size):
    """The documents of a file in windows of so many sentences, and as many as were counted."""
    texts = cut(iterate_chunks(path), "block", size)
    form = DocumentForm.of(Window(path, b"".join(iterate_chunks(path))), layout)
    for window in windows(path, texts, form.sentences):
        document = form.document(window)
        assert len(document.sentences) == window.sentences
        yield document


@settings(max_examples=60)
@given(case=conllu_cases(), data=st.data(), window=st.integers(1, 3))
def test_conllu_part_by_part(read, case, data, window):
    whole, found = read(case.text(), "conllu"), []
    chains = [[*range(len(words))] for words in case.words]
    trees = list(zip(chains, others(case, data), strict=True))
    added = ["# added"] * ("\r" not in case.text())  # they end as the line above, of any part
    comments, rest = [added for _ in trees], list(trees)
    for document in parts(whole.path, "conllu", window):
        size = len(document.sentences)
        found.append(document.rewrite_trees(rest[:size], comments[:size]))
        rest = rest[size:]
    assert "".join(found) == whole.rewrite_trees(trees, comments)


@settings(max_examples=60)
@given(case=column_cases(), data=st.data(), window=st.integers(1, 3))
def test_columns_part_by_part(read, case, data, window):
    whole, values = read(case.text(), "columns"), others(case, data)
    found, rest = [], list(values)
    for document in parts(whole.path, "columns", window):
        size = len(document.sentences)
        found.append(document.rewrite("2", rest[:size]))
        rest = rest[size:]
    assert "".join(found) == whole.rewrite("2", values)


def test_the_first_sentences_show_the_layout_of_all(tmp_path):
    path = tmp_path / "f"
    path.write_text("# a note\n\na\tX\n\nb c\tY\n\nd\n")
    found = parts(str(path), "auto", 1)
    assert next(found).rewrite("2", []) == "# a note\n\n"
    assert next(found).words() == [["a"]]
    assert next(found).words() == [["b c"]]
    with pytest.raises(DataError, match=r"f:7: .* as the first, 2 \(line 3\), got 1"):
        next(found)
