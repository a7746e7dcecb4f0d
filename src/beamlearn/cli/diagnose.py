"""`beamlearn diagnose`."""

from typing import Annotated

import typer

from .shared_options import (
    AsJson,
    Column,
    Device,
    Layout,
    Mixture,
    PolicyName,
    References,
    RunFolder,
    Threads,
    policy_of,
)


def diagnose(
    run: RunFolder,
    file: Annotated[str, typer.Argument(help="File with right answers, or - for standard input.")],
    widths: Annotated[str, typer.Option(help="Widths of the beam.")] = "1,2,4,8,16,32",
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of examples, taken at equal distances.",
            show_default="all",
        ),
    ] = None,
    as_json: AsJson = False,
    layout: Layout = None,
    column: Column = None,
    references: References = None,
    policy: PolicyName = None,
    mixture: Mixture = False,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Find out why a model errs, and whether training with the beam is worth it.

    At each width: how often the best reachable output falls out of the beam and at which step,
    how often it is on the final list but not on top, and whether search or model is to blame.
    A sample is also searched with a very wide beam. From these, a verdict with an expected gain.

    [bold]Examples[/bold]

    beamlearn diagnose runs/likelihood dev.conllu

    beamlearn diagnose runs/g2p dev.tsv --widths 1,8,32 --limit 500

    beamlearn diagnose runs/likelihood dev.conllu --json | jq .verdict.text
    """
    from .jobs import diagnose as job  # loads torch

    job.diagnose(
        run,
        file,
        widths,
        limit,
        as_json=as_json,
        options={"layout": layout, "column": column, "references": references},
        policy=policy_of(policy, mixture),
        device=device,
        threads=threads,
    )
