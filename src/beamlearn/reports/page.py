"""The page of a report: one file that needs no other."""

from collections.abc import Sequence

from .pages import render
from .section import Section


def page_of(title: str, sections: Sequence[Section]) -> bytes:
    """The page with these sections; equal ones give equal bytes."""
    return render("report.html", title=title, sections=sections).encode()
