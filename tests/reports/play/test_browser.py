"""The page in a real browser, by mouse, by keyboard and by finger; nothing leaves it."""

import re
from contextlib import contextmanager

import pytest
from browser import browser, page
from inspected_runs import listening_to

from beamlearn.reports.play.page import export
from beamlearn.reports.play.server import server

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("module_without_shape_checks")]
RIGHT, RIVAL = "N V", "N N"
"""In the first example: the reading that drops out, and the one that has the last slot."""


@pytest.fixture(scope="module")
def opened(module_without_shape_checks):
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def address(tmp_path_factory, module_without_shape_checks):
    return export(tmp_path_factory.mktemp("played")).as_uri()


@contextmanager
def playing(opened, url, state="preset=lost", **choices):
    """The page with a link; it must ask for nothing but itself, and report no error."""
    errors = []
    with page(opened, **choices) as (shown, asked):
        shown.on("pageerror", lambda error: errors.append(str(error)))
        shown.on("console", lambda said: said.type == "error" and errors.append(said.text))
        shown.goto(f"{url}#{state}")
        shown.wait_for_selector("#tree svg")
        yield shown
        assert errors == []
        assert {one.partition("#")[0].rstrip("/") for one in asked} == {url}


def slider(shown, name, kind="Score"):
    return shown.get_by_role("slider", name=f"{kind} of {name}", exact=True)


def value(shown, name, kind="Score"):
    return float(slider(shown, name, kind).get_attribute("aria-valuenow"))


def link(shown):
    """The address, once the page has written it."""
    shown.evaluate(
        """() => new Promise((done) => {
            const look = () => (writing === null ? done() : setTimeout(look, 20));
            look();
        })"""
    )
    return shown.url


def losses(shown):
    rows = shown.locator("#loss-rows tr")
    names = rows.evaluate_all("rows => rows.map(row => row.dataset.loss)")
    return dict(zip(names, rows.locator(".value").all_text_contents(), strict=True))


def beam(shown, step):
    return shown.locator(f"#tree [data-go='{step}']").get_attribute("aria-label")


def drag(shown, name, right):
    """Press the knob of a score and move the mouse to the right, in several moves."""
    slider(shown, name).scroll_into_view_if_needed()
    knob = slider(shown, name).locator(".knob").bounding_box()
    x, y = knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2
    shown.mouse.move(x, y)
    shown.mouse.down()
    for part in (0.3, 0.7, 1.0):
        shown.mouse.move(x + right * part, y)
    shown.mouse.up()


def test_a_drag_changes_beam_losses_and_link(opened, address):
    with playing(opened, address) as shown:
        before, address_before = losses(shown), link(shown)
        assert beam(shown, 3) == "Beam 3: ADJ N and N N; cost 1"
        assert before["perceptron_last"] == "0.5"
        drag(shown, RIGHT, 40)
        assert value(shown, RIGHT) > value(shown, RIVAL)
        kept = beam(shown, 3)
        assert (RIGHT in kept, RIVAL in kept, kept.endswith("cost 0")) == (True, False, True)
        after = losses(shown)
        assert after["perceptron_last"] == "0"
        assert all(after[name] != before[name] for name in ("log_loss_neighbors", "upper_bound"))
        assert "The cost does not rise" in shown.text_content("#verdict")
        assert f"Score of {RIGHT}: " in shown.text_content("#live")
        dragged = link(shown)
        assert dragged != address_before
        shown.click("[data-do=undo]")
        assert (losses(shown), link(shown)) == (before, address_before), "a drag is undone at once"
        shown.click("[data-do=redo]")
        assert losses(shown) == after
        shown.click("[data-do=reset]")
        assert losses(shown) == before
    with playing(opened, address, dragged.partition("#")[2]) as shown:
        assert losses(shown) == after


def test_all_by_keyboard(opened, address):
    with playing(opened, address) as shown:
        before = losses(shown)
        for _ in range(80):
            shown.keyboard.press("Tab")
            label = shown.evaluate("document.activeElement.getAttribute('aria-label')")
            if label == f"Score of {RIGHT}":
                break
        focused = slider(shown, RIGHT)
        ring = focused.locator(".ring").evaluate("ring => getComputedStyle(ring).stroke")
        assert ring != "none", "what has the focus can be seen"
        for _ in range(3):
            shown.keyboard.press("ArrowUp")
        assert value(shown, RIGHT) == 1.75
        assert focused.evaluate("slider => slider === document.activeElement")
        assert "N V: 1.75. Beam 2." in shown.text_content("#live")
        assert losses(shown)["perceptron_last"] == "0"
        shown.keyboard.press("Control+z")
        assert (value(shown, RIGHT), losses(shown)) == (1, before), "three quick presses are one"
        shown.keyboard.press("End")
        assert value(shown, RIGHT) == 5
        shown.keyboard.press("Enter")
        shown.keyboard.type("-1.5")
        shown.keyboard.press("Enter")
        assert value(shown, RIGHT) == -1.5
        shown.locator("#tree [data-go='3']").focus()
        shown.keyboard.press("Enter")
        assert shown.text_content("#step-value") == "beam 3 of 4"
        slider(shown, "N V DET", "Cost").focus()
        shown.keyboard.press("PageUp")
        assert value(shown, "N V DET", "Cost") == 1
        shown.keyboard.press("Delete")
        assert slider(shown, "N V DET", "Cost").count() == 0
        assert shown.evaluate("document.activeElement.dataset.do") == "add"


def test_a_typed_number_is_kept_within_limits(opened, address):
    with playing(opened, address) as shown:
        slider(shown, RIGHT).click()
        shown.fill("#chosen [data-type=score]", "99")
        shown.keyboard.press("Enter")
        assert value(shown, RIGHT) == 5
        assert shown.input_value("#chosen [data-type=score]") == "5"


def test_a_loss_shows_its_equation_and_gradient(opened, address):
    with playing(opened, address) as shown:
        pushed = "#tree .push"
        assert shown.locator(pushed).count() == 2
        shown.hover("tr[data-loss=log_loss_neighbors]")
        assert shown.locator(pushed).count() == 4
        assert "log Σ" in shown.text_content(".equation")
        shown.hover("h1")
        assert shown.locator(pushed).count() == 2
        shown.focus("button[data-loss=weighted_pairs_all]")
        shown.keyboard.press("Enter")
        assert "loss=weighted_pairs_all" in link(shown)
        told = shown.text_content("tr[data-loss=perceptron_last] .said")
        assert told == f"raises {RIGHT}, lowers {RIVAL}"


def test_strategies_coins_and_learning(opened, address):
    with playing(opened, address, "preset=strategies") as shown:
        beams = {}
        for name in ("oracle", "stop", "reset", "continue", "interpolate"):
            shown.click(f"th button[data-way={name}]")
            beams[name] = [beam(shown, 2), shown.locator("#tree [data-go]").count()]
        assert beams["stop"] == ["Beam 2: A and B; cost 1", 2]
        assert beams["reset"] == ["Beam 2: C; cost 0", 4]
        shown.click("[data-coin='0']")
        assert beam(shown, 2) == "Beam 2: A and B; cost 1"
        shown.click("button[data-loss=upper_bound]")
        shown.hover("tr[data-loss=weighted_pairs_all]")
        total = "tr[data-loss=upper_bound] .along"
        before = float(shown.text_content(total))
        for _ in range(8):
            shown.click("[data-do=learn]")
        assert float(shown.text_content(total)) < before / 2
        shown.select_option("#finish", "first", force=True)
        assert "finish=first" in link(shown)


def test_nodes_are_added_and_removed(opened, address):
    with playing(opened, address, "preset=tie") as shown:
        slider(shown, "C").focus()
        shown.keyboard.press("Insert")
        assert value(shown, "C a", "Cost") == 1
        slider(shown, "C a").focus()
        shown.keyboard.press("Insert")
        assert slider(shown, "C a a").count() == 1
        assert slider(shown, "C a", "Cost").count() == 0, "only leaves have costs of their own"
    many = ",".join(f"{one}(a,b,c)" for one in "ABCDEFGH") + ")"
    with playing(opened, address, f"tree=start({many}") as shown:
        for name in "ABCDEFGH":
            slider(shown, name).focus()
            shown.keyboard.press("Insert")
        assert shown.locator("#tree [data-node]").count() == 40
        assert "may have 40 nodes" in shown.text_content("#live")


@pytest.mark.parametrize("bad", ["preset=nothing", "tree=%3Cimg%20src=x%3E", "tree=%zz"])
def test_a_link_that_cannot_be_read_is_named(opened, address, bad):
    with playing(opened, address, bad) as shown:
        assert shown.text_content("#message").startswith("This link cannot be read: ")
        assert shown.locator("img").count() == 0
        assert link(shown).endswith("#preset=lost")


@pytest.mark.parametrize(("scheme", "width"), [("light", 380), ("dark", 800), ("light", 1400)])
def test_the_page_fits(opened, address, scheme, width):
    size, deep = {"width": width, "height": 800}, "k=6&tree=a(b(c(d(e(f(longname~-5~5))))))"
    with playing(opened, address, deep, viewport=size, color_scheme=scheme) as shown:
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        ink, paper = shown.evaluate(
            "['color', 'backgroundColor'].map((one) => getComputedStyle(document.body)[one])"
        )
        assert (brightness(ink) < brightness(paper)) == (scheme == "light")


def brightness(color):
    return sum(map(int, re.findall(r"\d+", color)[:3]))


def test_by_finger_and_without_motion(opened, address):
    phone = {"width": 380, "height": 800}
    with playing(opened, address, viewport=phone, has_touch=True, reduced_motion="reduce") as shown:
        moving = shown.eval_on_selector_all(
            ".fill, .entry",
            "all => all.filter(one => getComputedStyle(one).transitionProperty !== 'none').length",
        )
        assert moving == 0
        slider(shown, RIGHT).scroll_into_view_if_needed()
        box = slider(shown, RIGHT).locator(".ring").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        touch = shown.context.new_cdp_session(shown)
        for kind, dx in (("touchStart", 0), ("touchMove", 8), ("touchMove", 16), ("touchEnd", 0)):
            points = [] if kind == "touchEnd" else [{"x": x + dx, "y": y}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        assert value(shown, RIGHT) > 1.5


def test_served(opened):
    with listening_to(server()) as url, playing(opened, url, "preset=tie") as shown:
        slider(shown, "C").focus()
        shown.keyboard.press("ArrowRight")
        assert beam(shown, 2) == "Beam 2: A and C; cost 0"
