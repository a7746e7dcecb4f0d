"""A walk through errors: which inputs it has, on the page, as text, and by keys."""

import html
import re

import pytest
from browser import browser, page
from inspected_runs import inspected, runs, served
from loopback import ask

from beamlearn.cli.main import run as beamlearn
from beamlearn.reports.inspector import InputRequest
from beamlearn.reports.inspector.error_walk import ErrorWalk, walk_errors

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, module_without_shape_checks):
    return runs(tmp_path_factory.mktemp("walked"))


@pytest.fixture(scope="module")
def one(folder):
    return inspected(folder, "one", width=1)[0]


@pytest.fixture(scope="module")
def walk(one):
    return walk_errors(one, "any")


def diagnoses(run):
    """What the page says of each input."""
    return [run.inspect(InputRequest(1, number=n)).diagnosis for n in range(run.size)]


def test_the_walk_has_what_the_page_calls_errors(one):
    said = diagnoses(one)
    for kind, start in (("any", ""), ("search", "Search error"), ("model", "Model error")):
        found = walk_errors(one, kind)
        expected = [n for n, text in enumerate(said) if text is not None and text.startswith(start)]
        assert list(found.numbers) == expected
        assert (found.examples, found.width) == (9, 1)
    assert len(walk_errors(one, "any").numbers) > 1


def test_from_error_to_error():
    walk = ErrorWalk("model", 3, (1, 4, 6), 9)
    assert [walk.next(n) for n in (None, 0, 1, 5, 6)] == [1, 1, 4, 6, None]
    assert [walk.previous(n) for n in (None, 0, 1, 5, 8)] == [None, None, None, 4, 6]
    assert [walk.place(n) for n in (None, 1, 2, 6)] == [None, 1, None, 3]
    assert walk.summary == "With a beam of 3, 3 of 9 outputs are model errors."
    one = ErrorWalk("any", 1, (1,), 9)
    assert one.summary == "With a beam of 1, 1 of 9 outputs is an error."


def test_links_lead_from_error_to_error(one, walk):
    first, second, *_ = walk.numbers
    with served([one], walk) as url:
        status, text, _ = ask(url)  # without a query, the first error
        text = html.unescape(text)
        assert status == 200
        assert f"Input {first + 1} of 9" in text
        assert walk.summary in text
        assert "This is number 1." in text
        assert f'class="next-error" title="Key: n" href="/?sentence={second + 1}&width=1"' in text
        assert 'class="previous-error"' not in text
        text = html.unescape(ask(f"{url}/?sentence={second + 1}")[1])
        assert (
            f'class="previous-error" title="Key: p" href="/?sentence={first + 1}&width=1"' in text
        )
        typed = ask(f"{url}/?text=the+dog")[1]
        assert f"sentence={first + 1}&amp;width=1" in typed
    with served([one]) as url:
        assert 'class="next-error"' not in ask(url)[1]


def command(folder, *arguments):
    return beamlearn(["inspect", str(folder / "one"), "--width", "1", *arguments])


def test_text_has_the_errors_only(folder, walk, capsys):
    assert command(folder, "--errors", "any", "--text") == 0
    captured = capsys.readouterr()
    shown = [int(number) - 1 for number in re.findall(r"Input (\d+) of 9", captured.out)]
    assert tuple(shown) == walk.numbers
    assert captured.err.strip() == walk.summary
    first, second, *_ = walk.numbers
    assert command(folder, "--errors", "any", "--text", "--sentence", f"1-{second + 1}") == 0
    captured = capsys.readouterr()
    shown = [int(number) - 1 for number in re.findall(r"Input (\d+) of 9", captured.out)]
    assert shown == [first, second]
    if len(walk.numbers) > 2:
        assert "2 of them are shown; choose others with --sentence." in captured.err


def test_an_exported_walk_has_links_within_the_page(folder, walk, tmp_path):
    out = tmp_path / "errors.html"
    assert command(folder, "--errors", "any", "--export", str(out)) == 0
    text = out.read_text(encoding="utf-8")
    count = len(walk.numbers)
    assert text.count('<section class="case"') == count
    assert re.findall(r'class="next-error"[^>]*href="#case-(\d+)"', text) == [
        str(number) for number in range(2, count + 1)
    ]
    assert text.count('class="previous-error"') == count - 1


def test_where_there_are_no_errors_it_says_so(folder, capsys, monkeypatch):
    monkeypatch.setattr("beamlearn.reports.inspector.error_walk.wrong_examples", lambda *_: [])
    for way in (["--text"], ["--no-open"]):
        assert command(folder, "--errors", "search", *way) == 0
        captured = capsys.readouterr()
        assert captured.err.strip() == "With a beam of 1, 0 of 9 outputs are search errors."
        assert captured.out == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--errors", "serch"], "Did you mean 'search'? Known: search, model, any."),
        (["--errors", "any", "--typed", "the dog"], "--errors or --typed can be given, got both"),
    ],
)
def test_what_is_refused(folder, capsys, arguments, sentence):
    assert command(folder, "--text", *arguments) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_errors_need_a_file(folder, capsys):
    assert beamlearn(["inspect", str(folder / "sounds"), "--text", "--errors", "any"]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert "--errors is for reading INPUT, got none, and" in message
    assert "sounds has no validation file that is still there; name the file." in message


# --- in a browser -------------------------------------------------------------------------------


@pytest.mark.slow
def test_keys_lead_from_error_to_error_and_the_page_opens_where_the_best_was_lost(one, walk):
    first, second, *_ = walk.numbers
    with browser() as opened, served([one], walk) as url:
        for viewport in ({"width": 500, "height": 700}, {"width": 1200, "height": 900}):
            with page(opened, viewport=viewport) as (shown, asked):
                shown.goto(url)
                lost = shown.locator(".beam > .node.fall").first
                assert "on" in lost.get_attribute("class").split()
                box, frame = lost.bounding_box(), shown.locator(".beams").bounding_box()
                assert frame["x"] <= box["x"]
                assert box["x"] + box["width"] <= frame["x"] + frame["width"]
                assert shown.evaluate("scrollY") == 0
                with shown.expect_navigation():
                    shown.keyboard.press("n")
                assert f"sentence={second + 1}&" in shown.url
                with shown.expect_navigation():
                    shown.keyboard.press("p")
                assert f"sentence={first + 1}&" in shown.url
                shown.focus('input[name="text"]')
                shown.keyboard.press("n")  # a letter that is typed
                assert shown.input_value('input[name="text"]') == "n"
                assert all(address.startswith(url) for address in asked)


@pytest.mark.slow
def test_keys_on_an_exported_page(folder, tmp_path):
    out = tmp_path / "errors.html"
    assert command(folder, "--errors", "any", "--export", str(out)) == 0
    with browser() as opened, page(opened) as (shown, _):
        shown.goto(out.as_uri())
        for key, place in (("n", 2), ("p", 1)):
            shown.keyboard.press(key)
            shown.wait_for_url(lambda url, place=place: url.endswith(f"#case-{place}"))
            shown.evaluate("() => new Promise((done) => requestAnimationFrame(done))")  # it scrolls
