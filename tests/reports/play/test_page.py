"""The page as a file and as a server has it, and that its examples show what they say."""

import json
import re

import play_script
import pytest
from inspected_runs import ask, listening_to

from beamlearn.check import UsageError
from beamlearn.cli.main import run
from beamlearn.losses import LOSSES
from beamlearn.reports.inspector.server import HEADERS
from beamlearn.reports.play.loss_facts import LossFacts, loss_facts
from beamlearn.reports.play.page import export, page, source
from beamlearn.reports.play.server import server

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")
PRESETS = json.loads(source("presets.json"))
SEARCHED = """(state) => {
  const found = parseState(state, []), nodes = grown(found.tree, found.scores);
  const coins = [...found.coins].map(Number), shown = {};
  for (const strategy of CHOICES.strategy) {
    const choices = { width: found.k, strategy, finish: found.finish, coins };
    const { beams, transitions } = trajectory(nodes[0], choices);
    shown[strategy] = {
      beams: beams.map((beam) => beam.map((node) => node.name).join(" ")),
      costs: beams.map(cheapest),
      increases: transitions.map((one) => one.increase),
      losses: transitions.map((one) => lossAt(found.loss, one).value),
      gradients: transitions.map((one) => lossAt(found.loss, one).gradient),
    };
  }
  return shown;
}"""
READ = """(link) => {
  try { return stateText(parseState(link, PRESETS), PRESETS); } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    return `refused: ${error.message}`;
  }
}"""


def searched(name, **changes):
    """What every strategy does in an example, with some of its choices changed."""
    (preset,) = (one for one in PRESETS if one["name"] == name)
    state = dict(part.split("=") for part in preset["state"].split("&")) | changes
    (found,) = play_script.answers(SEARCHED, ["&".join(f"{k}={v}" for k, v in state.items())])
    return found


def read(*links):
    """Links as the page writes them after it has read them."""
    told = READ.replace("PRESETS", json.dumps(PRESETS))
    return play_script.answers(told, [*links])


# --- the examples --------------------------------------------------------------------------------


def test_a_beam_that_loses_the_target():
    for k, cost in (("2", 2), ("4", 0)):
        path = searched("lost", k=k)["continue"]
        assert (path["increases"][1] > 0) == (cost > 0)
        if cost:
            assert path["costs"][1:] == [0, 1, 2]
    assert searched("lost")["continue"]["losses"][1] == 0.5


def test_a_tie():
    tied = searched("tie")["continue"]
    assert tied["beams"][1] == "A B"
    assert (tied["increases"][0], tied["losses"][0]) == (1, 0)
    assert tied["gradients"][0] == [0, 1, -1]


def test_an_early_terminal():
    padded, first = (searched("early", finish=finish)["continue"] for finish in ("pad", "first"))
    assert (padded["beams"][1:], padded["costs"][-1]) == (["stop go", "stop home", "now"], 0)
    assert (first["beams"][1:], first["costs"][-1]) == (["stop"], 1)


def test_likelihood_does_not_know_the_beam():
    path = searched("likelihood")["continue"]
    assert path["increases"] == [0, 1]
    assert path["losses"] == pytest.approx([1.53, 1.29], abs=0.005)


def test_label_bias():
    tree = "start(A~0.25(a~NUMBER~1),B~0(b~0~1,bb~2~0,bbb~0~1))"
    for number in ("-5", "-3", "5"):
        biased = searched("bias", tree=tree.replace("NUMBER", number))["continue"]
        assert biased["beams"][-1] == "a"
    assert searched("bias", scores="sum")["continue"]["beams"][-1] == "bb"


def test_stop_reset_and_continue_part_ways():
    found = searched("strategies")
    assert len({tuple(one["beams"]) for one in found.values()}) == 5
    assert found["stop"]["beams"] == ["start", "A B"]
    assert found["reset"]["beams"][1] == "C"
    assert found["continue"]["increases"][:2] == [1, 1]


def test_examples_name_only_losses_that_there_are():
    for preset in PRESETS:
        names = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", preset["story"] + preset["try"]))
        assert names <= {*LOSSES}
    links = [f"preset={preset['name']}" for preset in PRESETS]
    assert read(*links) == links


# --- links ---------------------------------------------------------------------------------------


def test_a_link_says_what_is_not_usual():
    link = "k=3&strategy=reset&tree=a%20b(c~-1.25~0,%C3%A9~5~0.5)"
    assert read(link) == [link]
    assert read("preset=tie&k=2&step=2") == ["preset=tie&step=2"]


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("k=2", "neither an example nor a tree"),
        ("preset=nothing", "no example called"),
        ("preset=tie&k=7", "k must be a whole number from 1 to 6"),
        ("preset=tie&k=1.5", "k must be a whole number"),
        ("preset=tie&strategy=best", "strategy must be one of oracle, stop"),
        ("preset=tie&loss=__proto__", "loss must be one of perceptron_first"),
        ("preset=tie&coins=012", "coins must be zeros and ones"),
        ("tree=a", "more than one node"),
        ("tree=a(b~1~1", "not closed"),
        ("tree=a(b~1~1))", "must end at character"),
        ("tree=a(b~9~1)", "at most 5"),
        ("tree=a(" + ",".join(["b"] * 41) + ")", "40 nodes"),
        ("tree=" + "a(" * 8 + "b" + ")" * 8, "6 steps"),
        ("tree=a(thirteenchars)", "12 letters"),
        ("tree=%zz", "percent sign"),
    ],
)
def test_links_that_cannot_be_read(link, reason):
    (told,) = read(link)
    assert told.startswith("refused: ")
    assert reason in told


# --- what is said of the losses ------------------------------------------------------------------


def test_losses_are_presented_as_the_library_declares_them():
    facts = loss_facts()
    assert [fact["name"] for fact in facts] == [*LOSSES]
    assert [fact["number"] for fact in facts] == [6, 7, 8, 9, 10, 11, 12, 16, 17, 18, 19, 20]
    for fact, loss in zip(facts, LOSSES.values(), strict=True):
        declared = (loss.convex, loss.bounds_cost, loss.needs)
        assert (fact["convex"], fact["bounds"], fact["needs"]) == declared
        assert re.fullmatch(r"[^\[\]_]*", fact["equation"]), "all of it is typeset"
        assert fact["summary"] in loss.__doc__
    assert "<sub>k+1</sub>" in facts[4]["equation"]
    assert facts[4]["equation"].count("<br>") == 1


def test_a_loss_without_an_equation_is_refused():
    def nameless():
        """Have no equation."""

    with pytest.raises(ValueError, match="docstring of nameless must have an equation, got none"):
        LossFacts.of(nameless)


# --- as a file, and served -----------------------------------------------------------------------


def test_the_page_needs_nothing_else():
    text = page()
    assert not re.findall(r"(?:src|href)=\"(?!#)[^\"]*\"", text)
    assert not re.findall(r"@import|url\(|fetch\(|XMLHttpRequest|import\(", text)
    assert text.count("http") == text.count("http-equiv") + text.count("http://www.w3.org/2000/svg")
    for name in LOSSES:
        assert f'"name": "{name}"' in text


def test_export(tmp_path, capsys):
    folder = tmp_path / "site" / "play"
    for _ in range(2):
        assert run(["play", "--export", str(folder)]) == 0
        assert "index.html" in capsys.readouterr().err
        assert [file.name for file in folder.iterdir()] == ["index.html"]
        assert (folder / "index.html").read_text("utf-8") == page()


def test_export_replaces_nothing_else(tmp_path, capsys):
    (tmp_path / "index.html").write_text("<title>My own page</title>")
    with pytest.raises(UsageError, match="must be a folder without another page, but it has"):
        export(tmp_path)
    assert (tmp_path / "index.html").read_text() == "<title>My own page</title>"
    assert run(["play", "--export", str(tmp_path / "index.html")]) == 2
    assert "--export must be a folder, but" in capsys.readouterr().err


def test_the_server_has_one_page():
    with listening_to(server()) as url:
        status, text, headers = ask(f"{url}/?anything")
        assert (status, text) == (200, page())
        for name, value in HEADERS.items():
            assert headers[name] == value
        assert ask(f"{url}/favicon.ico")[0] == 204
        status, text, _ = ask(f"{url}/nowhere<script>")
        assert status == 404
        assert text.startswith("The only page is /, got")
        assert ask(url, "POST", b"k=3")[0] == 405
        assert ask(url, Host="evil.example")[0] == 400


def test_without_a_server_the_way_out_is_named(monkeypatch, capsys):
    monkeypatch.setattr("beamlearn.reports.inspector.serve.find_spec", lambda name: None)
    assert run(["play", "--no-open"]) == 2
    told = capsys.readouterr().err
    assert "pip install 'beamlearn[pages]'" in told
    assert "or use --export." in told
