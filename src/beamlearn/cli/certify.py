"""`beamlearn certify`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from ..certificate import Certificate
from ..guarantee import Judged
from ..regret import regret
from ..report.bound import Curve, check_matplotlib, draw_bound
from ..settings import SettingsError

POINTS = 24
"""How many certificates a figure shows."""


def certify(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    delta: Annotated[float, typer.Option(help="With which probability the bound may fail.")] = 0.05,
    upper: Annotated[
        float | None,
        typer.Option(help="What no loss exceeds.", show_default="from the radius of the weights"),
    ] = None,
    clip: Annotated[
        float | None, typer.Option(help="Certify min(loss, CLIP) in place of the loss.")
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(min=1, help="Judge the run after so many examples.", show_default="all"),
    ] = None,
    with_regret: Annotated[
        bool,
        typer.Option("--regret", help="Find the best policy in hindsight; this takes long."),
    ] = False,
    with_selection: Annotated[
        bool,
        typer.Option(
            "--select", help="Choose one kept iterate with a bound, for --policy selected."
        ),
    ] = False,
    test: Annotated[
        str | None, typer.Option(help="A file to measure the loss of the mixture on.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the bound against the number of examples (svg, png).")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
) -> None:
    """Say what a run proves: a bound on the loss of the mixture of its iterates, with its parts.

    The run must be one pass over its examples, without dropout, trained with --stream. A bound
    on the losses follows from --radius, or is given as --upper; --clip needs none.

    [bold]Examples[/bold]

    beamlearn train tag --train t.conllu --model linear --loss upper_bound --stream --epochs 1
    --reduction mean --optimizer gradient --radius 20 --mixture 32 --out runs/proven

    beamlearn certify runs/proven --clip 1

    beamlearn certify runs/proven --clip 1 --regret --select --test test.conllu --figure bound.svg

    beamlearn evaluate runs/proven test.conllu --policy mixture
    """
    if upper is not None and clip is not None:
        raise SettingsError("`upper` or `clip` can be given, but both came; leave out one of them.")
    if figure is not None:
        check_matplotlib()
    judged = Judged.open(run)
    if examples is not None:
        judged = judged.first(examples)
    u = clip if clip is not None else judged.largest() if upper is None else upper
    proof = judged.certificate(u, delta, clip=clip is not None)
    found: dict[str, Any] = {"certificate": proof.to_json()}
    told = [str(proof)]
    if (cost := judged.cost(proof)) is not None:
        found["cost"] = cost.to_json()
        told.append(str(cost))
    if (share := judged.shares(delta)) is not None:
        found["share"] = share.to_json()
        told.append(
            f"Directly from the costs: with probability {1 - delta:g} the expected share of wrong "
            f"decisions per example is at most {share.bound:.4g} ({share.empirical_loss:.4g} seen "
            f"+ {share.deviation:.4g} deviation)."
        )
    with Progress(console=Console(stderr=True), transient=True) as progress:
        if with_regret:
            found["regret"], sentence = regret_of(judged, progress)
            told.append(sentence)
        if with_selection:
            found["selection"], sentence = selection_of(judged, proof, progress)
            told.append(sentence)
        population = measured(judged, test, proof, progress)
    if population:
        found["test_loss"] = population[-1][1]
        told.append(f"On {test} the kept iterates have a mean loss of {population[-1][1]:.4g}.")
    if figure is not None:
        curve = Curve(growing(judged, proof), population)
        draw_bound(curve, figure, f"{proof.statement}, probability {1 - delta:g}")
        told.append(f"The figure is in {figure}.")
    told.append(assumptions(judged))
    print(json.dumps(found) if as_json else "\n\n".join(told))


def regret_of(judged: Judged, progress: Progress) -> tuple[dict[str, Any], str]:
    """The best policy in hindsight and the regret against it."""
    collecting = progress.add_task("collecting trajectories", total=None)
    optimizing = progress.add_task("optimizing in hindsight", total=None, visible=False)

    def on_step(evaluations: int, value: float, lower: float | None) -> None:
        told = f"{value:.4g}" if lower is None else f"{lower:.4g} to {value:.4g}"
        progress.update(optimizing, visible=True, description=f"hindsight {evaluations}: {told}")

    best = judged.hindsight(
        lambda done, of: progress.update(collecting, completed=done, total=of), on_step
    )
    losses = judged.evidence.losses
    split = regret(sum(losses) / len(losses), best.value, best.lower)
    return split.to_json(), str(split)


def selection_of(
    judged: Judged, proof: Certificate, progress: Progress
) -> tuple[dict[str, Any], str]:
    """One iterate with a bound of the same kind, kept as a policy."""
    bar = progress.add_task("selecting", total=len(judged.iterates()))
    number, chosen = judged.select(proof, on_iterate=lambda: progress.advance(bar))
    told = f"{chosen}\nIt is that of round {number}; decode with it by --policy selected."
    return {**chosen.to_json(), "round": number}, told


def measured(
    judged: Judged, test: str | None, proof: Certificate, progress: Progress
) -> list[tuple[int, float]]:
    """The mean loss of the iterates so far on a test file, after more and more examples."""
    if test is None:
        return []
    data = judged.kind.read(test, judged.experiment)
    batches = judged.batches(data)
    iterates = judged.iterates()
    bar = progress.add_task("measuring", total=len(iterates))
    means: list[float] = []
    found = []
    for number, state in sorted(iterates.items()):
        losses = proof.counted(judged.losses_of(state, batches))
        means.append(sum(losses) / len(losses))
        found.append((judged.examples_before(number) + 1, sum(means) / len(means)))
        progress.advance(bar)
    return found


def growing(judged: Judged, proof: Certificate) -> list[Certificate]:
    """The same certificate after more and more examples, evenly on a logarithmic scale."""
    whole = len(judged.evidence)
    counts = sorted({round(whole ** (0.4 + 0.6 * i / (POINTS - 1))) for i in range(POINTS)})
    assert proof.delta is not None  # the losses of a run are no expectations
    return [
        judged.certificate(proof.upper, proof.delta, clip=proof.clip, count=count)
        for count in counts
    ]


def assumptions(judged: Judged) -> str:
    """What the numbers rest on that no program can check."""
    return (
        "This rests on examples that are independent draws of one population, on trajectories of "
        f"at most {judged.evidence.horizon} beams, and on a vocabulary that was chosen before. It "
        "is about the uniform mixture of all iterates (--policy mixture), not about the best on "
        "validation."
    )
