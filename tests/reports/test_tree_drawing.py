import html
import re
from xml.etree import ElementTree

from beamlearn.reports.tree_drawing import draw_trees, levels

WORDS = ["the", "dog", "<b>", "saw"]
RIGHT = [(2, "det"), (4, "nsubj"), (2, "amod"), (0, "root")]
OUTPUT = [(2, "det"), (4, "obj"), (4, "amod"), (0, "root")]


def drawn(*trees):
    picture = draw_trees(WORDS, *trees)
    assert "<b>" not in picture
    return picture, ElementTree.fromstring(re.search(r"<svg.*?</svg>", picture, re.S).group())


def test_every_arc_is_drawn_and_those_that_differ_are_marked():
    picture, svg = drawn(RIGHT, OUTPUT)
    groups = svg.findall("g")
    assert len(groups) == 8
    found = {
        (group.find("title").text, group.get("class")) for group in groups if group.get("class")
    }
    assert found == {
        ("obj: saw → dog", "differs"),  # the head is right
        ("amod: saw → <b>", "differs head"),
        ("nsubj: saw → dog", "differs"),
        ("amod: dog → <b>", "differs head"),
    }
    assert [text.text for text in svg.findall("text")] == WORDS
    assert "Above the words" in picture


def test_right_arcs_are_above_the_words_and_those_of_the_output_below():
    _, svg = drawn(RIGHT, OUTPUT)
    line = float(svg.find("text").get("y"))
    heights = [float(group.find("text").get("y")) for group in svg.findall("g")]
    assert all(y > line for y in heights[:4])
    assert all(y < line for y in heights[4:])
    assert 0 < min(heights) < max(heights) < float(svg.get("height"))


def test_without_a_right_tree_nothing_is_marked():
    picture, svg = drawn(None, [*OUTPUT[:3], (-1, "")])
    assert len(svg.findall("g")) == 3  # a word without a head has no arc
    assert not any(group.get("class") for group in svg.findall("g"))
    assert html.escape("<b>") in picture


def test_arcs_do_not_lie_on_each_other():
    arcs = [(3, "a"), (3, "b"), (0, "r"), (6, "c"), (4, "d"), (3, "e"), (1, "f")]
    found, spans = levels(arcs), [sorted((head, at)) for at, (head, _) in enumerate(arcs, 1)]
    inner = [at for at, (head, _) in enumerate(arcs) if head]
    for i in inner:
        for j in inner:
            apart = spans[i][1] <= spans[j][0] or spans[j][1] <= spans[i][0]
            assert i == j or apart or found[i] != found[j]
