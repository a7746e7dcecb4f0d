"""Where a model goes wrong: on the console, in JSON, and on the page."""

import html
import json
import re
import shlex

import pytest
from tiny_reports import HOSTILE, beamlearn_run

from beamlearn.evaluation.label_errors import Confusion, LabelErrors, label_scores
from beamlearn.reports.label_errors import (
    ErrorsFound,
    WorstOutput,
    confusion_table,
    going_wrong,
    score_table,
)

pytestmark = pytest.mark.usefixtures("no_shape_checks")


@pytest.fixture
def file(a_run):
    return a_run.parent / "test.conllu"


def evaluated(capsys, *arguments):
    assert beamlearn_run("evaluate", *arguments) == 0
    return capsys.readouterr().out


def test_json_has_errors_only_if_asked(a_run, file, capsys):
    given = (a_run, file, "--width", "1,2", "--json")
    plain = json.loads(evaluated(capsys, *given))
    assert list(plain) == ["task", "examples", "results"]
    assert all("label_errors" not in one and "labels" not in one for one in plain["results"])
    found = json.loads(evaluated(capsys, *given, "--errors"))
    assert list(found) == ["task", "examples", "results", "errors"]
    assert [one["width"] for one in found["errors"]] == [1, 2]
    for result, errors in zip(found["results"], found["errors"], strict=True):
        tags = errors["labels"]["tag"]
        words = sum(tag["gold"] for tag in tags)
        right = sum(round(tag["recall"] * tag["gold"]) for tag in tags)
        assert right / words == pytest.approx(result["accuracy"])
        assert sum(one["count"] for one in errors["confusions"]) == words - right
        costs = [one["cost"] for one in errors["worst"]]
        assert costs == sorted(costs, reverse=True)
        assert {one["error"] for one in errors["worst"]} <= {"search", "model", None}


def test_the_command_of_an_output_shows_it(a_run, file, capsys):
    given = (a_run, file, "--layout", "conllu", "--width", "2", "--errors")
    text = evaluated(capsys, *given)
    assert "Where it goes wrong with a beam of 2:" in text
    assert re.search(r"tag +┃ precision ┃ +recall ┃ +F1 ┃ +in the data ┃ predicted", text)
    line, command = re.search(r"(Input \d+, cost .*)\n +(beamlearn inspect .*)\n", text).groups()
    words = shlex.split(command)
    number = words[words.index("--sentence") + 1]
    assert line.startswith(f"Input {number}, cost ")
    assert words[-4:] == ["--width", "2", "--layout", "conllu"]
    assert beamlearn_run(*words[1:], "--text") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Input {number} of 14" in shown
    assert line.partition(": ")[2] in shown


def test_without_the_option_the_output_is_short(a_run, file, capsys):
    assert "goes wrong" not in evaluated(capsys, a_run, file)


def test_the_page_of_a_run_says_where_it_goes_wrong(a_run, tmp_path):
    out = tmp_path / "page.html"
    assert beamlearn_run("report", a_run, "--widths", "1,2", "-o", out) == 0
    section = out.read_text(encoding="utf-8").split('<section id="labels">')[1]
    section = section.split("</section>")[0]
    assert "<h2>Where does it go wrong?</h2>" in section
    assert "with a beam of 2" in section
    commands = [html.unescape(one) for one in re.findall("<pre>(.*?)</pre>", section)]
    assert commands
    for command in commands:
        words = shlex.split(command)
        assert words[:2] == ["beamlearn", "inspect"]
        assert words[2] == str(a_run)
        assert words[3].endswith(f"{HOSTILE}.conllu")
    assert "<img" not in section


def test_long_tables_and_inputs_are_cut():
    scores = label_scores([("A", "B"), ("C", "D")])
    table = score_table("tag", scores, 3)
    assert [row[0] for row in table.rows] == ["A", "B", "C", "and 1 more"]
    confused = confusion_table([Confusion("a", None, 2), Confusion(" ", "b", 1)], 1)
    assert confused.rows == (("a → (nothing)", "2"), ("and 1 more", ""))
    assert confusion_table([Confusion(" ", "b", 1)], 1).rows == (("' ' → b", "1"),)
    line = WorstOutput(3, 1.5, None, "x" * 300, "").line
    assert line.startswith("Input 3, cost 1.50, no output costs less: xxx")
    assert line.endswith("x…")
    assert len(line) < 150


def test_a_task_without_labels_has_its_worst_outputs():
    worst = (WorstOutput(1, 2.0, "model", "a", "beamlearn inspect"),)
    section = going_wrong(ErrorsFound(4, None, worst))
    assert section.tables == ()
    assert section.code == (("Input 1, cost 2, model error: a", "beamlearn inspect"),)
    right = going_wrong(ErrorsFound(4, LabelErrors({"tag": label_scores([("A", "A")])}, ()), ()))
    assert len(right.tables) == 1
    assert right.code == ()
