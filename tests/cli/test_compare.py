"""`beamlearn compare`, and what it leaves in its folder."""

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from rich.console import Console
from tiny import begin, conllu, part, sentences
from tiny_pairs import pairs, tsv

import beamlearn.cli.jobs.compare
import beamlearn.comparison.runner
from beamlearn.cli.jobs.compare import Board, planned_from
from beamlearn.cli.main import run
from beamlearn.comparison.results import Comparison, PairedTest, paired_tests, read_comparison
from beamlearn.comparison.table import markdown, shown
from beamlearn.evaluation.metric import COST, Metric, main_metric
from beamlearn.learning.ramp import Ramp
from beamlearn.tasks.registry import task_named
from beamlearn.training.run import RunError

TAGGER = {"context": "streaming", "word_size": 4, "affix_size": 4, "history_size": 8}
LEARNING = {"epochs": 2, "batch_size": 4, "learning_rate": 0.05}
GRID = {
    "algorithms": "log_likelihood,continue",
    "losses": "upper_bound",
    "widths": "2",
    "seeds": 2,
    "baseline": "log_likelihood",
}
CELLS = ["log_likelihood-1", "continue-2", "continue-upper_bound-2"]


@pytest.fixture(autouse=True)
def quick(no_shape_checks, monkeypatch):
    """In this process and without shape checks; tests/test_compare.py has the processes."""
    monkeypatch.setattr(beamlearn.comparison.runner, "local_processes", here)


@contextmanager
def here(processes):
    with ThreadPoolExecutor(1) as pool:
        yield pool


def beamlearn_compare(*arguments):
    return run(["compare", *map(str, arguments)])


def options(*groups):
    for group in groups:
        for name, value in group.items():
            yield from (f"--{name.replace('_', '-')}", str(value))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    return {
        "train": conllu(folder / "train.conllu", sentences(12)),
        "dev": conllu(folder / "dev.conllu", sentences(4, seed=1)),
        "test": conllu(folder / "test.conllu", sentences(9, seed=2)),
    }


def compare_tag(data, out, **grid):
    given = options(data, TAGGER, LEARNING, {**GRID, **grid})
    return beamlearn_compare("tag", *given, "--out", out)


def plan_of(data, **grid):
    files = {name: path for name, path in data.items() if name != "test"}
    chosen = {**GRID, **({"test": data["test"]} if "test" in data else {}), **grid}
    values = {"data": files, "tagger": TAGGER, "learning": LEARNING, "compare": chosen}
    return planned_from(task_named("tag"), values, "")


@pytest.fixture(scope="module")
def compared(data, module_without_shape_checks, tmp_path_factory):
    """A comparison that is done."""
    out = tmp_path_factory.mktemp("compared") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beamlearn.comparison.runner, "local_processes", here)
        assert compare_tag(data, out) == 0
    return out


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_the_results_are_tidy(compared):
    with (compared / "results.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    lines = [json.loads(line) for line in (compared / "results.jsonl").read_text().splitlines()]
    found = read_comparison(compared)
    assert found.rows == lines
    assert [{k: str(v) for k, v in row.items()} for row in lines] == table
    places = [(row["cell"], row["seed"], row["width"]) for row in lines]
    assert places == [(cell, seed, k) for cell in CELLS for seed in (0, 1) for k in (1, 2)]
    assert lines[-1].items() >= {"strategy": "continue", "loss": "upper_bound"}.items()
    assert lines[0].items() >= {"strategy": "oracle", "trained_width": "1"}.items()
    assert all(0 <= row["accuracy"] <= 1 and row["cost"] >= 0 for row in lines)


def test_what_was_compared_is_kept(compared, data):
    found = read_comparison(compared)
    assert (found.task, found.test, found.examples) == ("tag", data["test"], 9)
    assert (found.cells, found.widths, found.seeds) == (CELLS, [1, 2], 2)
    assert (found.baseline, found.metric.name, found.failed) == (CELLS[0], "accuracy", {})
    assert found.settings["tagger"] == TAGGER
    assert found.settings["compare"]["losses"] == "upper_bound"
    assert [(v.cell, v.width) for v in found.tests] == [(c, k) for c in CELLS[1:] for k in (1, 2)]
    assert all(0 < v.p <= v.adjusted <= 1 for v in found.tests)


def test_differences_are_those_of_the_costs(compared):
    found = read_comparison(compared)
    for verdict in found.tests:
        cost = {
            cell: torch.tensor(
                [r["cost"] for r in found.rows if (r["cell"], r["width"]) == (cell, verdict.width)]
            ).mean()
            for cell in (verdict.cell, found.baseline)
        }
        expected = float(cost[verdict.cell] - cost[found.baseline])
        assert verdict.difference == pytest.approx(expected, abs=1e-5)


def test_done_is_done(compared, data, capsys):
    """The same command reads everything back; more seeds or rows are added."""
    before, table = files(compared), (compared / "table.md").read_text()
    assert compare_tag(data, compared) == 0
    told = capsys.readouterr()
    assert "6/6" in told.err
    assert "log_likelihood-1" in told.out
    assert (compared / "table.md").read_text() == table
    kept = {path for path, time in files(compared).items() if before[path] == time}
    written = {"table.md", "results.csv", "results.jsonl", "compare.json"}
    assert {path.name for path in before.keys() - kept} == written


def test_killed_and_called_again_it_comes_to_the_same_table(compared, data, tmp_path):
    """One training is finished, one was killed midway, the others did not begin."""
    entries = plan_of(data).entries()
    beamlearn.comparison.runner.run_entry(entries[0], tmp_path / entries[0].name)
    part(begin(entries[1].experiment, tmp_path / entries[1].name), 4)
    first = files(tmp_path / entries[0].name)
    assert compare_tag(data, tmp_path) == 0
    assert files(tmp_path / entries[0].name) == first
    assert (tmp_path / "table.md").read_bytes() == (compared / "table.md").read_bytes()
    again, before = read_comparison(tmp_path), read_comparison(compared)
    assert again.tests == before.tests
    assert [steady(row) for row in again.rows] == [steady(row) for row in before.rows]


def steady(row):
    return {name: value for name, value in row.items() if not name.endswith("_per_second")}


def test_interrupted_it_says_how_to_go_on(data, tmp_path, monkeypatch, capsys):
    @contextmanager
    def interrupted(processes):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(beamlearn.comparison.runner, "local_processes", interrupted)
    assert compare_tag(data, tmp_path / "out") == 130
    assert "Interrupted. The same command goes on." in capsys.readouterr().err


def test_a_training_that_fails_does_not_stop_the_others(data, tmp_path, capsys):
    (tmp_path / "continue-2-seed0").write_text("in the way")
    assert compare_tag(data, tmp_path, losses="upper_bound", seeds=1) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "/3 continue-2-seed0 failed: " in told
    assert told.count("continue-2-seed0 failed: ") == 2  # at once, and at the end
    assert "must be a folder, but a file is in its place" in told
    assert "the same command goes on" in told
    found = read_comparison(tmp_path)
    assert list(found.failed) == ["continue-2-seed0"]
    assert {row["cell"] for row in found.rows} == {CELLS[0], CELLS[2]}
    text = (tmp_path / "table.md").read_text()
    assert "| continue-2 |  |  |" in text
    assert "- continue-2-seed0: " in text


def test_when_all_fail_all_are_named(data, tmp_path, capsys):
    given = options(data, TAGGER, LEARNING, GRID)
    assert beamlearn_compare("tag", *given, "--constrained", "--out", tmp_path / "out") == 1
    assert capsys.readouterr().err.count("-seed") == 2 * 6
    assert read_comparison(tmp_path / "out").rows == []


def test_the_folder_must_be_one(data, tmp_path, capsys):
    (tmp_path / "out").write_text("in the way")
    assert compare_tag(data, tmp_path / "out") == 2
    assert "--out must be a folder that can be written" in capsys.readouterr().err


def test_without_a_test_file_it_is_the_validation_file(data):
    files = {name: data[name] for name in ("train", "dev")}
    assert plan_of(files).test == data["dev"]


def test_settings_come_from_toml_and_the_command_line_wins(data, tmp_path, capsys):
    config = tmp_path / "compare.toml"
    config.write_text(
        "[compare]\nalgorithms = ['log_likelihood', 'continue']\nwidths = [2, 4]\nseeds = 2\n"
        f"test = '{data['test']}'\n[data]\ntrain = '{data['train']}'\n"
        "[tagger]\nword_size = 4\nhistory_size = 4\nencoder_size = 4\naffix_size = 4\n"
        "[learning]\nepochs = 1\n"
    )
    out = tmp_path / "out"
    assert beamlearn_compare("tag", "--config", config, "--out", out, "--seeds", 1) == 0
    found = read_comparison(out)
    assert (found.cells, found.seeds) == (["log_likelihood-1", "continue-2", "continue-4"], 1)
    assert found.widths == [1, 2, 4]
    assert found.baseline == "log_likelihood-1"
    assert "one seed" in (out / "table.md").read_text()
    config.write_text("[learning]\nwidth = 8\n")
    assert beamlearn_compare("tag", "--config", config, "--out", out) == 2
    assert "toml: learning.width must be left to what is compared" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("grid", "cells"),
    [
        ({"algorithms": None, "losses": None}, ["log_likelihood-1", "joint-2"]),
        (
            {"algorithms": "dagger,bso", "losses": None, "widths": "1,4"},
            ["dagger-1", "bso-1", "bso-4"],
        ),
        ({"algorithms": None, "widths": "1:4"}, ["continue-upper_bound-1to4"]),
        (
            {"algorithms": None, "losses": None, "strategies": "stop, reset,stop"},
            ["stop-log_loss_neighbors-2", "reset-log_loss_neighbors-2"],
        ),
        (
            {"algorithms": None, "strategies": "oracle,continue", "widths": "2,4"},
            [f"{s}-upper_bound-{k}" for s in ("oracle", "continue") for k in (2, 4)],
        ),
    ],
)
def test_the_grid_is_expanded(data, grid, cells):
    chosen = {name: value for name, value in {**GRID, **grid}.items() if value is not None}
    left = {name: None for name in GRID if name not in chosen}
    found = plan_of(data, **{**chosen, **left, "baseline": None})
    assert [cell.name for cell in found.cells] == cells
    assert [entry.name for entry in found.entries()] == [
        f"{c}-seed{s}" for s in (0, 1) for c in cells
    ]
    assert {e.experiment.learning.seed for e in found.entries()} == {0, 1}


def test_what_cannot_be_trained_at_a_width_or_is_there_already_is_left_out(data, capsys):
    found = plan_of(
        data,
        algorithms="dagger,minimum_risk",
        losses="log_loss_neighbors",
        widths="1,2",
        baseline=None,
    )
    assert [cell.name for cell in found.cells] == [
        "dagger-1",
        "minimum_risk-2",
        "continue-log_loss_neighbors-2",
    ]
    assert found.left_out[0].startswith("Left out: minimum_risk-1: `width` must be at least 2")
    assert found.left_out[1].startswith("continue-log_loss_neighbors-1 is left out: it is the same")


def test_beta_is_for_interpolate_alone(data):
    values = {"data": {k: v for k, v in data.items() if k != "test"}, "learning": {"beta": 0.5}}
    grid = {"strategies": "interpolate,continue", "widths": 2}
    found = planned_from(task_named("tag"), {**values, "compare": grid}, "")
    assert [cell.learning.beta for cell in found.cells] == [Ramp(0.5, 0.5), None]


@pytest.mark.parametrize(
    ("grid", "sentence"),
    [
        ({"algorithms": "dager"}, "There is no algorithm called 'dager'. Did you mean 'dagger'?"),
        ({"losses": "upper"}, "There is no loss called 'upper'"),
        ({"strategies": "go"}, "There is no strategy called 'go'"),
        ({"widths": "1,x"}, "--widths must be whole numbers of at least 1, as in 1,4,8"),
        ({"widths": "0"}, "got '0'"),
        ({"widths": "1:2:3"}, "or ramps as in 1:8, got '1:2:3'"),
        ({"test_widths": "1:8"}, "--test-widths must be whole numbers of at least 1"),
        ({"seeds": 0}, "--seeds must be greater than or equal to 1, got 0."),
        ({"baseline": "dagger"}, "There is no baseline called 'dagger'. "),
        ({"widths": "2,4", "baseline": "continue"}, "name one of continue-2, continue-4"),
        ({"algorithms": "minimum_risk", "widths": "1"}, "minimum_risk-1: --widths must be"),
        (
            {"strategies": "stop", "losses": "minimum_risk"},
            "stop-minimum_risk-2: --strategies must",
        ),
        ({"strategies": "interpolate"}, "interpolate-upper_bound-2: --beta goes with the strategy"),
        ({"beta": 0.5}, "got 0.5 without it; add it to --strategies, or leave out --beta."),
        ({"epochs": 0}, "--epochs must be greater than or equal to 1, got 0."),
        ({"best": "first", "losses": "weighted_pairs_all"}, "--best goes with a loss that has one"),
        ({"train": "-"}, "--train must be a file that every training can read"),
        ({"test": "-"}, "--test must be a file that every training can read"),
        ({"test": "none.conllu"}, "none.conllu: There is no such file"),
        ({"device": "moon"}, "--device must be one that PyTorch has here, got 'moon'"),
    ],
)
def test_wrong_settings_are_answered_before_anything_runs(data, tmp_path, capsys, grid, sentence):
    given = options({**data, **TAGGER, **LEARNING, **GRID, **grid})
    assert beamlearn_compare("tag", *given, "--out", tmp_path / "out") == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()


def test_a_run_and_a_comparison_need_folders_of_their_own(compared, data, capsys):
    before = files(compared)
    given = options({"train": data["train"]}, TAGGER, LEARNING)
    assert run([*("train", "tag"), *map(str, given), "--out", str(compared)]) == 2
    assert "holds a comparison; choose another" in " ".join(capsys.readouterr().err.split())
    assert compare_tag(data, compared / "log_likelihood-1-seed0") == 2
    assert "holds a run; choose another one." in " ".join(capsys.readouterr().err.split())
    assert files(compared) == before


def test_something_to_test_on_is_needed(data, tmp_path, capsys):
    assert beamlearn_compare("tag", "--train", data["train"], "--out", tmp_path / "out") == 2
    assert "--test or --dev must name a file to test on" in capsys.readouterr().err


def test_other_settings_or_data_need_another_folder(compared, data, tmp_path, capsys):
    before = files(compared)
    given = options(data, TAGGER, {**LEARNING, "epochs": 3}, GRID)
    assert beamlearn_compare("tag", *given, "--out", compared) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "--epochs was 2 when the training in" in told
    assert "got 3; compare in another folder" in told
    text = (compared / "log_likelihood-1-seed0" / "config.json").read_text()
    other = tmp_path / "out" / "log_likelihood-1-seed0"
    other.mkdir(parents=True)
    (other / "config.json").write_text(text.replace('"fingerprint": "', '"fingerprint": "0'))
    assert compare_tag(data, tmp_path / "out") == 2
    assert "data must be what" in " ".join(capsys.readouterr().err.split())
    assert files(compared) == before


def test_transducers_are_compared_by_their_wrong_outputs(tmp_path):
    parts = {"train": 20, "dev": 4, "test": 6}
    for seed, (name, count) in enumerate(parts.items()):
        (tmp_path / name).write_text(tsv(pairs(count, seed=seed)))
    given = options(
        {name: tmp_path / name for name in parts},
        {"target_tokens": "words", "size": 8, "epochs": 1, "seeds": 1, "widths": 2},
    )
    assert beamlearn_compare("transduce", *given, "--out", tmp_path / "out") == 0
    found = read_comparison(tmp_path / "out")
    assert found.metric == task_named("transduce").metrics[0]
    assert found.examples == 6


def test_a_folder_without_a_comparison(tmp_path):
    with pytest.raises(RunError, match="must hold a finished comparison, but there is no compare"):
        read_comparison(tmp_path)


def test_help_has_examples_and_every_setting_but_those_compared(capsys):
    for task in ("tag", "parse", "transduce"):
        assert beamlearn_compare(task, "--help-all") == 0
        text = capsys.readouterr().out
        assert f"beamlearn compare {task}" in text
        for name in ("--algorithms", "--test-widths", "--epochs", "--train", "--processes"):
            assert name in text
        for name in ("--algorithm ", "--strategy ", "--loss ", "--width ", "--seed "):
            assert name not in text


def test_the_board_says_how_far_everything_is(compared, data, tmp_path):
    planned = plan_of(data, seeds=1)
    entries = planned.entries()
    board = Board(planned, entries, tmp_path)
    assert states(board) == ["waiting"] * 3
    board.done[entries[0].name] = "accuracy 50.00%"
    part(begun := begin(entries[1].experiment, tmp_path / entries[1].name), 5)
    assert states(board) == ["accuracy 50.00%", "epoch 2/2, round 4", "waiting"]
    log = tmp_path / entries[1].name / "rounds.jsonl"
    with log.open("a") as file:
        file.write('{"round": 5}\n{"round": 6, "lo')  # a line that is being written
    assert states(board)[1] == "epoch 2/2, round 5"
    begun.checkpointer.run.rewind_log(3, 0)
    assert states(board)[1] == "epoch 1/2, round 3"
    again = Board(planned, entries, tmp_path)
    assert states(again)[1] == "waiting"


def states(board):
    return list(board.table().columns[1].cells)


def test_a_terminal_gets_a_live_table(compared, data, monkeypatch, capsys):
    monkeypatch.setattr(Console, "is_terminal", True)
    assert compare_tag(data, compared) == 0
    told = capsys.readouterr().err
    assert "seed 0" in told
    assert "6/6" not in told


def rows(values):
    """Rows of two seeds by cell, at width 4."""
    return [
        {"cell": cell, "seed": seed, "width": 4, "m": value}
        for cell, several in values.items()
        for seed, value in enumerate(several)
    ]


def comparison(values, tests=(), **metric):
    return Comparison(
        task="tag",
        test="folder/test.conllu",
        examples=1234,
        metric=Metric("m", "share", **metric),
        cells=list(values),
        widths=[4],
        seeds=2,
        baseline="a",
        failed={},
        tests=list(tests),
        settings={},
        command="",
        rows=rows(values),
    )


def test_the_table_in_markdown():
    tests = [PairedTest("b", 4, -0.5, 0.001, 0.002), PairedTest("c", 4, 0.25, 0.02, 0.02)]
    text = markdown(comparison({"a": [0.5, 0.7], "b": [0.75, 0.75], "c": [0.1, 0.2]}, tests))
    assert text.startswith(
        "| trained | beam 4 |\n| --- | ---: |\n"
        "| a | 60.00 ± 14.14 |\n| b | **75.00 ± 0.00** ++ |\n| c | 15.00 ± 7.07 - |\n"
    )
    assert "share in percent on test.conllu (1,234 examples), mean ± standard deviation" in text
    assert "more is better" in text
    assert "| b | 4 | -0.5000 | 0.0010 | 0.0020 |" in text


def test_less_may_be_better():
    found = comparison({"a": [0.5], "b": [0.25], "c": [0.25]}, lower=True, rate=False)
    assert [numbers[0].best for numbers in shown(found).values()] == [False, True, True]
    assert shown(found)["a"][0].text == "0.50"
    assert "less is better" in markdown(found)
    assert "sign-flip" not in markdown(found)


def test_what_matters_most():
    tagging = task_named("tag").metrics
    assert main_metric(tagging, [{"accuracy": 1, "f1": 1}]).name == "f1"
    assert main_metric(tagging, [{"accuracy": 1}]).name == "accuracy"
    assert main_metric(task_named("parse").metrics, [{"las": 1, "uas": 1}]).name == "las"
    assert main_metric((), [{"cost": 1}]) == COST


def test_verdicts_are_corrected_width_by_width():
    base = torch.zeros(8, dtype=torch.float64)
    worse = base + 1
    costs = {("a", 1): base, ("a", 2): base, ("b", 1): worse, ("c", 1): worse, ("b", 2): worse}
    found = {(one.cell, one.width): one for one in paired_tests("a", costs)}
    p = 2 / 2**8
    assert found["b", 1] == PairedTest("b", 1, 1.0, p, 2 * p)
    assert found["b", 2] == PairedTest("b", 2, 1.0, p, p)
    assert paired_tests("d", costs) == []


def test_the_page_on_comparing_works_as_printed(compared, tmp_path, monkeypatch, capsys):
    (tmp_path / "cmp").symlink_to(compared)
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "compare.md"
    code = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(compile(code, "compare.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[0] in CELLS
    assert len(printed) == 5


def test_parts_together_come_to_the_same_table(compared, data, tmp_path, capsys):
    """Each part trains its share and writes no table; then the same command makes it."""
    given = [*options(data, TAGGER, LEARNING, GRID), "--out", tmp_path]
    for number, share in ((1, 2), (2, 2), (3, 1), (4, 1)):
        assert beamlearn_compare("tag", *given, "--part", f"{number}/4") == 0
        told = capsys.readouterr()
        trainings = "1 of 1 training" if share == 1 else "2 of 2 trainings"
        assert f"Part {number}/4: {trainings} done in {tmp_path}. When all" in told.err
        assert not told.out
        assert not (tmp_path / "table.md").exists()
    before = files(tmp_path)
    assert beamlearn_compare("tag", *given) == 0
    assert {path: files(tmp_path)[path] for path in before} == before
    assert (tmp_path / "table.md").read_text() == (compared / "table.md").read_text()


def test_a_part_that_fails_says_so(data, tmp_path, capsys):
    given = [*options(data, TAGGER, LEARNING, GRID), "--out", tmp_path]
    (tmp_path / "continue-2-seed0").write_text("in the way")
    assert beamlearn_compare("tag", *given, "--part", "2/6") == 1
    told = capsys.readouterr().err
    assert "continue-2-seed0 failed: " in told
    assert "Part 2/6: 0 of 1 training done" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--part", "5/4"], "--part must be a number from 1 to the number of parts"),
        (["--engine", "slurm", "--processes", "2"], "--processes goes with --engine processes, go"),
        (["--engine", "dusk:x"], "There is no engine called 'dusk'. Did you mean 'dask'?"),
        (["--engine", "dask"], "--engine dask needs the address of a scheduler, got none"),
        (["--engine", "slurm"], "--engine slurm needs the commands of SLURM, but there is no srun"),
    ],
)
def test_wrong_parts_and_engines_are_refused(
    data, tmp_path, capsys, monkeypatch, arguments, message
):
    monkeypatch.setenv("PATH", str(tmp_path))
    given = [*options(data, TAGGER, LEARNING, GRID), "--out", tmp_path / "out"]
    assert beamlearn_compare("tag", *given, *arguments) == 2
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told


def test_an_engine_does_the_work(compared, data, tmp_path, monkeypatch):
    opened = []

    @contextmanager
    def engine(name, jobs):
        opened.append((name, jobs))
        with ThreadPoolExecutor(2) as pool:  # one entry at a time all the same
            yield pool

    monkeypatch.setattr(beamlearn.cli.jobs.compare, "open_engine", engine)
    given = [*options(data, TAGGER, LEARNING, GRID), "--out", tmp_path]
    assert beamlearn_compare("tag", *given, "--engine", "dask:tcp://here:1") == 0
    assert opened == [("dask:tcp://here:1", tmp_path / "slurm")]
    assert (tmp_path / "table.md").read_text() == (compared / "table.md").read_text()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("compare.json", lambda about: about.pop("tests")),
        ("compare.json", lambda about: about.update(metric=3)),
        ("compare.json", lambda about: about.update(cells=None)),
        ("results.jsonl", lambda row: row.pop("width")),
        ("results.jsonl", lambda row: row.update(accuracy="high")),
    ],
)
def test_a_damaged_comparison_is_refused(compared, tmp_path, name, change):
    for one in ("compare.json", "results.jsonl"):
        (tmp_path / one).write_bytes((compared / one).read_bytes())
    lines = (tmp_path / name).read_text()
    first, rest = (lines, "") if name == "compare.json" else lines.split("\n", 1)
    facts = json.loads(first)
    change(facts)
    (tmp_path / name).write_text(json.dumps(facts) + "\n" + rest)
    with pytest.raises(RunError, match=f"{name} is not what `beamlearn compare` wrote"):
        read_comparison(tmp_path)
