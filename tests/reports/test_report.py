"""`beamlearn report`: what the page says, and what is refused."""

import base64
import csv
import dataclasses
import html
import json
import re
import shlex
import shutil
from io import StringIO
from itertools import pairwise
from math import inf, isfinite, nan
from statistics import mean
from xml.etree import ElementTree

import pytest
import torch
from tiny_reports import HOSTILE, SMALL, beamlearn_run, make_comparison, make_run

from beamlearn.cli.jobs.report import certified
from beamlearn.comparison.results import read_comparison
from beamlearn.evaluation.calibration import Bin
from beamlearn.evaluation.error_profile import ErrorProfile
from beamlearn.evaluation.metric import Metric
from beamlearn.evaluation.significance import sign_flip_test
from beamlearn.reports import figure_file as drawing
from beamlearn.reports.comparison_report import best_places, by_width
from beamlearn.reports.configuration import train_command
from beamlearn.reports.curves import Log, compared_curves, learning_curves
from beamlearn.reports.curves import mean as window_mean
from beamlearn.reports.error_figures import BINS, binned, blamed, by_position
from beamlearn.reports.figure import canvas
from beamlearn.reports.page import page_of
from beamlearn.reports.reliability import calibrated, trusted
from beamlearn.reports.run_report import Tested as OnFile
from beamlearn.reports.run_report import best_width, measured, worth
from beamlearn.reports.section import Section, Table
from beamlearn.reports.widths import WidthGrid, against_width, both_widths, grids_of
from beamlearn.reports.wording import wider
from beamlearn.tasks.experiment import read_experiment
from beamlearn.tasks.loading import load
from beamlearn.tasks.registry import task_named
from beamlearn.training.run import Run

pytest.importorskip("matplotlib", reason="needs matplotlib; install beamlearn[pages]")
ACCURACY = Metric("accuracy", "accuracy")
WRONG = Metric("wer", "wrong outputs", lower=True)
PROVEN = [
    *("--model", "linear", "--buckets", 64, "--loss", "upper_bound", "--optimizer", "gradient"),
    *("--radius", 4, "--stream", "--reduction", "mean", "--epochs", 1),
]


@pytest.fixture(autouse=True)
def quick(no_shape_checks):
    """The command line runs without the tests' shape checks, as for users."""


def written(folder, out, *more):
    assert beamlearn_run("report", folder, "-o", out, *more) == 0
    return out.read_text(encoding="utf-8")


def parts(text):
    """The sections of a page by their names."""
    return dict(re.findall(r'<section id="(\w+)">(.*?)</section>', text, re.DOTALL))


def told(section):
    return [html.unescape(one) for one in re.findall(r"<p>(.*?)</p>", section, re.DOTALL)]


def data_of(text):
    """The numbers behind each figure."""
    found = {}
    for name, link in re.findall(r'download="([\w-]+).csv" href="data:[^,]*,([^"]*)"', text):
        rows = csv.DictReader(StringIO(base64.b64decode(link).decode(), newline=""))
        found[name] = list(rows)
    return found


def test_a_run(a_run, tmp_path, capsys):
    text = written(a_run, tmp_path / "page.html", "--test", a_run.parent / "test.conllu")
    assert "The report is in" in capsys.readouterr().err
    found = parts(text)
    assert list(found) == [
        *("summary", "learning", "widths", "positions", "blame", "labels", "diagnosis"),
        *("reliability", "again"),
    ]
    assert (
        beamlearn_run(
            *("evaluate", a_run, a_run.parent / "test.conllu", "--width", "1,2,4,8", "--json")
        )
        == 0
    )
    rows = json.loads(capsys.readouterr().out)["results"]
    rates = {row["width"]: row["accuracy"] for row in rows}
    what, number, wide = told(found["summary"])
    assert "trained on train.conllu for 3 epochs with the strategy continue, the loss " in what
    assert "likelihood + 0.3 x log_loss_neighbors(best='all')" in what
    assert what.endswith("and a beam of 2.")
    assert f"(14 examples), accuracy is {100 * rates[2]:.2f} % with a beam of 2." in number
    if f"{rates[1]:.4f}" == f"{rates[8]:.4f}":
        assert "Accuracy is the same with a beam of 8 as with 1" in wide
    else:
        assert f"{100 * rates[8]:.2f} % against {100 * rates[1]:.2f} %" in wide
        assert ("higher" in wide) == (rates[8] > rates[1])
    assert '<th scope="row">search errors, of those that could be better</th>' in found["summary"]
    assert "<h1>Report on run</h1>" in text
    assert f"--out {a_run}-again" in found["again"]
    data = data_of(text)
    assert {int(float(row["width"])): float(row["accuracy"]) for row in data["widths"]} == {
        width: pytest.approx(100 * rate) for width, rate in rates.items()
    }
    assert all(
        int(row["right"]) + int(row["search_errors"]) + int(row["model_errors"]) == 14
        for row in data["blame"]
    )


@pytest.mark.slow
def test_the_diagnosis_of_a_run(a_run, tmp_path, capsys):
    test = a_run.parent / "test.conllu"
    text = written(a_run, tmp_path / "page.html", "--test", test, "--widths", "1,8")
    capsys.readouterr()
    assert beamlearn_run("diagnose", a_run, test, "--widths", "1,8", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    section, data = parts(text)["diagnosis"], data_of(text)
    assert told(section)[-1] == found["verdict"]["text"]
    assert "trained with a beam of 2" in told(section)[-1]
    assert '<th scope="row">fell out of the beam</th>' in section
    fates = {(row["line"], row["width"]): int(row["examples"]) for row in data["fates"]}
    for row in found["widths"]:
        assert fates["fell out of the beam", str(row["width"])] == row["fallen"]
        assert fates["on the final list, but not on top", str(row["width"])] == row["listed"]
        assert fates["on top", str(row["width"])] == row["right"]
        falls = [
            int(one["falls"]) for one in data["falls"] if one["line"] == f"beam {row['width']}"
        ]
        assert falls == (row["fallen_in"] if row["fallen"] else [])


def test_a_wider_beam_is_tested_on_the_costs(a_run, tmp_path):
    text = written(a_run, tmp_path / "page.html", "--widths", "3,1")
    sentence = told(parts(text)["summary"])[-1]
    model, experiment = load(a_run)
    kind = task_named("tag")
    data = kind.read(experiment.data.dev, experiment)
    one, three = (kind.report(model, data, k).evaluation.costs for k in (1, 3))
    p = float(sign_flip_test((three - one).double()[None]))
    if torch.equal(one, three):
        assert sentence.endswith("No output has a different cost.")
    else:
        assert f"changes by {float((three - one).mean()):+.4f} on average" in sentence
        assert (f"p = {p:.3f}" if p >= 0.001 else "p < 0.001") in sentence
        assert ("is significant" in sentence) == (p < 0.05)


def test_the_same_at_all_widths(a_run):
    """Nothing is best, and nothing is tested."""
    model, experiment = load(a_run)
    data = task_named("tag").read(experiment.data.dev, experiment)
    one = task_named("tag").report(model, data, 1)
    two = dataclasses.replace(one, width=2, profile=dataclasses.replace(one.profile, width=2))
    tested = OnFile("f", True, len(data), [one, two], Table((), ()), 2)
    number = f"{100 * one.accuracy:.2f} %."
    assert worth(tested, ACCURACY) == (
        f"Accuracy is the same with a beam of 2 as with 1: {number} No output has a different cost."
    )
    (sentence,) = measured(experiment, tested)[0].sentences
    assert sentence.startswith(f"Accuracy is the same with all widths: {number}")


def test_widths_that_are_equally_good():
    assert best_width(ACCURACY, {1: 0.5, 2: 0.75, 8: 0.75}) == (
        "accuracy is best with beams of 2 and 8: 75.00 %."
    )
    assert best_width(WRONG, {1: 0.5, 2: 0.75}) == (
        "the share of wrong outputs is best with a beam of 1: 50.00 %."
    )


@pytest.mark.slow
def test_a_run_is_named_wherever_one_stands(a_run, tmp_path, monkeypatch):
    for place, given, again in (
        (a_run, ".", "../run-again"),
        (a_run.parent, "run", "run-again"),
        (a_run.parent.parent, f"{a_run.parent.name}/run/", f"{a_run.parent.name}/run-again"),
        (a_run / "checkpoint", "..", "../../run-again"),
    ):
        place.mkdir(exist_ok=True)
        monkeypatch.chdir(place)
        text = written(given, tmp_path / "page.html", "--widths", "1")
        assert "<h1>Report on run</h1>" in text
        (command,) = re.findall(r"<pre>(beamlearn train .*?)</pre>", text)
        assert shlex.split(html.unescape(command))[-2:] == ["--out", again]


def test_the_curves_are_those_of_the_log(a_run, tmp_path):
    data = data_of(written(a_run, tmp_path / "page.html", "--widths", "1"))
    log = Log.of(Run.open(a_run).rounds())
    assert [float(row["loss"]) for row in data["curve-loss"]] == [
        pytest.approx(line["loss"]) for line in log.rounds
    ]
    costs = [line["validation_cost"] for line in log.validations]
    assert [float(row["validation_cost"]) for row in data["validation"]] == costs
    assert log.best == costs.index(min(costs))


def test_epochs_are_compared_with_each_other(a_run):
    log = Log.of(Run.open(a_run).rounds())
    first, last = log.rounds[:3], log.rounds[-3:]
    assert [line["round"] for line in log.validations] == [3, 6, 9]
    sentence = learning_curves(log).sentences[0]
    told_losses = [f"{window_mean(part, 'loss'):.4g}" for part in (first, last)]
    assert (
        "From the first epoch to the last, the loss per example went from "
        f"{told_losses[0]} to {told_losses[1]}," in sentence
    )


def test_many_rounds_are_put_together():
    lines = [
        {"round": t, "examples": 1 + t % 3, "loss": float(t), "increases": 0.0, "on_policy": 0.5}
        for t in range(1, 1001)
    ]
    part = learning_curves(Log.of(lines))
    rows = part.figures[0].rows
    assert len(rows) == 100
    assert rows[0]["round"] == 5.5
    weights = [line["examples"] for line in lines[:10]]
    expected = sum(w * t for w, t in zip(weights, range(1, 11), strict=True)) / sum(weights)
    assert rows[0]["loss"] == pytest.approx(expected) == window_mean(lines[:10], "loss")
    assert "the mean of 10 rounds" in part.sentences[0]
    assert [figure.name for figure in part.figures][2] == "curve-on_policy"
    assert learning_curves(Log.of([])) is None


def validations(*costs):
    """A log in which the cheapest epoch so far is the best one."""
    least, lines = inf, []
    for epoch, cost in enumerate(costs, 1):
        lines.append({"epoch": epoch, "validation_cost": cost, "best": cost <= least})
        least = min(least, cost) if isfinite(cost) else least
    return lines


def test_the_model_is_that_of_the_last_epoch_that_was_best():
    lines = [
        {"epoch": epoch, "validation_cost": cost, "best": best}
        for epoch, cost, best in ((0, 1.0, True), (1, 2.0, True), (2, 0.5, False))
    ]
    assert Log.of(lines).best == 1


def test_the_best_epoch_in_words():
    lines = validations(3.0, 1.5, 2.0)
    (sentence,) = learning_curves(Log.of(lines)).sentences
    assert sentence == (
        "The model is that of epoch 2, whose cost on the validation set is 1.5; after the last "
        "epoch it is 2."
    )
    assert "that is the last epoch" in learning_curves(Log.of(lines[:2])).sentences[0]
    only = learning_curves(Log.of([{**ROUND, "round": 1}, {**lines[0], "round": 1}]))
    assert "There was one validation, with a cost of 3 per example." in only.sentences


def test_only_several_epochs_might_gain_from_more():
    def log(*costs):
        return Log.of([{"epoch": e, "validation_cost": c} for e, c in enumerate(costs, 1)])

    (only,) = compared_curves({"a": [log(2.0)], "b": [log(2.0), log(2.0)]}).sentences
    assert only == "The lowest mean cost on the validation set is 2 per example, with a and b."
    for logs, sentence in (
        ({"a": [log(2.0)], "b": [log(2.0, 1.0)]}, "Of 1 way to train for several epochs, 1 was b"),
        ({"a": [log(1.0, 2.0)], "b": [log(2.0, 3.0)]}, "Of 2 ways .*, none was best after its la"),
        ({"a": [log(2.0, 1.0)], "b": [log(3.0, 2.0)]}, "Of 2 ways .*, 2 were best .* may help"),
    ):
        assert re.match(sentence, compared_curves(logs).sentences[1])


@pytest.mark.parametrize("losses", [(nan, 1.0), (inf, 1.0), (-3.0, -2.0), (-1.0, 1.0), (nan, nan)])
def test_any_loss_is_drawn_as_far_as_it_can_be(losses):
    lines = [{**ROUND, "round": t, "loss": loss} for t, loss in enumerate(losses, 1)]
    drawn = learning_curves(Log.of(lines)).figures[0]
    finite = [loss for loss in losses if isfinite(loss)]
    assert [row["loss"] for row in drawn.rows] == finite
    assert drawn.svg.count('class="mark"') == len(finite)


def test_a_validation_that_is_not_finite_is_not_the_best():
    costs = (nan, 2.0, 1.0, inf)
    log = Log.of(validations(*costs))
    assert log.best == 2
    part = learning_curves(log)
    assert "The model is that of epoch 3, whose cost" in part.sentences[0]
    assert [row["epoch"] for row in part.figures[0].rows] == [2, 3]
    assert compared_curves({"a": [log]}).figures[0].rows == part_rows("a", {2: 2.0, 3: 1.0})
    assert compared_curves({"a": [Log.of([{"epoch": 1, "validation_cost": nan}])]}) is None


def part_rows(line, costs):
    return tuple({"line": line, "epoch": e, "validation_cost": c} for e, c in costs.items())


def test_an_epoch_without_rounds():
    lines = [{**ROUND, "round": t} for t in (1, 2, 3)]
    ends = [{**line, "round": 3} for line in validations(1.0, 1.0)]
    assert (
        "From the first tenth of the rounds" in learning_curves(Log.of(lines + ends)).sentences[0]
    )


ROUND = {"examples": 2, "loss": 1.0, "increases": 1.0, "on_policy": 1.0}


def test_a_comparison(compared, tmp_path):
    text = written(compared, tmp_path / "page.html")
    found, known = parts(text), read_comparison(compared)
    assert list(found) == [
        *("summary", "learning", "widths", "grid", "positions", "blame", "reliability", "again")
    ]
    means = {
        (cell, width): mean(known.values(cell, width))
        for cell in known.cells
        for width in known.widths
    }
    cell, width = max(means, key=means.get)
    best = told(found["summary"])[1]
    assert re.sub(r" \(\d+ others? (is|are) equally good\)", "", best).startswith(
        f"The best is {cell} with a beam of {width}: accuracy {100 * means[cell, width]:.2f} %."
    )
    assert not re.search(r"\b(helps|hurts)\b", " ".join(told(found["summary"] + found["widths"])))
    test = known.test_of(cell, width)
    if test is None:
        assert "This is the baseline itself." in best
    else:
        assert ("costs significantly" in best) == (test.adjusted < 0.05)
        assert f"{test.difference:+.4f} per example" in best
    assert html.unescape(found["again"]).count(known.command) == 1
    data = data_of(text)
    assert {
        (row["line"], int(float(row["width"]))): float(row["accuracy"]) for row in data["widths"]
    } == {place: pytest.approx(100 * rate) for place, rate in means.items()}
    assert {row["line"] for row in data["grid0"]} == {"continue-2", "continue-3"}
    assert len(data["blame"]) == len(known.cells) * 3
    assert sum(int(row["right"]) for row in data["blame"]) >= 0
    assert all(
        int(row["right"]) + int(row["search_errors"]) + int(row["model_errors"]) == 28
        for row in data["blame"]
    )
    for cell in known.cells:
        assert f'<th scope="row">{cell}</th>' in found["summary"]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda one: one.pop("bins"), "must have 'bins', got none"),
        (lambda one: one.update(right="many"), "invalid literal"),
        (lambda one: one.update(bins=[[1.0]]), "not enough values"),
        (lambda one: one.update(bins=one["bins"][:3]), "zip"),
        (lambda one: one.update(steps_at=None), "not iterable"),
    ],
)
def test_a_damaged_profile(compared, tmp_path, capsys, damage, sentence):
    copy = tmp_path / "copy"
    shutil.copytree(compared, copy)
    path = copy / "continue-2-seed1" / "metrics.json"
    metrics = json.loads(path.read_text())
    damage(metrics["profiles"][1])
    path.write_text(json.dumps(metrics))
    assert beamlearn_run("report", copy) == 2
    error = capsys.readouterr().err
    assert str(path) in "".join(error.split())
    assert re.search(
        f"has a damaged profile .*{sentence}.*; delete this file", " ".join(error.split())
    )


def test_the_advice_fixes_a_damaged_profile(compared):
    path = compared / "continue-2-seed1" / "metrics.json"
    before = json.loads(path.read_text())
    path.unlink()
    make_comparison(compared.parent)
    assert json.loads(path.read_text())["profiles"] == before["profiles"]


def test_differences_between_widths_are_told_as_such(compared):
    known = dataclasses.replace(read_comparison(compared), widths=[1, 2])
    values = {"a": {1: [0.5], 2: [0.75]}, "b": {1: [0.5], 2: [0.25]}, "c": {1: [0.5], 2: [0.5]}}
    untested = "; this difference was not tested for significance."
    assert by_width(known, values) == [
        f"With a beam of 2 rather than 1, accuracy is higher for a and lower for b{untested}"
    ]
    assert by_width(known, {"a": values["a"]}) == [
        f"For a, accuracy is higher with a beam of 2 than with 1: 75.00 % against 50.00 %{untested}"
    ]
    wrong = dataclasses.replace(known, metric=WRONG)
    assert by_width(wrong, {"c": values["c"], "d": values["c"]}) == [
        "With a beam of 2 rather than 1, the share of wrong outputs is the same for all."
    ]
    assert best_places(known, values | {"d": values["a"]}) == [("a", 2), ("d", 2)]


def test_an_old_comparison_has_no_profiles(compared, tmp_path):
    old = tmp_path / "old"
    shutil.copytree(compared, old)
    for path in old.glob("*/metrics.json"):
        metrics = json.loads(path.read_text())
        del metrics["profiles"]
        path.write_text(json.dumps(metrics))
    found = parts(written(old, tmp_path / "page.html"))
    assert list(found) == ["summary", "learning", "widths", "grid", "profiles", "again"]
    assert "have no profiles" in told(found["profiles"])[0]


def test_a_comparison_without_its_trainings(compared, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("compare.json", "results.jsonl"):
        shutil.copy(compared / name, bare)
    assert list(parts(written(bare, tmp_path / "page.html"))) == [
        *("summary", "widths", "grid", "profiles", "again")
    ]


def test_nothing_finished(compared, tmp_path):
    about = json.loads((compared / "compare.json").read_text())
    about |= {"failed": {"continue-2-seed0": "It broke <b>off</b>."}, "tests": []}
    (tmp_path / "compare.json").write_text(json.dumps(about))
    (tmp_path / "results.jsonl").write_text("")
    text = written(tmp_path, tmp_path / "page.html")
    assert "No training is finished yet." in text
    assert "It broke &lt;b&gt;off&lt;/b&gt;." in text


@pytest.mark.slow
def test_equal_folders_give_equal_pages(compared, a_run, tmp_path):
    for folder in (compared, a_run):
        one, two = (written(folder, tmp_path / name) for name in ("one.html", "two.html"))
        steady = re.compile(r'<th scope="row">words/s</th>.*?</tr>', re.DOTALL)
        assert steady.sub("", one) == steady.sub("", two)
    assert one  # what differs is how fast the machine was


def test_names_are_text_whatever_they_look_like(compared, tmp_path):
    hostile = tmp_path / "hostile"
    shutil.copytree(compared, hostile)
    for name in ("compare.json", "results.jsonl"):
        path = hostile / name
        renamed = path.read_text().replace('"continue-2"', json.dumps(HOSTILE))
        path.write_text(renamed)
    (hostile / "continue-2-seed0").rename(hostile / "gone")
    text = written(hostile, tmp_path / "page.html")
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt; $x$" in text
    assert f'"{HOSTILE}"' not in text
    figures, found = re.findall(r"<svg.*?</svg>", text, re.DOTALL), []
    for figure in figures:
        root = ElementTree.fromstring(figure)
        labels = [element.text for element in root.iter() if element.tag.endswith("text")]
        found += [label for label in labels if label and "onerror" in label]
    assert HOSTILE in found
    assert all(label.startswith(HOSTILE) for label in found)


def test_of_several_figures_no_two_have_the_same_names(compared, tmp_path):
    text = written(compared, tmp_path / "page.html")
    names = re.findall(r'\bid="([^"]*)"', text)
    assert len(names) == len(set(names))
    used = re.findall(r'href="#([^"]*)"', text) + re.findall(r"url\(#([^)]*)\)", text)
    assert set(used) <= set(names)
    assert not re.search(r"#fe00[0-9a-f]{2}", text)
    assert "<style" not in text.partition("<body")[2]


@pytest.mark.slow
def test_the_page_is_that_of_the_folder_unless_told_otherwise(a_run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(a_run, copy)
    assert beamlearn_run("report", copy, "--widths", "1") == 0
    assert (copy / "report.html").read_text().startswith("<!doctype html>")
    assert beamlearn_run("report", copy, "--widths", "1", "-o", tmp_path / "new" / "a.html") == 0
    assert (tmp_path / "new" / "a.html").exists()


@pytest.mark.slow
def test_a_validation_file_that_was_changed(a_run, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(a_run, copy)
    config = json.loads((copy / "config.json").read_text())
    dev = tmp_path / "dev.conllu"
    text = next(a_run.parent.glob("*$x$.conllu")).read_text()
    (copy / "config.json").write_text(
        json.dumps({**config, "data": {**config["data"], "dev": str(dev)}})
    )
    for more, same in (("", True), (text, False)):
        dev.write_text(text + more)
        page = written(copy, tmp_path / "page.html", "--widths", "1")
        assert ("also used to choose the best epoch" in page) == same
        assert ("has changed since the training" in capsys.readouterr().err) != same


def test_without_a_validation_file_there_is_a_sentence(a_run, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(a_run, copy)
    config = json.loads((copy / "config.json").read_text())
    for dev, sentence in (
        (None, "no validation file of its own; give one with right answers as --test FILE"),
        (str(tmp_path / "gone.conllu"), "its validation file cannot be read"),
    ):
        config["data"]["dev"] = dev
        (copy / "config.json").write_text(json.dumps(config))
        found = parts(written(copy, tmp_path / "page.html"))
        assert list(found) == ["summary", "learning", "again"]
        assert sentence in told(found["summary"])[-1]
        assert sentence in capsys.readouterr().err
    (copy / "model.safetensors").unlink()
    found = parts(written(copy, tmp_path / "page.html"))
    assert "No epoch of the training has ended yet" in told(found["summary"])[-1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["{out}"], "must be a run folder or hold a comparison, but neither config.json nor"),
        (["{run}", "--test", "{out}/nowhere.conllu"], "There is no such file"),
        (["{run}", "--widths", "0"], "--widths must be whole numbers of at least 1, as in 1,2,4,8"),
        (["{run}", "--widths", "1,x"], "must be whole numbers of at least 1, as in 1,2,4,8"),
        (["{run}", "--clip", "0"], "--clip must be a finite number above 0, got 0.0; give"),
        (["{run}", "--clip", "nan"], "--clip must be a finite number above 0, got nan"),
        (["{run}", "--clip", "inf"], "--clip must be a finite number above 0, got inf"),
        (["{compared}", "--test", "f"], "--test goes with a run, but .* holds a comparison"),
        (["{compared}", "--widths", "1"], "--widths goes with a run"),
        (["{compared}", "-o", "{out}"], "--out must be a file, but .* is a folder; name a page"),
        (["{compared}", "-o", "{run}/config.json/x"], "--out must be a file that can be written"),
    ],
)  # fmt: skip
def test_what_is_refused(a_run, compared, tmp_path, capsys, arguments, sentence):
    places = {"run": a_run, "compared": compared, "out": tmp_path}
    assert beamlearn_run("report", *(word.format(**places) for word in arguments)) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert re.search(sentence, error), error


def test_without_matplotlib(a_run, capsys, monkeypatch):
    monkeypatch.setattr(drawing, "find_spec", lambda name: None)
    assert beamlearn_run("report", a_run) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert re.search(r"'matplotlib', which is not installed; .*'beamlearn\[pages\]'", error)


def test_the_command_trains_the_same_again(a_run, tmp_path):
    run = Run.open(a_run)
    experiment = read_experiment(task_named("tag"), run)
    command = train_command(experiment, tmp_path / "again")
    typed = {word for word in shlex.split(command) if word.startswith("--")}
    given = {"--train", "--dev", "--width", "--epochs", *SMALL, "--out"}
    assert typed == {str(word) for word in given if str(word).startswith("--")}
    assert beamlearn_run(*shlex.split(command)[1:]) == 0
    again = Run.open(tmp_path / "again")
    assert again.config == run.config
    assert (again.path / "model.safetensors").read_bytes() == (
        a_run / "model.safetensors"
    ).read_bytes()
    learning = experiment.learning.model_copy(update={"patience": None, "average": True})
    changed = experiment.model_copy(update={"learning": learning, "warm_start": "a b"})
    words = shlex.split(train_command(changed, tmp_path))
    assert words[words.index("--patience") + 1] == "0"
    assert {"--average", "a b"} <= {*words}
    assert train_command(experiment.model_copy(update={"data": None}), tmp_path) is None


def test_the_command_of_a_warm_start_leaves_out_what_comes_with_it(a_run, tmp_path):
    experiment = read_experiment(task_named("tag"), Run.open(a_run))
    warm = experiment.model_copy(update={"warm_start": str(a_run)})
    assert "--word-size" not in train_command(warm, tmp_path)
    tagger = experiment.settings.model_copy(update={"dropout": 0.7})
    assert "--dropout 0.7" in train_command(warm.with_settings(tagger), tmp_path)


@pytest.mark.slow
def test_what_a_run_proves(module_without_shape_checks, tmp_path):
    proven = make_run(tmp_path, *PROVEN)
    text = written(proven, tmp_path / "page.html", "--widths", "1,2", "--clip", "1")
    assert list(parts(text))[-2:] == ["proof", "again"]
    sentences_told = told(parts(text)["proof"])
    assert "the expected min(loss, 1) of the mixture of all iterates" in sentences_told[0]
    run = Run.open(proven)
    experiment = read_experiment(task_named("tag"), run)
    proof = certified(run, experiment, 1.0)
    last = proof.curve.certificates[-1]
    row = data_of(text)["bound"][-1]
    assert float(row["bound"]) == last.bound
    assert sum(float(row[name]) for name in last.parts) == pytest.approx(last.bound)
    assert (
        "of the mixture"
        in told(parts(written(proven, tmp_path / "b.html", "--widths", "1"))["proof"])[0]
    )


@pytest.mark.slow
def test_why_a_run_proves_nothing(a_run, module_without_shape_checks, tmp_path):
    meant = make_run(tmp_path, "--stream")
    text = written(meant, tmp_path / "page.html", "--widths", "1")
    assert "The theorems do not apply to the run" in told(parts(text)["proof"])[0]
    assert "proof" not in parts(written(a_run, tmp_path / "page.html", "--widths", "1"))


@pytest.mark.parametrize("steps", [1, 39, 40, 41, 500])
def test_long_trajectories_are_binned(steps):
    counts = tuple(1000 - i for i in range(steps))
    profile = ErrorProfile(1, counts, tuple(i % 7 for i in range(steps)), 1, 1, 1, ())
    bins = binned(profile)
    assert len(bins) <= BINS
    assert (bins[0].first, bins[-1].last) == (1, steps)
    assert all(a.last + 1 == b.first for a, b in pairwise(bins))
    assert sum(one.reached for one in bins) == sum(counts)
    assert sum(one.increases for one in bins) == sum(profile.increases_at)


def test_what_few_reach_is_together():
    profile = ErrorProfile(1, (100, 50, 1, 1), (10, 5, 1, 0), 50, 25, 25, ())
    assert [(one.first, one.last, one.reached) for one in binned(profile)] == [
        (1, 1, 100),
        (2, 4, 52),
    ]
    assert binned(ErrorProfile(1, (), (), 1, 0, 0, ())) == []
    assert by_position({0: ("a", ErrorProfile(1, (), (), 1, 0, 0, ()))}) is None
    assert calibrated({0: ("a", profile)}) is None
    assert blamed([]) is None


def test_whose_errors_they_are():
    profile = ErrorProfile(4, (4,), (1,), 50, 10, 40, ())
    sentence = blamed([("beam 4", profile)]).sentences[1]
    assert sentence == (
        "With beam 4, 50.0 % of the outputs could be better; 20.0 % of these are search errors."
    )
    right = blamed([("beam 4", ErrorProfile(4, (4,), (0,), 3, 0, 0, ()))])
    assert right.sentences[1] == "With beam 4, all 3 outputs are the best possible ones."


def test_a_wider_beam_in_words():
    assert wider(WRONG, (1, 0.5), (8, 0.4)).startswith("the share of wrong outputs is lower with")
    assert "is higher with" in wider(WRONG, (1, 0.4), (8, 0.5))
    assert "is the same with a beam of 8 as with 1" in wider(WRONG, (1, 0.4), (8, 0.4))
    assert "is lower with" in wider(ACCURACY, (1, 0.5), (8, 0.4))


@pytest.mark.parametrize(
    ("bins", "told"),
    [
        ([Bin(0.9, 28 / 30, 30)], "there is no significant difference"),
        ([Bin(0.9, 1.0, 5)], "there is no significant difference"),
        ([Bin(0.9, 0.5, 30)], "the model is overconfident"),
        ([Bin(0.5, 0.9, 30)], "the model is underconfident"),
        ([Bin(0.9, 28 / 30, 3000)], "the model is underconfident"),
        ([Bin(1.0, 1.0, 30)], "there is no significant difference"),
    ],
)
def test_a_gap_must_be_significant(bins, told):
    assert f": {told}." in trusted("beam 2", bins)


def test_grids_have_rows_at_several_widths():
    def row(cell, strategy, width):
        return {"cell": cell, "strategy": strategy, "loss": "l", "trained_width": width}

    rows = [
        row("a-8", "a", "8"),
        row("b-1", "b", "1"),
        row("a-1to8", "a", "1:8"),
        row("a-2", "a", "2"),
    ]
    assert grids_of(rows) == [WidthGrid("a with l", {"a-2": "2", "a-1to8": "1:8", "a-8": "8"})]
    values = {"a-2": {1: [0.25], 2: [0.75]}, "a-8": {1: [0.5], 2: [0.5]}}
    grid = WidthGrid("a with l", {"a-2": "2", "a-8": "8"})
    (sentence,) = both_widths(values, ACCURACY, [grid]).sentences
    assert (
        "a-2 is best with a beam of 2, the width it was trained with: accuracy 75.00 %" in sentence
    )
    tied = {"a-2": {1: [0.25], 2: [0.75]}, "a-8": {1: [0.5], 2: [0.75]}}
    (sentence,) = both_widths(tied, ACCURACY, [grid]).sentences
    assert "trained with (1 other is equally good): accuracy 75.00 %" in sentence
    assert both_widths(values, ACCURACY, []) is None
    assert against_width({"a": {1: [0.5]}}, ACCURACY, []) is None


def test_marks_say_what_they_are():
    with canvas("a") as paper:
        (line,) = paper.axes.plot([1, 2], [3, 4], marker="o")
        paper.mark(line, ["<one>", "two\nlines"])
        drawn = paper.finish("A & B", [{"x": 1}])
    titles = [
        element.text
        for element in ElementTree.fromstring(drawn.svg).iter()
        if element.tag.endswith("title")
    ]
    assert titles == ["<one>", "two lines"]
    assert 'aria-label="A &amp; B"' in drawn.svg


def test_tables_and_code_are_escaped():
    part = Section(
        "p",
        "<t>",
        ("<s>",),
        tables=(Table(("<h>",), (("<c>",),), frozenset({(0, 0)})),),
        code=(("<w>", "<x>"),),
    )
    text = page_of("<p>&", [part]).decode()
    assert "<title>&lt;p&gt;&amp;</title>" in text
    for letter in "tshcwx":
        assert f"&lt;{letter}&gt;" in text
        assert f"<{letter}>" not in text
    assert '<th scope="row"><strong>&lt;c&gt;</strong></th>' in text
