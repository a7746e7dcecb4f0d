"""`predict` on files of any size: windows, kills, bad lines, parts and processes."""

import gzip
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
import tiny
import tiny_pairs
import tiny_trees
from rich.console import Console

from beamlearn.cli.main import run
from beamlearn.cli.prediction_display import PredictionDisplay
from beamlearn.prediction import outputs

SOURCES = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
COUNT, WINDOW = 41, 7


@pytest.fixture(autouse=True, scope="module")
def quick(module_without_shape_checks):
    """The command line runs without the tests' shape checks, as for users."""


def beamlearn(*arguments):
    return run([str(argument) for argument in arguments])


def one_sentence(capsys):
    told = capsys.readouterr().err
    assert "Traceback" not in told
    return " ".join(told.split())


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    """A run folder, and beside it a file in several forms with what one window makes of it."""
    folder = tmp_path_factory.mktemp("tagger")
    chosen = tiny.experiment(folder, epochs=2, mixture=3)
    tiny.finish(tiny.begin(chosen, folder / "run"))
    tiny.conllu(folder / "in.conllu", tiny.sentences(COUNT, seed=3))
    (folder / "in.conllu.gz").write_bytes(gzip.compress((folder / "in.conllu").read_bytes()))
    rows = (folder / "in.conllu").read_text().split("\n")
    words = [row.split("\t")[1] if row else "" for row in rows]
    (folder / "in.tsv").write_text("\n".join(words))
    lines = " ".join(words).replace("  ", "\n")
    (folder / "in.txt").write_text(lines.strip() + "\n\n \nthe end")
    assert beamlearn("predict", folder / "run", folder / "in.conllu", "-o", folder / "out") == 0
    return folder


@pytest.fixture
def kills(monkeypatch):
    """A function that makes the next run end after some windows, as if it had been killed."""

    class Killed(BaseException):
        pass

    def kill_after(windows, seconds=0.0):
        left = iter(range(windows))

        def take(self, answer, end, own=outputs.Output.take):
            own(self, answer, end)
            if next(left, None) is None:
                self.file.file.flush()
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(outputs, "SECONDS", seconds)
            patch.setattr(outputs.Output, "take", take)
            patch.setattr(outputs.Saved, "abandon", closed)
            with pytest.raises(Killed):
                beamlearn(*kill_after.command)

    def closed(output):
        for file in filter(None, (output.file, output.bad)):
            file.file.close()

    return kill_after


def left(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "given",
    [
        ["in.conllu"],
        ["in.conllu.gz"],
        ["in.tsv", "--layout", "columns", "--column", "2"],
        ["in.txt", "--layout", "lines"],
        ["in.conllu", "--mixture"],
    ],
)
@pytest.mark.parametrize("window", [1, WINDOW])
def test_windows_change_nothing(tagger, capsys, given, window):
    name, *options = given
    assert beamlearn("predict", tagger / "run", tagger / name, *options) == 0
    whole = capsys.readouterr().out
    assert beamlearn("predict", tagger / "run", tagger / name, *options, "--window", window) == 0
    assert capsys.readouterr().out == whole
    assert whole.count("\n") > COUNT


@pytest.mark.parametrize("options", [["--json"], ["--nbest", 2], ["--json", "--mixture"]])
def test_lists_and_numbers_are_the_same_in_windows(tagger, capsys, options):
    command = ["predict", tagger / "run", tagger / "in.conllu", "--width", 3, *options]
    assert beamlearn(*command) == 0
    whole = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert beamlearn(*command, "--window", WINDOW) == 0
    parts = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [part["tags"] for part in parts] == [one["tags"] for one in whole]
    for part, one in zip(parts, whole, strict=True):
        assert part["confidence"] == pytest.approx(one["confidence"], abs=1e-5)
        assert [way["tags"] for way in part["nbest"]] == [way["tags"] for way in one["nbest"]]


def test_standard_input_in_windows(tagger, capsys, monkeypatch):
    text = (tagger / "in.conllu").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert beamlearn("predict", tagger / "run", "-", "--window", WINDOW) == 0
    assert capsys.readouterr().out == (tagger / "out").read_text()


def test_other_tasks_in_windows(tmp_path, capsys):
    parsing = tiny_trees.experiment(tmp_path / "trees", epochs=1)
    tiny.finish(tiny_trees.begin(parsing, tmp_path / "parser"))
    pairs = tiny_pairs.experiment(tmp_path / "pairs", epochs=1)
    tiny.finish(tiny_pairs.begin(pairs, tmp_path / "transducer"))
    (tmp_path / "in.txt").write_text("abc\n\nno such\nabc\tignored\nd")
    trees = tmp_path / "trees" / "train.conllu"
    for given in (
        ["parser", trees],
        ["parser", trees, "--nbest", 2],
        ["transducer", tmp_path / "in.txt"],
    ):
        command = ["predict", tmp_path / given[0], *given[1:]]
        assert beamlearn(*command) == 0
        whole = re.sub(r"\d\.\d+", "", capsys.readouterr().out)
        assert beamlearn(*command, "--window", 2) == 0
        assert re.sub(r"\d\.\d+", "", capsys.readouterr().out) == whole


@pytest.mark.parametrize("source", ["in.conllu", "in.conllu.gz"])
@pytest.mark.parametrize("seconds", [0.0, 100.0])
def test_killed_anywhere_it_comes_to_the_same_bytes(
    tagger, tmp_path, kills, capsys, source, seconds
):
    draw, out = random.Random(source), tmp_path / "out"
    command = ["predict", tagger / "run", tagger / source, "-o", out, "--window", 3]
    kills.command = [*command, "--resume"]
    for _ in range(4):
        kills(draw.randint(0, 3), seconds)
        assert not out.exists()
        told = json.loads((tmp_path / "out.journal").read_text()) if seconds == 0 else None
        assert told is None or told["done"]["output"] <= (tmp_path / "out.partial").stat().st_size
    assert beamlearn(*command, "--resume") == 0
    assert out.read_bytes() == (tagger / "out").read_bytes()
    assert left(tmp_path) == ["out", "out.journal"]
    capsys.readouterr()
    assert beamlearn(*command, "--resume") == 0
    assert "out is finished; to predict again, leave out --resume." in one_sentence(capsys)
    assert beamlearn(*command) == 0
    assert left(tmp_path) == ["out"]


def test_a_file_of_another_job_is_not_taken_for_finished(tagger, tmp_path, kills):
    out = tmp_path / "out"
    command = ["predict", tagger / "run", tagger / "in.conllu", "-o", out, "--window", 3]
    out.write_text("old")
    assert beamlearn(*command, "--resume") == 0
    assert out.read_bytes() == (tagger / "out").read_bytes()
    assert beamlearn(*command, "--json", "--resume") == 0
    assert out.read_bytes() != (tagger / "out").read_bytes()
    assert beamlearn(*command, "--resume") == 0
    assert out.read_bytes() == (tagger / "out").read_bytes()
    out.unlink()
    assert beamlearn(*command, "--resume") == 0
    assert out.exists()


@pytest.mark.parametrize("more", [[], ["--part", "1/1"]])
def test_a_run_that_is_repeated_and_killed_is_not_taken_for_finished(tagger, tmp_path, kills, more):
    command = ["predict", tagger / "run", tagger / "in.conllu", "-o", tmp_path / "out"]
    command += ["--window", 3, *more]
    assert beamlearn(*command, "--resume") == 0
    kills.command = command
    kills(1, seconds=100.0)
    assert beamlearn(*command, "--resume") == 0
    (path,) = (path for path in tmp_path.iterdir() if path.suffix != ".journal")
    assert path.read_bytes() == (tagger / "out").read_bytes()


def test_a_run_that_did_not_finish_is_gone_on_with_as_it_began(tagger, tmp_path, kills, capsys):
    source, out = tmp_path / "in.conllu", tmp_path / "out"
    source.write_bytes((tagger / "in.conllu").read_bytes())
    command = ["predict", tagger / "run", source, "-o", out, "--window", 3, "--width", 2]
    kills.command = command
    kills(2)
    capsys.readouterr()
    assert beamlearn(*command) == 2
    told = one_sentence(capsys)
    assert "out.partial holds the answers of a run that did not finish, up to sentence 9" in told
    assert "give --resume to go on, or remove out.journal to begin again." in told
    for given, sentence in (
        (["--width", 1], "--width must be 2, as the run began with it, got 1; to begin again"),
        (["--window", 4], "--window must be 3, as the run began with it, got 4"),
        (["--json"], "--json must be False, as the run began with it, got True"),
        (["--mixture"], "RUN must hold the model that the run began with, but it has changed"),
    ):
        assert beamlearn(*command, "--resume", *given) == 2
        assert sentence in one_sentence(capsys)
    source.write_bytes(source.read_bytes() + b"\n")
    assert beamlearn(*command, "--resume") == 2
    assert "INPUT must be the file that the run began with, but it has" in one_sentence(capsys)
    (tmp_path / "out.journal").unlink()
    assert beamlearn(*command) == 0
    assert out.read_bytes() == (tagger / "out").read_bytes() + b"\n"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["-", "--resume", "-o", "out"], "--resume needs a file as INPUT, and another one as"),
        (["in.conllu", "--resume"], "--resume needs a file as INPUT, and another one as --output"),
        (["in.conllu", "--part", "1/2"], "--part needs a file as INPUT, and another one as"),
        (["in.conllu", "-o", "out", "--part", "3/2"], "--part must be a number from 1 to the"),
        (["in.conllu", "--workers", 2, "--threads", 2], "--threads must be 1 with --workers"),
        (["in.conllu", "--engine", "dusk"], "There is no engine called 'dusk'. Did you mean"),
    ],
)
def test_what_cannot_be_done_is_refused(tagger, capsys, monkeypatch, given, sentence):
    monkeypatch.chdir(tagger)
    assert beamlearn("predict", "run", *given) == 2
    assert sentence in one_sentence(capsys)
    assert "out.partial" not in left(tagger)


@pytest.fixture
def damaged(tagger, tmp_path):
    """The file with a bad line in its middle, and one in another encoding."""
    blocks = (tagger / "in.conllu").read_bytes().split(b"\n\n")
    blocks[20] = blocks[20].replace(b"\t_\t_\n", b"\t_\n", 1) + b"\n1\ttwice"
    blocks[30] = b"1\tm\xe4n" + b"\t_" * 8
    (tmp_path / "in.conllu").write_bytes(b"\n\n".join(blocks))
    line = b"\n\n".join(blocks[:20]).count(b"\n") + 3
    good = [*range(20), *range(21, 30), *range(31, len(blocks))]
    answers = (tagger / "out").read_bytes().split(b"\n\n")
    return tmp_path / "in.conllu", line, b"\n\n".join(answers[place] for place in good)


def test_a_bad_line_is_named_after_what_was_answered(tagger, damaged, tmp_path, capsys):
    source, line, _ = damaged
    command = ["predict", tagger / "run", source, "--window", WINDOW]
    assert beamlearn(*command) == 2
    out, told = capsys.readouterr()
    assert f"in.conllu:{line}: " in told
    assert out == "\n\n".join((tagger / "out").read_text().split("\n\n")[:14]) + "\n\n"
    (tmp_path / "out").write_text("old")
    assert beamlearn(*command, "-o", tmp_path / "out") == 2
    assert (tmp_path / "out").read_text() == "old"


@pytest.mark.parametrize("workers", [[], pytest.param(["--workers", 2], marks=pytest.mark.slow)])
def test_bad_sentences_are_put_aside(tagger, damaged, tmp_path, capsys, workers):
    source, _, answers = damaged
    out, bad = tmp_path / "out", tmp_path / "bad"
    command = ["predict", tagger / "run", source, "-o", out, "--window", WINDOW, *workers]
    assert beamlearn(*command, "--skip-bad", bad) == 2
    assert out.read_bytes() == answers
    told = one_sentence(capsys)
    assert told.endswith(f"2 sentences were skipped; see {bad}.")
    aside = bad.read_bytes()
    blocks = source.read_bytes().split(b"\n\n")
    assert blocks[20] in aside
    assert blocks[30] in aside
    reasons = re.findall(rb"(?m)^# .*in.conllu:(\d+): (.*)$", aside)
    assert len(reasons) == 2
    assert b"UTF-8" in reasons[1][1]
    assert left(tmp_path) == ["bad", "in.conllu", "out"]


def test_a_run_that_a_bad_line_has_ended_goes_on_without_it(
    tagger, damaged, tmp_path, capsys, monkeypatch
):
    source, _, answers = damaged
    out, bad = tmp_path / "out", tmp_path / "bad"
    monkeypatch.setattr(outputs, "SECONDS", 0.0)
    command = ["predict", tagger / "run", source, "-o", out, "--window", WINDOW]
    assert beamlearn(*command) == 2
    assert "What is answered so far is kept beside" in one_sentence(capsys)
    assert beamlearn(*command, "--resume", "--skip-bad", bad) == 2
    assert out.read_bytes() == answers
    assert bad.read_bytes().count(b"# ") == 2


def test_bad_sentences_survive_a_kill(tagger, damaged, tmp_path, capsys, kills):
    source, _, answers = damaged
    out, bad = tmp_path / "out", tmp_path / "bad"
    command = ["predict", tagger / "run", source, "-o", out, "--window", WINDOW]
    kills.command = [*command, "--skip-bad", bad]
    kills(3)
    capsys.readouterr()
    assert beamlearn(*command, "--resume") == 2
    assert "--skip-bad must be given again, as 1 sentence of this run" in one_sentence(capsys)
    assert beamlearn(*command, "--resume", "--skip-bad", bad) == 2
    assert out.read_bytes() == answers
    assert bad.read_bytes().count(b"# ") == 2


def test_a_file_of_another_kind_is_refused_by_its_first_window(tagger, tmp_path, capsys):
    source = tmp_path / "in.txt"
    source.write_text("one two\n\n" * 9 + "bad\n")
    for given in ([], ["--skip-bad", tmp_path / "bad"]):
        assert beamlearn("predict", tagger / "run", source, "--window", 4, *given) == 2
        assert "in.txt:1: Expected a word on each line, and maybe" in one_sentence(capsys)
    assert left(tmp_path) == ["in.txt"]


def test_parts_are_joined(tagger, tmp_path, capsys):
    out = tmp_path / "out.gz"
    command = ["predict", tagger / "run", tagger / "in.conllu.gz", "-o", out, "--window", 4]
    for number in (1, 2, 3):
        assert beamlearn(*command, "--part", f"{number}/3") == 0
    assert beamlearn(*command, "--part", "2/3", "--resume") == 0
    assert "out.gz.part-2-of-3 is finished" in one_sentence(capsys)
    parts = [(tmp_path / f"out.gz.part-{number}-of-3").read_bytes() for number in (1, 2, 3)]
    assert all(parts)
    assert b"".join(parts) == (tagger / "out").read_bytes()
    assert beamlearn("join", out) == 0
    assert "3 parts are joined in" in one_sentence(capsys)
    assert out.read_bytes() == gzip.compress((tagger / "out").read_bytes(), mtime=0)
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in tmp_path.glob("out.gz.part-*"):
        path.rename(moved / path.name)
    assert beamlearn("join", tmp_path / "again", *sorted(moved.iterdir())) == 0
    assert (tmp_path / "again").read_bytes() == (tagger / "out").read_bytes()


def test_parts_that_do_not_fit_are_not_joined(tagger, tmp_path, capsys, kills):
    out = tmp_path / "out"
    command = ["predict", tagger / "run", tagger / "in.conllu", "-o", out, "--window", 4]
    assert beamlearn("join", out) == 2
    assert "out: There must be parts of this file beside it, such as" in one_sentence(capsys)
    assert beamlearn(*command, "--part", "1/2", "--width", 1) == 0
    capsys.readouterr()
    assert beamlearn("join", out) == 2
    assert "There must be 2 parts, but part 2 is missing; make it with" in one_sentence(capsys)
    kills.command = [*command, "--part", "2/2", "--width", 2]
    kills(1)
    capsys.readouterr()
    assert beamlearn("join", out) == 2
    assert "part-2-of-2: A part must be finished before it can be joined" in one_sentence(capsys)
    assert beamlearn(*kills.command, "--resume") == 0
    capsys.readouterr()
    assert beamlearn("join", out) == 2
    assert "Parts must be of one run, but not " in (told := one_sentence(capsys))
    assert "--width must be 1" in told or "`width` must be 1" in told
    assert beamlearn(*command, "--part", "2/2", "--width", 1) == 0
    whole = tmp_path / "whole"
    assert beamlearn(*command[:3], "-o", whole, "--resume") == 0
    capsys.readouterr()
    assert beamlearn("join", out, whole) == 2
    assert "whole: A part must have been made with `beamlearn predict --part`" in one_sentence(
        capsys
    )
    part = tmp_path / "out.part-2-of-2"
    part.write_bytes(part.read_bytes()[:-1])
    assert beamlearn("join", out) == 2
    (tmp_path / "out.part-2-of-2.journal").unlink()
    capsys.readouterr()
    assert beamlearn("join", out) == 2
    assert "A part must have its journal beside it" in one_sentence(capsys)
    assert not out.exists()


def test_two_processes_do_not_write_one_file(tagger, tmp_path, capsys):
    with outputs.alone(tmp_path / "out"):
        assert beamlearn("predict", tagger / "run", tagger / "in.conllu", "-o", tmp_path / "out")
    assert "out: Only one process may write a file" in one_sentence(capsys)


def test_the_display_tells_sentences_and_speed():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with PredictionDisplay(console, total=10, done=0) as display:
        assert list(display.counting("ab", 2, "tagging")) == ["a", "b"]
        sleep(0.11)
        display.window(2000, 5)
        display.progress.refresh()
    assert "2,000 sentences" in (shown := console.file.getvalue())
    assert "/s" in shown
    assert not PredictionDisplay(Console(file=io.StringIO()), None, 0).shown


@pytest.fixture(scope="module")
def large(tagger):
    """So many sentences that there is time to kill whoever reads them."""
    path = tagger / "large.conllu"
    path.write_bytes((tagger / "in.conllu").read_bytes() * 40)
    assert beamlearn("predict", tagger / "run", path, "-o", tagger / "large.out") == 0
    return path


def begun(*arguments, **more):
    command = [sys.executable, "-m", "beamlearn", *map(str, arguments)]
    return subprocess.Popen(command, env=SOURCES, stderr=subprocess.PIPE, **more)


def wait_until(true, seconds=120):
    deadline = monotonic() + seconds
    while not true():
        assert monotonic() < deadline
        sleep(0.01)


@pytest.mark.slow
def test_a_process_that_is_killed_is_gone_on_with(tagger, large, tmp_path):
    out = tmp_path / "out"
    command = ["predict", tagger / "run", large, "-o", out, "--window", 2, "--resume"]
    process = begun(*command)
    wait_until((tmp_path / "out.journal").exists)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not out.exists()
    assert beamlearn(*command) == 0
    assert out.read_bytes() == (tagger / "large.out").read_bytes()


@pytest.mark.slow
def test_a_broken_pipe_ends_quietly(tagger, large):
    process = begun("predict", tagger / "run", large, "--window", 8, stdout=subprocess.PIPE)
    assert process.stdout.readline().startswith(b"1\t")
    process.stdout.close()
    told = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(timeout=120) == 1
    assert all(line.startswith("Decoding with a beam") for line in told.splitlines()), told


@pytest.mark.slow
def test_workers_come_to_the_same_bytes_even_if_one_is_killed(tagger, large, tmp_path, monkeypatch):
    from beamlearn.prediction import answered as module

    command = ["predict", tagger / "run", large, "--workers", 2, "--window", 50]
    submitted, killed = module.submitted, []

    def submit(executor, job, window):
        if window.start.sentence > 700 and not killed:
            killed.append(next(iter(executor.pool._processes)))
            os.kill(killed[0], signal.SIGKILL)
        return submitted(executor, job, window)

    monkeypatch.setattr(module, "submitted", submit)
    assert beamlearn(*command, "-o", tmp_path / "out") == 0
    assert killed
    assert (tmp_path / "out").read_bytes() == (tagger / "large.out").read_bytes()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_a_cluster_comes_to_the_same_bytes_even_if_a_worker_is_killed(
    tagger, large, tmp_path, monkeypatch
):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", SOURCES["PYTHONPATH"])
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        engine = ["--engine", f"dask:{cluster.scheduler_address}"]
        out = tmp_path / "out"
        process = begun("predict", tagger / "run", large, "-o", out, "--window", 5, *engine)
        wait_until(lambda: (path := Path(f"{out}.partial")).exists() and path.stat().st_size > 0)
        os.kill(pids[0], signal.SIGKILL)
        _, told = process.communicate(timeout=240)
        assert process.returncode == 0, told.decode()
    assert out.read_bytes() == (tagger / "large.out").read_bytes()
