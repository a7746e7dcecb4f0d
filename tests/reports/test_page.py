"""The page of a report in a real browser."""

import csv
import re
from io import StringIO

import pytest
from browser import browser, page
from tiny_reports import beamlearn_run

pytest.importorskip("matplotlib", reason="needs matplotlib; install beamlearn[pages]")
SIZES = """() => [...document.querySelectorAll("figure svg")].map((drawing) => {
    const box = drawing.getBoundingClientRect();
    return [box.width, box.height];
})"""
SETTLED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Until the events of a scroll are over."""
INK = """() => getComputedStyle(document.querySelector("figure svg text")).fill"""


@pytest.fixture(scope="module")
def opened():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(a_run, compared, module_without_shape_checks, tmp_path_factory):
    """The page of a run and that of a comparison."""
    folder = tmp_path_factory.mktemp("pages")
    made = {"run": a_run, "comparison": compared}
    for name, source in made.items():
        assert beamlearn_run("report", source, "-o", folder / f"{name}.html") == 0
    return {name: (folder / f"{name}.html").as_uri() for name in made}


@pytest.fixture(params=["run", "comparison"])
def address(request, pages):
    return pages[request.param]


def brightness(color):
    """Of "rgb(r, g, b)", from 0 to 255."""
    return sum(map(int, re.findall(r"\d+", color)[:3])) / 3


@pytest.mark.slow
def test_without_scripts_every_figure_is_there(opened, address):
    with page(opened, java_script_enabled=False) as (shown, asked):
        shown.goto(address)
        figures = shown.locator("figure svg")
        assert figures.count() >= 6
        for number in range(figures.count()):
            box = figures.nth(number).bounding_box()
            assert box["width"] > 200
            assert box["height"] > 50
        assert shown.locator("figure svg .mark title").count() >= 20
        assert asked == [address]


def test_nothing_is_fetched_and_nothing_goes_wrong(opened, address):
    wrong = []
    with page(opened) as (shown, asked):
        shown.on("pageerror", lambda error: wrong.append(str(error)))
        shown.on("console", lambda message: wrong.append(message.text))
        shown.on("dialog", lambda dialog: wrong.append(dialog.message))
        shown.goto(address)
        assert all(width > 200 and height > 50 for width, height in shown.evaluate(SIZES))
        assert asked == [address]
    assert not wrong


@pytest.mark.slow
def test_values_appear_where_the_pointer_is(opened, address):
    with page(opened) as (shown, _):
        shown.goto(address)
        assert shown.locator("#tip").is_hidden()
        for figure in ("widths", "blame"):
            mark = shown.locator(f"#figure-{figure} .mark").first
            mark.scroll_into_view_if_needed()
            shown.evaluate(SETTLED)
            box = mark.bounding_box()
            shown.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            assert shown.locator("#tip").is_visible()
            assert shown.locator("#tip").text_content() == mark.get_attribute("aria-label")
            shown.mouse.move(0, 0)
            assert shown.locator("#tip").is_hidden()


@pytest.mark.slow
def test_values_appear_at_keys(opened, address):
    with page(opened) as (shown, _):
        shown.goto(address)
        marks = shown.locator("#figure-widths .mark")
        marks.first.focus()
        shown.evaluate(SETTLED)
        assert shown.locator("#tip").is_visible()
        assert shown.locator("#tip").text_content() == marks.first.get_attribute("aria-label")
        shown.keyboard.press("ArrowRight")
        assert shown.locator("#tip").text_content() == marks.nth(1).get_attribute("aria-label")
        assert shown.evaluate("document.activeElement.getAttribute('tabindex')") == "0"
        shown.keyboard.press("Escape")
        assert shown.locator("#tip").is_hidden()


@pytest.mark.slow
def test_figures_follow_the_colors_of_the_page(opened, address):
    inks = {}
    for scheme in ("light", "dark"):
        with page(opened, color_scheme=scheme) as (shown, _):
            shown.goto(address)
            inks[scheme] = brightness(shown.evaluate(INK))
            shown.emulate_media(media="print")
            assert brightness(shown.evaluate(INK)) < 60
    assert inks["light"] < 60
    assert inks["dark"] > 200


@pytest.mark.slow
def test_numbers_can_be_downloaded_without_scripts(opened, address):
    with page(opened, java_script_enabled=False) as (shown, _):
        shown.goto(address)
        links = shown.locator("a[download]")
        assert links.count() == shown.locator("figure").count()
        for number in range(links.count()):
            with shown.expect_download() as download:
                links.nth(number).click()
            assert download.value.suggested_filename.endswith(".csv")
            text = download.value.path().read_text(encoding="utf-8")
            rows = list(csv.DictReader(StringIO(text, newline=""), strict=True))
            assert rows
            assert all(None not in row and None not in row.values() for row in rows)


def test_rows_of_tables_have_heads(opened, address):
    with page(opened) as (shown, _):
        shown.goto(address)
        heads = shown.locator("tbody tr > th:first-child[scope=row]")
        assert heads.count() == shown.locator("tbody tr").count() > 0
        look = heads.first.evaluate(
            "(e) => [getComputedStyle(e).textAlign, getComputedStyle(e).fontWeight]"
        )
        assert look == ["left", "400"]


def test_a_narrow_screen_needs_no_scrolling_to_the_side(opened, address):
    with page(opened, viewport={"width": 400, "height": 800}) as (shown, _):
        shown.goto(address)
        assert shown.evaluate("document.documentElement.scrollWidth") <= 400
