"""Inspected searches as a web page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from ...evaluation.marked import Marked, Part, unmarked
from ..pages import Markup, render
from ..search_drawing import draw_search
from ..tree_drawing import draw_trees
from .error_walk import ErrorWalk
from .inspected_run import InspectedInput, InspectedRun
from .inspected_search import Answer, InspectedSearch
from .request import CHARACTERS, WIDEST, InputRequest

DRAWN, LISTED, ARCS = 40_000, 40, 500
"""The most hypotheses in a picture, drops in a list and words of trees: what a browser can handle.
"""


@final
@dataclass(frozen=True)
class Form:
    """What can be chosen on the page, and the current choice."""

    request: InputRequest
    size: int
    """Of the file."""
    widest: int = WIDEST
    longest: int = CHARACTERS
    walk: ErrorWalk | None = None
    """The errors to go through."""

    @property
    def number(self) -> int:
        """The sentence that the form shows, from 1."""
        return 1 if self.request.number is None else self.request.number + 1


@final
@dataclass(frozen=True)
class Column:
    """A word with its right label, where that is known, and the label that it got."""

    word: str
    right: Part | None
    output: Part


@final
@dataclass(frozen=True)
class View:
    """What one run did, ready to be shown."""

    name: str
    search: InspectedSearch
    key: str
    picture: Markup | None
    answers: list[tuple[Answer, Marked]]
    """Each with its parts, and whether these are as in the right output."""
    columns: list[Column]
    """Where outputs are aligned: every word with its labels."""
    trees: Markup | None
    listed: int = LISTED


def page(
    runs: Sequence[InspectedRun],
    cases: Sequence[InspectedInput],
    form: Form | None = None,
    message: str = "",
    walk: ErrorWalk | None = None,
) -> str:
    """A page about some inputs, with a form if there is a server to answer it.

    Where all inputs of a walk through errors are on the page, links lead from one to the next.
    """
    shown = [
        (case, [view(*run, f"n{number}r{at}") for at, run in enumerate(case.searches.items())])
        for number, case in enumerate(cases)
    ]
    title = " and ".join(run.name for run in runs)
    return str(
        render("inspect.html", title=title, cases=shown, form=form, message=message, walk=walk)
    )


def view(name: str, search: InspectedSearch, key: str) -> View:
    """What a run did with an input; `key` must be unique on the page."""
    small = sum(map(len, search.history.beams)) <= DRAWN
    picture = draw_search(search.history, search.subject.headings, key) if small else None
    plain = search.subject.right
    answers = [
        (answer, answer.marked or unmarked(plain, [answer.text])) for answer in search.answers
    ]
    columns = aligned(search.subject.words, answers[0][1])
    return View(name, search, key, picture, answers, columns, trees_of(search))


def aligned(words: Sequence[str], found: Marked) -> list[Column]:
    """Words with their labels; nothing where there is not one for each."""
    if not words or len(found.output) != len(words):
        return []
    right = found.right if len(found.right) == len(words) else [None] * len(words)
    return [Column(*each) for each in zip(words, right, found.output, strict=True)]


def trees_of(search: InspectedSearch) -> Markup | None:
    """The right tree and that of the output, where outputs are trees."""
    subject, found = search.subject, search.answers[0].arcs
    if found is None or not 0 < len(subject.words) <= ARCS:
        return None
    return draw_trees(subject.words, subject.arcs, found)
