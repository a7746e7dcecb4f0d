"""A run and a comparison so small that a report on them takes a moment."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from tiny import conllu, sentences

import beamlearn.comparison.runner
from beamlearn.cli.main import run

SMALL = [
    *("--context", "streaming", "--word-size", 4, "--affix-size", 4, "--history-size", 8),
    *("--batch-size", 4, "--learning-rate", 0.05),
]
HOSTILE = "<img src=x onerror=alert(1)> $x$"
"""The name of a file."""


def beamlearn_run(*arguments):
    return run([str(argument) for argument in arguments])


@contextmanager
def here(processes):
    with ThreadPoolExecutor(1) as pool:
        yield pool


def write_files(folder):
    folder.mkdir(exist_ok=True)
    return {
        "train": conllu(folder / "train.conllu", sentences(12)),
        "dev": conllu(folder / f"{HOSTILE}.conllu", sentences(9, seed=1)),
        "test": conllu(folder / "test.conllu", sentences(14, seed=2)),
    }


def make_run(folder, *more):
    """A run of three epochs with a beam of 2."""
    files, out = write_files(folder), folder / "run"
    given = ("--train", files["train"], "--dev", files["dev"], "--width", 2, "--epochs", 3)
    assert beamlearn_run("train", "tag", *given, *SMALL, *more, "--out", out) == 0
    return out


def make_comparison(folder):
    """Two rows of Table 1 and a loss at two widths, with two seeds."""
    files, out = write_files(folder), folder / "compared"
    given = [word for name, file in files.items() for word in (f"--{name}", file)]
    grid = ("--algorithms", "log_likelihood,continue", "--losses", "upper_bound", "--seeds", 2)
    widths = ("--widths", "2,3", "--test-widths", "1,2,3", "--epochs", 2)
    asked = ["compare", "tag", *given, *grid, *widths, *SMALL, "--out", out]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beamlearn.comparison.runner, "local_processes", here)
        patch.setattr("sys.argv", ["beamlearn", *map(str, asked)])
        assert beamlearn_run(*asked) == 0
    return out
