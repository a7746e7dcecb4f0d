"""What `beamlearn certify` does."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from ...reports.bound import Curve, check_drawable, draw_bound
from ...theory.certificate import Certificate
from ...theory.numbers import check_upper, confidence_phrase, round_up
from ...theory.regret import regret
from ...theory.rerun import held_out_losses, hindsight_of_run, select_and_save_iterate
from ...theory.run_certificate import RunCertificate
from ...training.settings import SettingsError

POINTS = 24
"""How many certificates a figure shows."""


def certify(
    run: Path,
    *,
    delta: float,
    upper: float | None,
    clip: float | None,
    examples: int | None,
    with_regret: bool,
    with_selection: bool,
    test: str | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Print what a run proves."""
    if upper is not None and clip is not None:
        raise SettingsError("`upper` or `clip` can be given, got both; leave out one of them.")
    if clip is not None:
        check_upper(clip, "clip")
    if figure is not None:
        check_drawable(figure)
    certified_run = RunCertificate.open(run)
    if examples is not None:
        certified_run = certified_run.first(examples)
    u = clip if clip is not None else certified_run.largest_loss() if upper is None else upper
    proof = certified_run.certificate(u, delta, clip=clip is not None)
    kept = len(certified_run.iterates) if with_selection or test is not None else 0
    found: dict[str, Any] = {"certificate": proof.to_json()}
    sentences = [str(proof)]
    if (cost := certified_run.cost(proof)) is not None:
        found["cost"] = cost.to_json()
        sentences.append(str(cost))
    if (share := certified_run.share(delta)) is not None:
        found["share"] = share.to_json()
        sentences.append(in_shares(share))
    population: list[tuple[int, float]] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        if with_regret:
            found["regret"], sentence = regret_of(certified_run, progress)
            sentences.append(sentence)
        if with_selection:
            bar = progress.add_task("selecting", total=kept)
            chosen = select_and_save_iterate(
                certified_run, proof, on_iterate=lambda: progress.advance(bar)
            )
            number = list(certified_run.iterates)[chosen.index]
            found["selection"] = {**chosen.to_json(), "round": number}
            sentences.append(f"{chosen}\nIt is that of round {number}: --policy selected.")
        if test is not None:
            bar = progress.add_task("measuring", total=kept)
            for seen, loss in held_out_losses(certified_run, proof, test):
                population.append((seen + 1, loss))
                progress.advance(bar)
    if population:
        found["test_loss"] = sum(loss for _, loss in population) / len(population)
        sentences.append(
            f"On {test} the kept iterates have a mean loss of {found['test_loss']:.4g}."
        )
    if figure is not None:
        draw_bound(Curve(growing(certified_run, proof), so_far(population)), figure)
        sentences.append(f"The figure is in {figure}.")
    found["assumptions"] = assumptions(certified_run)
    sentences.append("\n".join(["This holds", *(f"- {line};" for line in found["assumptions"])]))
    print(json.dumps(found) if as_json else "\n\n".join(sentences))


def in_shares(share: Certificate) -> str:
    """A certificate of the costs themselves."""
    vacuous = " Vacuous: no share is above 1." if share.vacuous else ""
    return (
        f"{confidence_phrase(share.delta)} the expected cost of an output, as a share of the most "
        f"that it can be, is at most {round_up(share.bound)} (Theorem 3 on the costs: "
        f"{share.empirical_loss:.4g} seen, {share.deviation:.4g} deviation).{vacuous}"
    )


def regret_of(certified_run: RunCertificate, progress: Progress) -> tuple[dict[str, Any], str]:
    """The best policy in hindsight and the regret against it."""
    collecting = progress.add_task("collecting trajectories", total=None)
    optimizing = progress.add_task("optimizing in hindsight", total=None, visible=False)

    def on_step(evaluations: int, value: float, lower: float | None) -> None:
        interval = f"{value:.4g}" if lower is None else f"{lower:.4g} to {value:.4g}"
        progress.update(
            optimizing, visible=True, description=f"hindsight {evaluations}: {interval}"
        )

    best = hindsight_of_run(
        certified_run,
        lambda done, of: progress.update(collecting, completed=done, total=of),
        on_step,
    )
    losses = certified_run.logged.losses
    split = regret(sum(losses) / len(losses), best.value, best.lower)
    return {**split.to_json(), "evaluations": best.evaluations}, str(split)


def growing(certified_run: RunCertificate, proof: Certificate) -> list[Certificate]:
    """The same certificate after more and more examples, evenly on a logarithmic scale."""
    whole = len(certified_run.logged)
    counts = sorted({round(whole ** (0.4 + 0.6 * i / (POINTS - 1))) for i in range(POINTS)})
    assert proof.delta is not None  # the losses of a run are no expectations
    return [
        certified_run.certificate(proof.upper, proof.delta, clip=proof.clip, count=count)
        for count in counts
    ]


def so_far(population: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Running means: the mixture of the iterates up to each."""
    losses = [loss for _, loss in population]
    return [
        (seen, sum(losses[:count]) / count) for count, (seen, _) in enumerate(population, start=1)
    ]


def assumptions(certified_run: RunCertificate) -> list[str]:
    """What the numbers rest on that no program can check, and what they are about."""
    learning = certified_run.learning
    estimates = "for costs that roll-outs estimate; what outputs cost is not bounded (Theorem 2)"
    return [
        f"for a beam of {learning.decoding_width} and losses that are a {learning.combined} along "
        "each trajectory",
        *([] if learning.rollouts is None else [estimates]),
        "for the uniform mixture of all iterates; --policy mixture decodes with an even sample of "
        "them, if one was kept, and no theorem speaks of the best on validation",
        "if the examples are independent draws of one population, and the vocabulary was chosen "
        "before",
        f"if no trajectory has more than {certified_run.horizon} beams",
        "if --delta, --upper, --clip, --examples and the end of training were chosen before the "
        "losses were seen; each statement, and each point of a figure, by itself",
    ]
