"""The page in a real browser: what one sees, what a click does, and that nothing leaves."""

import time
from urllib.parse import quote

import pytest
import torch
from browser import browser, page
from inspected_runs import NASTY, inspected, runs, served
from spaces import TableScorer, TaggingSpace

import beamlearn as bl
from beamlearn.reports.search_drawing import Drawing
from beamlearn.tasks.tagging.task import TAGGING

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, module_without_shape_checks):
    return runs(tmp_path_factory.mktemp("inspected"))


@pytest.fixture(scope="module")
def both(folder):
    return inspected(folder, "one", "two", width=1)


@pytest.fixture(scope="module")
def url(both):
    with served(both) as address:
        yield address


@pytest.fixture(scope="module")
def opened():
    with browser() as running:
        yield running


def first_falls(run):
    """Of every input of the file: the step at which the best output is lost, or None."""
    found = []
    for number in range(run.size):
        subject = TAGGING.subject(run.model, run.data, number)
        with torch.no_grad():
            space = run.model.space([subject.example])
            path = bl.beam_trajectory(space, run.model.scorer, 1)
        found.append(path.increased[0].index(True) + 1 if any(path.increased[0]) else None)
    return found


@pytest.mark.slow
def test_the_first_fall_is_where_the_trajectory_says(opened, url, both):
    expected = first_falls(both[0])
    assert any(expected)
    with page(opened) as (shown, asked):
        for number, step in enumerate(expected, 1):
            shown.goto(f"{url}/?sentence={number}&width=1")
            steps = shown.eval_on_selector_all(
                '.run[data-key="n0r0"] .node.fall[data-step]',
                "nodes => nodes.map(node => Number(node.dataset.step))",
            )
            assert (steps[0] if steps else None) == step
        assert all(address.startswith(url) for address in asked)


def test_a_link_leads_to_what_fell(opened, url, both):
    number, step = next((n, s) for n, s in enumerate(first_falls(both[0]), 1) if s is not None)
    with page(opened, viewport={"width": 400, "height": 700}) as (shown, _):
        shown.goto(f"{url}/?sentence={number}&width=1")
        shown.click('.run[data-key="n0r0"] .falls a >> nth=0')
        target = shown.locator(f"#n0r0-fall-{step}")
        assert "on" in target.get_attribute("class").split()
        box, frame = target.bounding_box(), shown.viewport_size
        assert 0 <= box["x"] < frame["width"]
        assert 0 <= box["y"] < frame["height"]


@pytest.mark.slow
@pytest.mark.parametrize("scripts", [True, False])
def test_what_is_typed_is_shown_as_text(opened, url, scripts):
    dialogs = []
    with page(opened, java_script_enabled=scripts) as (shown, asked):
        shown.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        shown.goto(url)
        shown.fill("input[name=text]", NASTY)
        shown.fill("form.typed input[name=width]", "3")
        shown.click("form.typed button")
        assert f"text={quote(NASTY, safe='')}".replace("%20", "+") in shown.url
        words = shown.locator('.run[data-key="n0r0"] .input th[scope=col]').all_text_contents()
        assert " ".join(words) == NASTY
        assert shown.locator("img").count() == 0
        assert shown.input_value("input[name=text]") == NASTY
        assert shown.locator('.run[data-key="n0r0"] .nbest tbody tr').count() == 3
        assert all(address.startswith(url) for address in asked)
    assert dialogs == []


def test_a_click_shows_the_path_of_a_hypothesis(opened, url, both):
    subject = TAGGING.subject(both[0].model, both[0].data, 1)
    steps = len(subject.headings)
    with page(opened) as (shown, _):
        errors = []
        shown.on("pageerror", lambda error: errors.append(error))
        shown.on("console", lambda said: said.type == "error" and errors.append(said.text))
        shown.goto(f"{url}/?sentence=2&width=3")
        before = shown.text_content("#n0r1 .chosen")
        shown.click(f"#n0r0-{steps}-0")
        lit = shown.eval_on_selector_all("#n0r0 .node.on", "nodes => nodes.map(n => n.id)")
        output = shown.locator('.run[data-key="n0r0"] .output td').all_text_contents()
        told = shown.text_content("#n0r0 .chosen")
        assert len(lit) == steps + 1
        assert told.startswith(" ".join(output))
        shown.focus("#n0r0 .beams")
        shown.keyboard.press("ArrowLeft")
        assert shown.locator("#n0r0 .node.on").count() == steps
        shown.keyboard.press("ArrowRight")
        assert shown.locator("#n0r0 .node.on").count() == steps + 1
        assert shown.text_content("#n0r1 .chosen") == before
        assert errors == []


@pytest.mark.slow
def test_previous_and_next(opened, url):
    with page(opened) as (shown, _):
        shown.goto(f"{url}/?sentence=2&width=3")
        shown.click("a[rel=next]")
        assert shown.input_value("input[name=sentence]") == "3"
        assert shown.input_value("form.picked input[name=width]") == "3"
        shown.click("a[rel=prev]")
        shown.fill("input[name=sentence]", "5")
        shown.click("form.picked button")
        assert shown.text_content("h2") == "Input 5 of 9"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1300])
def test_the_page_does_not_scroll_sideways(opened, url, scheme, width):
    with page(opened, viewport={"width": width, "height": 800}, color_scheme=scheme) as (shown, _):
        shown.goto(f"{url}/?sentence=2&width=8")
        assert shown.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_a_large_search_stays_usable(opened, tmp_path, capsys):
    steps, width, tags = 200, 32, 20
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(steps, tags + 1, tags, generator=generator)
    gold = torch.randint(tags, (steps,), generator=generator).tolist()
    path = bl.beam_trajectory(TaggingSpace([gold], tags), TableScorer(table), width)
    file = tmp_path / "large.html"
    history = path.history()
    Drawing(history).write(file)
    with page(opened, viewport={"width": 1300, "height": 900}) as (shown, _):
        began = time.perf_counter()
        shown.goto(file.as_uri())
        shown.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        loaded = time.perf_counter() - began
        drawn = sum(map(len, history.beams)) + len(history.drops)
        assert shown.locator(".beam > .node").count() == drawn
        to_end = shown.evaluate(
            """async () => {
                const beams = document.querySelector(".beams"), began = performance.now();
                beams.scrollLeft = beams.scrollWidth;
                await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
                return performance.now() - began;
            }"""
        )
        click = shown.evaluate(
            f"""async () => {{
                const began = performance.now();
                document.getElementById("a-{steps}-{width - 1}").click();
                await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
                return performance.now() - began;
            }}"""
        )
        assert shown.locator(".node.on").count() == steps + 1
        last = shown.locator(f"#a-{steps}-0").bounding_box()
        assert 0 <= last["x"] < 1300
    with capsys.disabled():
        print(
            f"\n{file.stat().st_size / 1e6:.1f} MB: loaded in {loaded:.2f} s, scrolled to the end "
            f"in {to_end:.0f} ms, a click took {click:.0f} ms"
        )


def test_an_exported_page_needs_no_server(opened, both, tmp_path):
    from beamlearn.reports.inspector import InputRequest, inspect_input
    from beamlearn.reports.inspector.page import page as exported

    file = tmp_path / "page.html"
    file.write_text(
        exported(both, [inspect_input(both, InputRequest(2, number=n)) for n in (0, 1)]), "utf-8"
    )
    with page(opened) as (shown, asked):
        shown.goto(file.as_uri())
        assert shown.locator(".search").count() == 4
        shown.click("#n1r1-1-0")
        assert shown.text_content("#n1r1 .chosen") != ""
        assert asked == [file.as_uri()]
