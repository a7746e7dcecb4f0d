"""The examples run and print what their texts promise."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import beamlearn as bl

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name, capsys):
    threads = torch.get_num_threads()
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    torch.set_num_threads(threads)
    return capsys.readouterr().out


@pytest.mark.usefixtures("no_shape_checks")
def test_toy_by_hand(capsys):
    printed = run("01_toy_by_hand.py", capsys)
    assert "Greedy search finds ('start', 'Ghent', 'hostel')" in printed
    assert "A beam of two finds  ('start', 'Bruges', 'canal house')" in printed
    assert "upper_bound                  3.0000" in printed
    assert "Greedy search now finds ('start', 'Bruges', 'canal house')" in printed


@pytest.mark.usefixtures("no_shape_checks")
def test_your_own_loss(capsys):
    printed = run("03_your_own_loss.py", capsys)
    after = [line.split(" -> ")[1] for line in printed.splitlines() if " -> " in line]
    assert len(set(after)) == 3  # each loss comes to another cost


@pytest.mark.usefixtures("no_shape_checks")
def test_any_metric(capsys):
    printed = run("10_any_metric.py", capsys)
    assert "round  1: ugliness 5.0" in printed
    assert "ugliness 1.0." in printed  # the least there is, for an even number of letters


@pytest.mark.usefixtures("no_shape_checks")
def test_constraints(capsys):
    printed = run("11_constraints.py", capsys)
    dates = [line.split("%")[1].strip() for line in printed.splitlines() if "%" in line]
    assert len(set(dates)) == 4
    assert all(date.startswith("20") and len(date) == 10 for date in dates)
    assert "O B-LOC I-LOC is a sentence with one place." in printed
    assert "B-LOC O B-LOC is not a sentence with one place." in printed


@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_constraints_works_as_printed(capsys):
    names = {}
    for code in blocks("docs/constraints.md"):
        exec(compile(code, "constraints.md", "exec"), names)
    page = (EXAMPLES.parent / "docs" / "constraints.md").read_text(encoding="utf-8")
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4
    assert all(f"    {line}\n" in page for line in printed)


@pytest.mark.usefixtures("no_shape_checks")
def test_stochastic_beams(capsys):
    """All estimates are about right, and more different walks make them better."""
    printed = run("09_stochastic_beams.py", capsys)
    walks = [line for line in printed.splitlines() if " - " in line and "%" in line]
    assert len({line.split("  ")[-1] for line in walks}) == len(walks) == 4
    exact = float(printed.partition("the mean length is ")[2].partition(" minutes")[0])
    rows = [[float(cell) for cell in line.split()] for line in printed.splitlines()[-4:]]
    assert [row[0] for row in rows] == [1, 4, 8, 19]
    for _, mean, deviation in rows:
        assert mean == pytest.approx(exact, abs=0.1 + 4 * deviation / 20)
    deviations = [row[2] for row in rows]
    assert deviations == sorted(deviations, reverse=True)
    assert deviations[-1] == 0


@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_sampling_works_as_printed(capsys):
    (code,) = blocks("docs/sampling.md")
    exec(compile(code, "sampling.md", "exec"), {})
    page = (EXAMPLES.parent / "docs" / "sampling.md").read_text(encoding="utf-8")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert "".join(f"    {line}\n" for line in lines) in page


@pytest.mark.slow
def test_your_own_space_tells_its_story():
    """Greedy likelihood fails, a beam at test time does not help, training with it does."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "02_your_own_space.py")],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    rows = [[cell.strip() for cell in line.split("│")] for line in done.stdout.splitlines()]
    held_out = {(row[1], row[2]): float(row[4]) for row in rows if len(row) == 8}
    untrained, greedy = held_out["untrained", "8"], held_out["log_likelihood", "1"]
    assert len(held_out) == 12
    assert greedy < untrained
    for name in ("early_update", "laso_perceptron", "laso_margin", "bso", "continue"):
        assert held_out[name, "8"] < greedy - 5
    assert held_out["likelihood, test beam", "8"] > greedy - 5


def blocks(page):
    """The Python code of a page."""
    text = (EXAMPLES.parent / page).read_text(encoding="utf-8")
    return [part.split("```")[0] for part in text.split("```python\n")[1:]]


@pytest.mark.usefixtures("no_shape_checks")
def test_the_readme_works_as_printed(capsys):
    for code in blocks("README.md"):
        exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "[['DET', 'NOUN', 'VERB']] 1.0"
    assert printed[-4].startswith("abcde")
    assert "[0.0, 0.0]" in printed[-5]


@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_extending_works_as_printed(capsys):
    names = {}
    for code in blocks("docs/extending.md"):
        exec(compile(code, "extending.md", "exec"), names)
    verdict, learned, wrong = capsys.readouterr().out.splitlines()
    assert (verdict, learned) == (
        "ok: 534 costs compared with those of all completions",
        "0.0 wrong tags per sentence",
    )
    page = (EXAMPLES.parent / "docs" / "extending.md").read_text(encoding="utf-8")
    assert all(f"    {line}\n" in page for line in (verdict, learned, wrong))
    assert wrong.startswith("wrong: ")
    trajectory = bl.beam_trajectory(
        names["Task"]().space(names["data"]), names["scorer"], strategy=names["Alternate"]()
    )
    assert trajectory.final_costs.tolist() == [0.0] * 4


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_tagger_tells_its_story(capsys):
    """Greedy search must guess, a beam at test time helps, training with it helps more."""
    printed = run("04_tagger.py", capsys)
    rows = [[cell.strip() for cell in line.split("│")] for line in printed.splitlines()]
    right = [int(row[3].rstrip("%")) for row in rows if len(row) == 7]
    assert len(right) == 3
    assert right[0] + 10 <= right[1] < right[2]
    assert "their shares of the beam:" in printed
    assert "that/SCONJ she/PRON met/VERB her/PRON in/ADP town/NOUN" in printed


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_parser_tells_its_story(capsys):
    """It learns, and of the telescope both readings are in the beam."""
    printed = run("05_parser.py", capsys)
    right = int(printed.partition("sentences ")[2].partition("%")[0])
    assert right >= 90
    best = printed.partition("best three trees:")[2].splitlines()[1:3]
    assert {line.split("%")[1].strip() for line in best} == {"man (nmod)", "saw (obl)"}
    assert "with" in printed.partition("best three trees:")[0]


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_transducer_tells_its_story(capsys):
    """It reads numbers that it has never seen, and is surer of right ones."""
    printed = run("06_transducer.py", capsys)
    right = int(printed.partition("never seen, ")[2].partition("%")[0])
    assert right >= 85
    best = printed.partition("shares of the beam:")[2].splitlines()[1:]
    shares = [float(line.split("%")[0]) for line in best]
    assert len(shares) == 3
    assert shares == sorted(shares, reverse=True)
    assert "hundred" in best[0]


@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_training_works_as_printed(capsys):
    (code,) = blocks("docs/training.md")
    exec(code, {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all(line.endswith(" 0.1") for line in lines)


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_transduction_works_as_printed(capsys):
    names = {}
    for code in blocks("docs/transduction.md"):
        exec(compile(code, "transduction.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "['ABBA', 'C']"
    assert float(printed[1].split()[0]) > 0.9


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_parsing_works_as_printed(capsys):
    names = {}
    for code in blocks("docs/parsing.md"):
        exec(compile(code, "parsing.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "[[(2, 'det'), (3, 'nsubj'), (0, 'root')]]"
    assert printed[1] == "1.0 ['det', 'nsubj', 'obj', 'root']"


@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_tagging_works_as_printed(capsys, tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in blocks("docs/tagging.md"):
        exec(compile(code, "tagging.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == ["[['DET', 'NOUN', 'VERB']]", "1.0 ['DET', 'NOUN', 'VERB']"]
    assert names["again"].predict(names["X"]) == names["y"]


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_hugging_face_tells_its_story(capsys):
    """It reads numbers that it has never seen, without this library."""
    pytest.importorskip("accelerate")
    printed = run("07_hugging_face.py", capsys)
    right = int(printed.partition("never seen, ")[2].partition("%")[0])
    assert right >= 90
    best = printed.partition("shares of the beam:")[2].splitlines()[1:]
    shares = [float(line.split("%")[0]) for line in best]
    assert len(shares) == 3
    assert shares == sorted(shares, reverse=True)


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_the_notebook_on_hugging_face_prints_what_it_shows(capsys, tmp_path, monkeypatch):
    """The last digits of numbers may differ from one processor to another."""
    pytest.importorskip("accelerate")
    threads = torch.get_num_threads()
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "07_hugging_face.ipynb").read_text(encoding="utf-8"))
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        exec(compile("".join(cell["source"]), "07_hugging_face.ipynb", "exec"), names)
        printed = capsys.readouterr().out
        for output in cell["outputs"]:
            for line in "".join(output["text"]).splitlines():
                if line.split()[0].endswith("%"):
                    continue  # which outputs come second depends on the last digits
                shown = "".join(letter for letter in line if letter.isalpha())
                assert shown in "".join(letter for letter in printed if letter.isalpha())
    torch.set_num_threads(threads)
    assert names["right"] >= 180


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_hugging_face_works_as_printed(capsys, tmp_path, monkeypatch):
    pytest.importorskip("accelerate")
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in blocks("docs/hugging_face.md"):
        exec(compile(code, "hugging_face.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "'beam_loss'" in printed
    assert "torch.Size([1, 4," in printed
    assert "torch.Size([1]) 4" in printed


@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_ranking_works_as_printed(capsys):
    pytest.importorskip("transformers")
    names = {}
    for code in blocks("docs/ranking.md"):
        exec(compile(code, "ranking.md", "exec"), names)
    page = (EXAMPLES.parent / "docs" / "ranking.md").read_text(encoding="utf-8")
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 2
    assert all(f"    {line}\n" in page for line in printed)


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_the_catalogue_tells_its_story(capsys):
    """The right book is on top, and a wider beam finds more of the others."""
    printed = run("08_catalogue.py", capsys)
    numbers = [line.replace(",", "").split() for line in printed.splitlines() if "recall" in line]
    recall = [float(line[3]) for line in numbers]
    assert recall[0] < recall[1]
    assert all(float(line[-1]) > 0.9 for line in numbers)
    assert "gets -0.0" in printed
    assert "(2, 3, 0)" in printed
    assert "On that board are the books [[65], [66]]" in printed


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_scikit_learn_works_as_printed(capsys):
    (code,) = blocks("docs/scikit_learn.md")
    exec(compile(code, "scikit_learn.md", "exec"), {})
    page = (EXAMPLES.parent / "docs" / "scikit_learn.md").read_text(encoding="utf-8")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all(f"    {line}\n" in page for line in lines)
