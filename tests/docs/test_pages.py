"""The pages of the site work as printed: code, commands and tutorials."""

import json
import subprocess
import sys

import pytest
from website.notebooks import code_cells, run_cell
from website.repository import ROOT

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))


def blocks(page, language):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [part.split("```")[0] for part in text.split(f"```{language}\n")[1:]]


@pytest.mark.slow
def test_the_landing_page_works_when_typed(tmp_path):
    """In an empty folder: the ten lines in a file, and the two commands below them."""
    (code,) = blocks("index.md", "python")
    assert len([line for line in code.splitlines() if line]) <= 10
    (tmp_path / "first.py").write_text(code, encoding="utf-8")
    lines = [line.removeprefix("$ ") for line in blocks("index.md", "console")[0].splitlines()]
    assert lines[0] == "python first.py"
    printed = []
    for line in lines:
        begin = f"{sys.executable} " if line.startswith("python") else f"{sys.executable} -m "
        typed = begin + line.removeprefix("python ")
        done = subprocess.run(
            typed, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert "% ('DET', 'NOUN', 'VERB')" in printed[0].splitlines()[0]
    assert "VERB" in printed[1]


@pytest.mark.usefixtures("no_shape_checks")
def test_the_page_on_n_best_lists_works_as_printed(capsys):
    (code,) = blocks("n_best_and_confidence.md", "python")
    exec(compile(code, "n_best_and_confidence.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 5
    assert printed[0].endswith("NOUN')")
    assert printed[-1].startswith("(2, 4)")


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_prints_what_it_shows(path, tmp_path, monkeypatch):
    """Letters are compared; digits may differ a little from one processor to another."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in code_cells(json.loads(path.read_text(encoding="utf-8"))):
        found = run_cell("".join(cell["source"]), names)
        assert [kinds(one) for one in found] == [kinds(one) for one in cell["outputs"]]
        for new, old in zip(found, cell["outputs"], strict=True):
            assert stable(new) == stable(old)


def kinds(output):
    return output["output_type"], sorted(output.get("data", ()))


def stable(output):
    """The letters of the first lines; what comes second in a beam depends on the last digits."""
    lines = [line for line in output.get("text", ()) if not line.lstrip()[:5].count("%")]
    return ["".join(letter for letter in line if letter.isalpha()) for line in lines]


def test_there_is_a_tutorial_for_each_task():
    assert {path.stem for path in TUTORIALS} == {
        "tagger",
        "parser",
        "pronunciation",
        "your_own_space",
    }
    for path in TUTORIALS:
        cells = code_cells(json.loads(path.read_text(encoding="utf-8")))
        assert sum(bool(cell["outputs"]) for cell in cells) >= 4
