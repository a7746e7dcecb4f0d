"""Words with their labels, marked strings and trees, on the page and as text."""

import html
import re

import pytest
import tiny
import tiny_pairs
import tiny_trees
from rich.console import Console

from beamlearn.evaluation.marked import Marked, unmarked
from beamlearn.reports.inspector.inspected_run import InspectedInput
from beamlearn.reports.inspector.inspected_search import inspect_search
from beamlearn.reports.inspector.page import page, view
from beamlearn.reports.inspector.text import blocks, texts
from beamlearn.tasks.parsing.attachment import arcs_of
from beamlearn.tasks.parsing.task import PARSING
from beamlearn.tasks.tagging.model import Tagger
from beamlearn.tasks.tagging.settings import TaggerSettings
from beamlearn.tasks.tagging.task import TAGGING
from beamlearn.tasks.transduction.task import TRANSDUCTION

pytestmark = pytest.mark.usefixtures("no_shape_checks")


def shown(search):
    return html.unescape(page([], [InspectedInput("Input", {"run": search})]))


def printed(lines):
    console = Console(width=80, color_system=None)
    with console.capture() as captured:
        console.print(lines)
    return [line.rstrip() for line in captured.get().splitlines()]


def tagged():
    data = tiny.sentences(6)
    tagger = Tagger.build(TaggerSettings(**tiny.NETWORK), data.words, data.tags)
    place = max(range(6), key=lambda at: len(data.words[at]))
    return inspect_search(TAGGING, tagger, TAGGING.subject(tagger, data, place), 2)


def test_each_word_stands_above_its_labels():
    search = tagged()
    columns = view("run", search, "k").columns
    assert [column.word for column in columns] == search.subject.text.split()
    assert [column.right.text for column in columns] == search.subject.right.split()
    assert [column.output.text for column in columns] == search.answers[0].text.split()
    wrong = [column for column in columns if column.right.text != column.output.text]
    assert len(wrong) == search.answers[0].cost > 0
    assert all(not column.output.same and not column.right.same for column in wrong)
    (table,) = re.findall(r'<table class="aligned">.*?</table>', shown(search), re.S)
    assert table.count('<td class="wrong">') == table.count('<td class="missed">') == len(wrong)


def test_as_text_labels_stand_below_their_words():
    search = tagged()
    input, right, output, carets = printed(texts(search))
    for column in view("run", search, "k").columns:
        assert column.word in input
    starts = [found.start() for found in re.finditer(r"\S+", input)][1:]
    assert [right[at:].split()[0] for at in starts] == search.subject.right.split()
    assert [output[at:].split()[0] for at in starts] == search.answers[0].text.split()
    assert len(carets.split()) == search.answers[0].cost


def test_long_sentences_go_on_in_a_second_block():
    words = ["word"] * 30
    known = list(blocks(words, Marked.of([("A", "A")] * 29 + [("A", "B")])))
    assert [list(rows) for rows in known] == [["input", "right", "output"]] * 2 + [
        ["input", "right", "output", ""]
    ]
    assert sum(str(rows["input"]).count("word") for rows in known) == 30
    (unknown,) = blocks(["a", "b"], unmarked(None, ["X", "Y"]))
    assert list(unknown) == ["input", "output"]


def test_trees_of_a_parser():
    data = tiny_trees.sentences(4)
    parser = tiny_trees.small(data)
    for number in range(4):
        subject = PARSING.subject(parser, data, number)
        search = inspect_search(PARSING, parser, subject, 2)
        assert subject.arcs == arcs_of(data.trees[number])
        text = shown(search)
        (picture,) = re.findall(r'<figure class="trees">.*?</figure>', text, re.S)
        for word, right, found in zip(
            subject.words, subject.arcs, search.answers[0].arcs, strict=True
        ):
            for head, relation in (right, found):
                head_word = "" if head == 0 else f"{subject.words[head - 1]} → "
                assert f"<title>{relation}: {head_word}{word}</title>" in picture
        assert "shift: " in text
        assert '<table class="aligned">' in text


def test_a_typed_sentence_has_the_tree_of_the_output_alone():
    parser = tiny_trees.small()
    search = inspect_search(PARSING, parser, PARSING.typed(parser, "the dog", None), 2)
    text = shown(search)
    assert "The tree of the output." in text
    assert '<tr class="right-output">' not in text
    assert [column.word for column in view("run", search, "k").columns] == ["the", "dog"]


def test_marks_of_lifted_words_are_not_shown():
    parser = tiny_trees.small(tiny_trees.sentences(8), crossing="encode")
    lifted = [(2, "case||obj"), (0, "root"), (2, "obj")]
    assert PARSING.spell(parser, lifted) == "3:case 0:root 2:obj"
    unfinished = [(-1, ""), (0, "root")]
    assert PARSING.spell(parser, unfinished) == "_ 0:root"


def test_wrong_tokens_of_a_string_are_marked():
    data = tiny_pairs.pairs(6)
    transducer = tiny_pairs.small(data)
    search = inspect_search(TRANSDUCTION, transducer, TRANSDUCTION.subject(transducer, data, 0), 2)
    marked = search.answers[0].marked
    assert " ".join(part.text for part in marked.right) == search.subject.right
    assert " ".join(part.text for part in marked.output) == search.answers[0].text
    differ = sum(not part.same for part in marked.right + marked.output)
    assert differ > 0
    before = shown(search).partition("The final beam")[0]
    assert before.count('<span class="wrong">') + before.count('<span class="missed">') == differ
    lines = printed(texts(search))
    right, output = (next(one for one in lines if one.startswith(n)) for n in ("right", "output"))
    assert right.split()[1:] == search.subject.right.split()
    assert output.split()[1:] == search.answers[0].text.split()
    below = [line for line in lines if "^" in line]
    assert sum(len(line.split()) for line in below) == differ
