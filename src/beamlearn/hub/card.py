"""The card of a model, made from its run."""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from ..plural import counted
from ..reports.configuration import train_command
from ..tasks.experiment import read_experiment, read_model
from ..tasks.loading import task_of
from ..tasks.settings import Experiment
from ..tasks.task import TaskSpec
from ..theory.run_certificate import RunCertificate
from ..theory.run_losses import CannotCertifyError
from ..training.run import Run
from ..training.run.portable import without_paths

ESTIMATORS = {"tag": "BeamTagger", "parse": "BeamParser", "transduce": "BeamTransducer"}
"""The estimators that read a run, by its task."""
HEAD = """\
---
library_name: beamlearn
tags:
- beamlearn
- beam-search
# license: fill this in
---
"""
LICENSE = """\
## License

No license has been chosen yet. The owner of the repository fills it in here and at `license` above;
it must fit those of the data."""
"""Nobody but the owner can choose one."""


def card_of(staged: Path, run: Path, repository: str) -> str:
    """The card of the model in the folder `staged`, whose training was in `run`."""
    found, trained = Run.open(staged), Run.open(run)
    task = task_of(found)
    experiment = read_experiment(task, found)
    sections = (
        introduction(task, experiment, found, repository),
        usage(task, repository),
        data(experiment),
        scores(task, trained),
        settings(experiment, repository),
        certificate(run),
        LICENSE,
    )
    return HEAD + "".join(f"\n{section}\n" for section in sections if section)


def introduction(
    task: TaskSpec[Any, Any, Any], experiment: Experiment, run: Run, repository: str
) -> str:
    """What it is."""
    model = read_model(task, run, experiment, "cpu")
    size = sum(weights.numel() for weights in model.scorer.parameters())
    learning = experiment.learning
    how = learning.algorithm or f"{learning.strategy} with {learning.loss}"
    return (
        f"# {repository.partition('/')[2]}\n\n"
        f"A {experiment.group} with {size:,} parameters, trained by "
        f"beamlearn, which trains models with the beam that they decode with. Algorithm: `{how}`, "
        f"with a beam of {learning.decoding_width}. The files hold numbers and text only; no code "
        "is run to load them."
    )


def usage(task: TaskSpec[Any, Any, Any], repository: str) -> str:
    """How to use it."""
    lines = [
        "## How to use it\n",
        "    pip install 'beamlearn[hub]'",
        f"    beamlearn predict hub:{repository} INPUT --nbest 3",
    ]
    if task.name in ESTIMATORS:
        name = ESTIMATORS[task.name]
        example = '["one", "two"]' if task.name == "transduce" else '[["the", "dog", "barks"]]'
        lines += [
            "\n```python",
            "import beamlearn as bl\n",
            f'model = bl.{name}.from_run("hub:{repository}")',
            f"model.predict_nbest({example})",
            "```",
        ]
    return "\n".join(lines)


def data(experiment: Experiment) -> str:
    """What it learned from, by the names of the files."""
    files = experiment.data
    if files is None:
        return "## Data\n\nIt was fitted in memory, to data that is not named here."
    dev = "every tenth sentence of it" if files.dev is None else f"`{files.dev}`"
    return (
        f"## Data\n\nTrained on `{files.train}`, and validated on {dev}. What these files are, and "
        "under which conditions they may be used, is for the owner of this model to add."
    )


def scores(task: TaskSpec[Any, Any, Any], run: Run) -> str:
    """What was measured when the training was over."""
    found = without_paths(run.load_metrics() or {})
    results = found.get("results") or []
    if not results:
        return "## Scores\n\nNothing was measured."
    names = [name for name in task.columns if all(name in row for row in results)]
    names = [name for name in names if not name.endswith("_per_second")]
    where = f"`{found['file']}`" if "file" in found else "the validation data"
    rows = [["beam", *(task.columns[name] for name in names)], ["---:"] * (len(names) + 1)]
    rows += [[str(row["width"]), *(number(row[name]) for name in names)] for row in results]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    examples = counted(found.get("examples", 0), "example")
    return f"## Scores\n\nOn {where} ({examples}), with beams of several widths:\n\n{table}"


def number(value: Any) -> str:
    """A number of a report; rates are fractions."""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def settings(experiment: Experiment, repository: str) -> str:
    """How it was trained."""
    command = train_command(experiment, Path(repository.partition("/")[2]))
    made = f"Uploaded with beamlearn {version('beamlearn')} and torch {torch.__version__}"
    if command is None:
        return f"## Settings\n\n{made}; all settings are in `config.json`."
    command = command.replace(f"{Path.cwd()}/", "")
    return (
        f"## Settings\n\n{made}; all settings are in `config.json`. The command:\n\n    {command}"
    )


def certificate(run: Path) -> str:
    """What the run proves, if the theorems apply to it."""
    try:
        found = RunCertificate.open(run)
        proof = found.certificate(found.largest_loss())
    except CannotCertifyError:
        return ""
    lines = "\n".join(indented(str(proof)))
    return (
        f"## Certificate\n\n{lines}\n\nIt is about the mixture of all iterates of the training, "
        "not about the single best model in this repository."
    )


def indented(text: str) -> Iterator[str]:
    """The lines of a text as a block."""
    return (f"    {line}" for line in text.splitlines())
