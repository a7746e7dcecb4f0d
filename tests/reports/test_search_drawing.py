"""The picture of a search: every hypothesis once, and nothing of the data is taken for HTML."""

import re
from html.parser import HTMLParser

import pytest
from generate import scorer_of, trees
from hypothesis import given
from hypothesis import strategies as st

import beamlearn as bl
from beamlearn.reports.search_drawing import Drawing, draw_search

NASTY = "<img src=x onerror=alert(1)>\"'&amp;"


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data

    def nodes(self):
        return [a for _, a in self.found if "node" in a.get("class", "").split() and "id" in a]


def nasty_search(scores=lambda path: -float(len(path[-1]))):
    space = bl.GraphSpace(
        "s", lambda w: [NASTY, "fine"] if w == "s" else [], cost=lambda p: float(p[-1] != NASTY)
    )
    return bl.beam_trajectory(space, bl.FunctionScorer(scores), width=1)


@given(tree=trees(root_terminal=False), k=st.integers(1, 4))
def test_every_hypothesis_is_drawn_once(tree, k):
    history = bl.beam_trajectory(tree.space(), scorer_of(tree), k).history()
    nodes = Elements(draw_search(history, key="x")).nodes()
    ids = [node["id"] for node in nodes]
    assert len(ids) == len(set(ids)) == sum(map(len, history.beams)) + len(history.drops)
    for step, beam in enumerate(history.beams):
        for place, told in enumerate(beam):
            (node,) = [node for node in nodes if node["id"] == f"x-{step}-{place}"]
            assert node["data-name"] == told.name
            assert node.get("data-parent") == (None if told.parent is None else str(told.parent))
            assert ("data-moved" in node) == told.moved
            looks = node["class"].split()
            assert ("win" in looks) == (history.winners[step] == place)
            assert ("right" in looks) == (told.cost == history.least_cost)
            assert ("off" in looks) == (not told.kept)
    fallen = [int(node["data-step"]) for node in nodes if "fall" in node["class"].split()]
    assert fallen == [drop.step for drop in history.drops]
    lines = re.findall(r'<path class="([^"]*)"', draw_search(history))
    assert len(lines) == len(ids) - 1
    assert lines.count("win") == len(history.beams) - 1


def test_names_are_text_and_never_html():
    drawn = Drawing(nasty_search().history(), title=NASTY, headings=(NASTY,))
    page = Elements(drawn.html)
    assert "img" not in [tag for tag, _ in page.found]
    assert not any(name.startswith("on") for _, found in page.found for name in found)
    assert NASTY in [node["data-name"] for node in page.nodes()]
    assert page.text.count(NASTY) >= 2


def test_headings_stand_over_their_steps():
    drawn = draw_search(nasty_search().history(), headings=("first", "not reached"))
    assert '<p class="head">1 <b>first</b></p>' in drawn
    assert "not reached" not in drawn


def test_a_name_that_cannot_be_seen_is_quoted():
    space = bl.GraphSpace("", lambda w: [" "] if w == "" else [])
    drawn = bl.beam_search(space, bl.FunctionScorer(lambda p: 0.0)).draw()
    assert "<b>&#39; &#39;</b>" in drawn.html


def test_a_notebook_shows_a_frame_of_its_own():
    drawn = nasty_search().draw()
    frame = Elements(drawn._repr_html_())
    assert [tag for tag, _ in frame.found] == ["iframe"]
    assert frame.found[0][1]["srcdoc"] == drawn.html


def test_write_makes_a_page_that_needs_nothing_else(tmp_path):
    path = tmp_path / "search.html"
    bl.beam_search(
        bl.GraphSpace(1, lambda n: [2 * n, 3 * n] if n < 10 else []),
        bl.FunctionScorer(lambda path: -path[-1]),
    ).draw().write(path)
    page = path.read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert not re.search("https?://|//[a-z]+[.]|@import|url[(]", page)
    assert [each.name for each in tmp_path.iterdir()] == ["search.html"]


def test_without_right_answers_the_legend_is_silent_about_them():
    space = bl.GraphSpace("", lambda w: ["a"] if w == "" else [])
    assert "dropped here" not in bl.beam_search(space, bl.FunctionScorer(lambda p: 0.0)).draw().html
    assert "dropped here" in nasty_search().draw().html


@pytest.mark.parametrize("scores", [lambda path: 0.0, lambda path: float(path[-1] == "fine")])
def test_what_fell_out_is_marked(scores):
    trajectory = nasty_search(scores)
    drawn = Elements(trajectory.draw().html)
    fallen = [node for node in drawn.nodes() if "fall" in node["class"].split()]
    assert bool(fallen) == trajectory.increased[0][0]
