"""The built site in a real browser: no error, no dead link, and a search that needs no server."""

import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from browser import browser, page
from website.repository import ROOT

SITE = ROOT / "build" / "site"
PAGES = (
    "index.html",
    "tutorials/tagger.html",
    "paper_in_pictures.html",
    "reference/losses/upper_bound.html",
    "reference/search.html",
    "reference/commands/train_tag.html",
)
pytestmark = pytest.mark.slow


class Found(HTMLParser):
    """The links and names of a page."""

    def __init__(self):
        super().__init__()
        self.targets, self.names = [], set()

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.targets += [values[key] for key in ("href", "src") if values.get(key)]
        self.names |= {values[key] for key in ("id", "name") if values.get(key)}


@pytest.fixture(scope="module")
def site():
    if not (SITE / "index.html").exists():
        pytest.skip("There is no built site; run `make docs`.")
    return SITE


@pytest.fixture(scope="module")
def shown(site):
    with browser() as opened:
        yield opened


def read(path):
    found = Found()
    found.feed(re.sub(r'srcdoc="[^"]*"', "", path.read_text(encoding="utf-8")))
    return found


def test_no_link_is_dead(site):
    found = {path: read(path) for path in site.rglob("*.html")}
    assert len(found) > 60
    wrong = []
    for path, one in found.items():
        for target in map(urlsplit, map(unescape, one.targets)):
            if target.scheme or target.netloc:
                continue
            there = (path.parent / unquote(target.path)).resolve() if target.path else path
            if not there.exists():
                wrong.append(f"{path.relative_to(site)}: {target.path}")
            elif (
                target.fragment
                and there in found
                and unquote(target.fragment) not in found[there].names
            ):
                wrong.append(f"{path.relative_to(site)}: {target.path}#{target.fragment}")
    assert wrong == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_errors(site, shown, name):
    """It asks nobody but the folder, in the light and in the dark, and fits a narrow screen."""
    narrow = {"width": 380, "height": 800}
    for scheme, viewport in (("light", {"width": 1280, "height": 900}), ("dark", narrow)):
        with page(shown, color_scheme=scheme, viewport=viewport) as (tab, asked):
            errors = []
            tab.on(
                "console",
                lambda told, errors=errors: (
                    errors.append(told.text) if told.type == "error" else None
                ),
            )
            tab.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
            tab.goto((site / name).as_uri())
            tab.wait_for_load_state("load")
            assert errors == []
            assert all(address.startswith(("file:", "data:", "about:")) for address in asked)
            assert tab.locator("h1").first.is_visible()
            wide = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0


def test_search_works_offline(site, shown):
    with page(shown) as (tab, _):
        tab.goto((site / "search.html").as_uri() + "?q=upper_bound")
        tab.wait_for_selector("ul.search li a", timeout=20_000)
        assert "upper_bound" in tab.locator("ul.search").inner_text()
