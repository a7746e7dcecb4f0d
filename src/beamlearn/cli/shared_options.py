"""Options that several commands have."""

from typing import Annotated, get_args

import typer

from ..check import check_choice
from ..training.choices import Policy
from ..training.settings import SettingsError

Device = Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps, ...")]
Threads = Annotated[int, typer.Option(min=1, help="More of them help large networks only.")]
PolicyName = Annotated[
    str | None,
    typer.Option(
        help="best on validation, average of all iterates, mixture of many, or the one that "
        "`certify --select` chose.",
        metavar="|".join(get_args(Policy)),
        show_default="best",
    ),
]
Mixture = Annotated[bool, typer.Option("--mixture", help="The same as --policy mixture.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Layout = Annotated[
    str | None, typer.Option(help="Tagging: auto, conllu or columns.", show_default="auto")
]
Column = Annotated[
    str | None,
    typer.Option(help="Tagging: where the right tags are.", show_default="as in training"),
]
References = Annotated[
    str | None,
    typer.Option(
        help="Transduction: one target on a line, several, or merged: also those of other lines "
        "with the same source.",
        show_default="as in training",
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
