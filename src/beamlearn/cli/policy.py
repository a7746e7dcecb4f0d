"""The option that says which of the learned policies to use."""

from typing import Annotated, get_args

import typer

from ..check import check_choice
from ..training import run as runs
from ..training.settings import SettingsError

Policy = Annotated[
    str | None,
    typer.Option(
        help="best on validation, average of all iterates, mixture of many, or the one that "
        "`certify --select` chose.",
        metavar="|".join(get_args(runs.Policy)),
        show_default="best",
    ),
]
Mixture = Annotated[bool, typer.Option("--mixture", help="The same as --policy mixture.")]


def policy_of(policy: str | None, mixture: bool) -> runs.Policy:
    """The policy that is asked for."""
    if mixture and policy not in (None, "mixture"):
        raise SettingsError(
            f"`policy` must be mixture if --mixture is given, but {policy} came; leave one out."
        )
    chosen = "mixture" if mixture else policy or "best"
    check_choice(chosen, get_args(runs.Policy), "policy")
    return next(name for name in get_args(runs.Policy) if name == chosen)
