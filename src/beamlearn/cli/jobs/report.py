"""What `beamlearn report` does."""

from math import isfinite
from pathlib import Path
from typing import Any

from rich.console import Console

from ...comparison.results import ABOUT, read_comparison
from ...data import atomic
from ...data.text import DataError
from ...reports.bound import Curve
from ...reports.comparison_report import report_of_comparison
from ...reports.figure_file import check_matplotlib
from ...reports.inspect_command import InspectCommand
from ...reports.label_errors import ErrorsFound, report_at
from ...reports.proof import Proof
from ...reports.run_report import Tested, report_of_run
from ...reports.section import Table
from ...tasks.experiment import VALIDATION, load, read_experiment
from ...tasks.loading import task_of
from ...tasks.settings import Experiment
from ...tasks.task import Report, TaskSpec
from ...theory.run_certificate import RunCertificate
from ...theory.run_losses import CannotCertifyError
from ...training.run import CONFIG, MODEL, Run, RunError
from ...training.run.folder import PAGE
from ...training.settings import SettingsError
from ..console import say, with_progress
from .certify import assumptions, growing, in_shares
from .diagnose import findings, have_fates
from .evaluate import cell, numbers
from .setup import set_up

WIDTHS = (1, 2, 4, 8)
"""At which a run is tested unless others are asked for, beside that of its training."""
LABELS = {"search_error_rate": "search errors, of those that could be better"}
"""Of numbers that the page has in another form, too."""


def report(
    folder: Path,
    out: Path | None,
    *,
    test: str | None,
    widths: str | None,
    clip: float | None,
    device: str,
    threads: int,
) -> None:
    """Write the page of a run or of a comparison."""
    check_matplotlib()
    if out is not None and out.is_dir():
        raise SettingsError(
            f"`out` must be a file, but {out} is a folder; name a page in it, as {out / PAGE}."
        )
    if clip is not None and not (isfinite(clip) and clip > 0):
        raise SettingsError(
            f"`clip` must be a finite number above 0, got {clip}; give the largest loss that "
            "counts in full, such as 1."
        )
    if (folder / ABOUT).is_file():
        given = {"test": test, "widths": widths, "clip": clip}
        for name in (name for name, value in given.items() if value is not None):
            raise SettingsError(
                f"`{name}` goes with a run, but {folder} holds a comparison, which was tested "
                "already; leave it out."
            )
        page = report_of_comparison(read_comparison(folder), folder)
    elif (folder / CONFIG).is_file():
        set_up(device, threads)
        chosen = None if widths is None else numbers(widths, "widths")
        page = of_run(Run.open(folder), test, chosen, clip, device)
    else:
        raise RunError(
            f"{folder} must be a run folder or hold a comparison, but neither {CONFIG} nor {ABOUT} "
            "is in it; give a folder that `beamlearn train` or `beamlearn compare` wrote."
        )
    out = folder / PAGE if out is None else out
    try:
        atomic.make_folder(out.parent)
        atomic.write_bytes(out, page)
    except atomic.DiskFullError:
        raise
    except OSError as error:
        raise SettingsError(
            f"`out` must be a file that can be written, but the system says: {error}; choose "
            "another one."
        ) from None
    say(Console(stderr=True), f"The report is in {out}.")


def of_run(
    run: Run, test: str | None, widths: list[int] | None, clip: float | None, device: str
) -> bytes:
    """Decode what is to be decoded, certify what can be certified, and make the page."""
    task = task_of(run)
    experiment = read_experiment(task, run)
    chosen = sorted({*(widths or (*WIDTHS, experiment.learning.decoding_width))})
    tested = decoded(task, run, experiment, test, chosen, device)
    if isinstance(tested, str):
        say(Console(stderr=True), tested)
    return report_of_run(run, experiment, tested, certified(run, experiment, clip))


def decoded(
    task: TaskSpec[Any, Any, Any],
    run: Run,
    experiment: Experiment,
    test: str | None,
    widths: list[int],
    device: str,
) -> Tested | str:
    """Test a run; where there is nothing to test it on, a sentence that says what to give."""
    if not (run.path / MODEL).exists():
        return "No epoch of the training has ended yet, so that there is no model to test."
    model, _ = load(task, run.path, device)
    dev = None if experiment.data is None else experiment.data.dev
    file = dev if test is None else test
    if file is None or (test is None and file == "-"):
        return (
            "It was not tested, as it has no validation file of its own; give one with right "
            "answers as --test FILE."
        )
    try:
        data = task.read_labeled(file, model, experiment, {})
    except DataError as error:
        if test is not None:
            raise
        return (
            f"It was not tested, as its validation file cannot be read ({str(error).rstrip('.')}); "
            "give another one as --test FILE."
        )
    reports = [
        task.report(model, data, width) for width in with_progress(widths, len(widths), "testing")
    ]
    same = data.digest == run.config.get(VALIDATION, data.digest)
    if file == dev and not same:
        say(Console(stderr=True), f"{file} has changed since the training was validated on it.")
    trained = experiment.learning.decoding_width
    command = InspectCommand(str(run.path), file)
    return Tested(
        file="standard input" if file == "-" else file,
        validation=file == dev and same,
        examples=len(data),
        reports=reports,
        table=table(reports, task),
        main=trained,
        findings=findings(task, model, reports, trained) if have_fates(reports) else None,
        errors=ErrorsFound.of(task, model, data, report_at(reports, trained), command),
    )


def table(reports: list[Report], task: TaskSpec[Any, Any, Any]) -> Table:
    """What `evaluate` shows, one column per width."""
    found = [one.to_json() for one in reports]
    rows = (
        (LABELS.get(name, label), *(cell(name, one[name]) for one in found))
        for name, label in task.columns.items()
        if name in found[0]
    )
    return Table(("", *(f"beam {one['width']}" for one in found)), tuple(rows))


def certified(run: Run, experiment: Experiment, clip: float | None) -> Proof | str | None:
    """What the run proves; why not, if it was meant to; None if it was not."""
    try:
        certified_run = RunCertificate.open(run.path)
    except CannotCertifyError as error:
        return str(error) if experiment.learning.stream or clip is not None else None
    sentences: list[str] = []
    curve, share = None, certified_run.share()
    try:
        upper = certified_run.largest_loss() if clip is None else clip
    except CannotCertifyError as error:
        sentences.append(str(error))
    else:
        proof = certified_run.certificate(upper, clip=clip is not None)
        curve, cost = Curve(growing(certified_run, proof)), certified_run.cost(proof)
        said = [str(one).splitlines() for one in (proof, cost) if one is not None]
        sentences += [lines[0] for lines in said]
        sentences += [said[0][-1]] if proof.vacuous else []
    if share is not None:
        sentences.append(in_shares(share))
    sentences.append(f"This holds {'; '.join(assumptions(certified_run))}.")
    return Proof(curve, share, tuple(sentences))
