"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from ..check import check_choice
from ..data.pairs import Allowed
from ..hub.name import is_named
from ..tasks.tagging.settings import COLUMNS
from ..training.choices import Policy
from ..training.settings import SettingsError
from .completion import words


def on_disk(run: Path) -> Path:
    """The folder of a run; one in a repository is downloaded."""
    if not is_named(run):
        return run
    from ..hub.download import run_folder  # loads torch

    return run_folder(run)


RunFolder = Annotated[
    Path,
    typer.Argument(
        metavar="RUN",
        help="Run folder, hub:USER/NAME, or folder of a Hugging Face model.",
        callback=on_disk,
    ),
]
Device = Annotated[
    str,
    typer.Option(
        help="Device to compute on: cpu, cuda, cuda:1, mps, ...",
        autocompletion=words("cpu", "cuda", "mps"),
    ),
]
Threads = Annotated[
    int, typer.Option(min=1, help="Number of threads. More than 1 helps large networks only.")
]
PolicyName = Annotated[
    str | None,
    typer.Option(
        help="Which weights to use: the best on the validation file, the average of all "
        "iterates, a mixture of iterates, or the iterate selected by certify --select.",
        metavar="|".join(get_args(Policy)),
        autocompletion=words(*get_args(Policy)),
        show_default="best",
    ),
]
Mixture = Annotated[bool, typer.Option("--mixture", help="Short for --policy mixture.")]
Logs = Annotated[
    list[str] | None,
    typer.Option(
        help="Log the rounds to tensorboard, wandb or mlflow as well. May be repeated, or a list "
        "with commas.",
        metavar="tensorboard|wandb|mlflow",
        autocompletion=words("tensorboard", "wandb", "mlflow"),
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object only.")]
Layout = Annotated[
    str | None,
    typer.Option(
        help="Tagging: format of the file: auto, conllu or columns.",
        show_default="auto",
        autocompletion=words("auto", "conllu", "columns"),
    ),
]
Column = Annotated[
    str | None,
    typer.Option(
        help="Tagging: column with the right tags.",
        show_default="as in training",
        autocompletion=words(*COLUMNS),
    ),
]
References = Annotated[
    str | None,
    typer.Option(
        help="Transduction: number of right targets on a line: one or several; merged also "
        "joins lines with the same source.",
        show_default="as in training",
        autocompletion=words(*get_args(Allowed), "merged"),
    ),
]


def policy_of(policy: str | None, mixture: bool) -> Policy:
    """The policy that is asked for."""
    if mixture and policy not in (None, "mixture"):
        raise SettingsError(
            f"`policy` must be mixture if `mixture` is given, got {policy}; leave one out."
        )
    chosen = "mixture" if mixture else policy or "best"
    check_choice(chosen, get_args(Policy), "policy")
    return next(name for name in get_args(Policy) if name == chosen)
