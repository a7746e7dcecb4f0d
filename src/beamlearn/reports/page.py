"""The page of a report: one file that needs no other."""

from collections.abc import Sequence

from .pages import render
from .part import Part


def page_of(title: str, parts: Sequence[Part]) -> bytes:
    """The page with these sections; equal ones give equal bytes."""
    return render("report.html", title=title, parts=parts).encode()
