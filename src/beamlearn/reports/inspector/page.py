"""Inspected searches as a web page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from ..pages import Markup, render
from ..search_drawing import draw_search
from .inspected_run import InspectedInput, InspectedRun
from .inspected_search import Answer, InspectedSearch
from .request import CHARACTERS, WIDEST, InputRequest

DRAWN, LISTED = 40_000, 40
"""The most hypotheses in a picture and drops in a list: what a browser can handle."""


@final
@dataclass(frozen=True)
class Form:
    """What can be chosen on the page, and the current choice."""

    request: InputRequest
    size: int
    """Of the file."""
    widest: int = WIDEST
    longest: int = CHARACTERS

    @property
    def number(self) -> int:
        """The sentence that the form shows, from 1."""
        return 1 if self.request.number is None else self.request.number + 1


@final
@dataclass(frozen=True)
class View:
    """What one run did, ready to be shown."""

    name: str
    search: InspectedSearch
    key: str
    picture: Markup | None
    answers: list[tuple[Answer, list[tuple[str, bool]]]]
    """Each with its tokens, and whether these are as in the right output."""
    listed: int = LISTED


def page(
    runs: Sequence[InspectedRun],
    cases: Sequence[InspectedInput],
    form: Form | None = None,
    message: str = "",
) -> str:
    """A page about some inputs, with a form if there is a server to answer it."""
    shown = [
        (case, [view(*run, f"n{number}r{at}") for at, run in enumerate(case.searches.items())])
        for number, case in enumerate(cases)
    ]
    title = " and ".join(run.name for run in runs)
    return str(render("inspect.html", title=title, cases=shown, form=form, message=message))


def view(name: str, search: InspectedSearch, key: str) -> View:
    """What a run did with an input; `key` must be unique on the page."""
    small = sum(map(len, search.history.beams)) <= DRAWN
    picture = draw_search(search.history, search.subject.headings, key) if small else None
    right = search.subject.right if search.subject.aligned else None
    answers = [(answer, compared(answer.text, right)) for answer in search.answers]
    return View(name, search, key, picture, answers)


def compared(text: str, right: str | None) -> list[tuple[str, bool]]:
    """The tokens of an output; where there are as many right ones, is each of them right?

    >>> compared("D N", "D V"), compared("D N", None)
    ([('D', True), ('N', False)], [('D', True), ('N', True)])
    """
    tokens, expected = text.split(), (right or "").split()
    if len(tokens) != len(expected):
        return [(token, True) for token in tokens]
    return [(token, token == other) for token, other in zip(tokens, expected, strict=True)]
