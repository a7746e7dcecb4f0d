"""`beamlearn push`."""

from pathlib import Path
from typing import Annotated

import typer


def push(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    repo: Annotated[str, typer.Argument(metavar="REPO", help="Repository: USER/NAME.")],
    private: Annotated[
        bool, typer.Option("--private", help="Make the repository private, if it is new.")
    ] = False,
    replace_card: Annotated[
        bool, typer.Option("--replace-card", help="Replace the card that is in the repository.")
    ] = False,
    dry_run: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Upload nothing, and write what would be uploaded to FOLDER."
        ),
    ] = None,
) -> None:
    """Upload the model of a run to the Hugging Face Hub, with a card.

    Only what predict needs is uploaded: no log, no checkpoint, no data, and no paths. The card
    says what the model is, how to use it, and what was measured. Log in first, with hf auth login.

    [bold]Examples[/bold]

    beamlearn push runs/pos ann/english-tagger --dry-run build/card

    beamlearn push runs/pos ann/english-tagger --private

    beamlearn predict hub:ann/english-tagger new.conllu
    """
    from .jobs import push as job  # loads torch

    job.push(run, repo, private=private, replace_card=replace_card, dry_run=dry_run)
