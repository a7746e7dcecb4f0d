"""A real browser for tests of pages; where there is none, these tests are skipped and say so."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def browser() -> Iterator[Any]:
    """A headless Chromium that the system has, or the one that playwright has installed."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        found = next(filter(None, map(shutil.which, BROWSERS)), None)
        if found is None and not Path(running.chromium.executable_path).exists():
            pytest.skip("There is no Chromium; install it, or run `playwright install chromium`.")
        opened = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def page(opened: Any, **choices: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page, and the addresses that it has asked for."""
    context = opened.new_context(**choices)
    asked: list[str] = []
    try:
        shown = context.new_page()
        shown.on("request", lambda request: asked.append(request.url))
        yield shown, asked
    finally:
        context.close()
