"""What `beamlearn inspect` does."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from ...data.text import write_text
from ...evaluation.wrong_examples import ErrorKind, error_kind
from ...reports.inspector import InputRequest, InspectedRun, inspect_input
from ...reports.inspector.error_walk import ErrorWalk, walk_errors
from ...reports.inspector.page import page
from ...reports.inspector.request import WIDEST
from ...reports.inspector.serve import check_server, serve
from ...reports.inspector.text import print_inputs
from ...tasks.data import DataSet
from ...tasks.decoding_width import default_width
from ...tasks.experiment import from_hugging_face
from ...tasks.loading import load
from ...tasks.registry import task_named
from ...tasks.settings import Experiment
from ...training.choices import Policy
from ...training.run import Run
from ...training.settings import SettingsError
from ..console import say
from .setup import given_options, set_up

MOST = 50
"""Inputs on one exported page."""


def inspect(
    run: Path,
    input: str | None,
    *,
    against: Path | None,
    width: int | None,
    sentence: str | None,
    errors: str | None,
    typed: str | None,
    right: str | None,
    export: str | None,
    text: bool,
    port: int,
    open_browser: bool,
    hf: bool,
    options: Mapping[str, str | None],
    policy: Policy,
    device: str,
    threads: int,
) -> None:
    """Show searches on a page that is served, in a file, or as text."""
    if text and export is not None:
        raise SettingsError("`text` or `export` can be given, got both; leave out one.")
    kind = None if errors is None else error_kind(errors)
    if kind is not None and typed is not None:
        raise SettingsError("`errors` or `typed` can be given, got both; leave out one.")
    serving = not text and export is None
    if serving:
        check_server()
    elif typed is not None and input is not None:
        raise SettingsError("INPUT or `typed` can be given, got both; leave out one.")
    set_up(device, threads)
    if hf and not from_hugging_face(Run.open(run)):
        raise SettingsError(
            f"`hf` goes with the folder of a Hugging Face model, but {run} is a run; leave it out."
        )
    paths = [run] if against is None else [run, against]
    own = typed is None
    inspected = opened(paths, input, own, options, width, device, policy)
    requests = requested(inspected[0], sentence, typed, right)
    walk = None if kind is None else walked(inspected[0], kind)
    if walk is not None:
        requests = errors_requested(walk, requests, sentence is not None, serving)
        say(Console(stderr=True), remark(walk, len(requests), serving))
        if not requests:
            return
    if serving:
        if len(requests) > 1:
            raise SettingsError(
                f"`sentence` must be one number where a page is served, got {sentence}; add "
                "`export` or `text` for several."
            )
        serve(inspected, requests[0] if requests else None, port, open_browser, walk)
        return
    if not requests:
        raise SettingsError(
            f"INPUT or `typed` must be given, as {run} has no validation file that is still there, "
            "got neither."
        )
    cases = [inspect_input(inspected, request) for request in requests]
    if export is not None:
        write_text(export, page(inspected, cases, walk=walk))
    else:
        print_inputs(cases)


def opened(
    paths: Sequence[Path],
    input: str | None,
    own: bool,
    options: Mapping[str, str | None],
    width: int | None,
    device: str,
    policy: Policy,
) -> list[InspectedRun]:
    """Runs and the file that is looked at: what came, or what the first one was validated on.

    That is left unread if nobody wants what is a run's `own`.
    """
    if input == "-" and len(paths) > 1:
        raise SettingsError(
            "INPUT must be a file where two runs read it, got -; write it to a file first."
        )
    if len(set(paths)) < len(paths):
        raise SettingsError(f"`against` must be another run than {paths[0]}, got the same.")
    found: list[InspectedRun] = []
    for path in paths:
        model, experiment = load(path, device, policy)
        task = task_named(experiment.task)
        given = given_options(task, path, options)
        if not found:
            file = validation_file(experiment) if input is None and own else input
            usual = default_width(path, experiment.learning, policy)
            beam = min(usual, WIDEST) if width is None else width
        if found and task is not found[0].task:
            raise SettingsError(
                f"`against` must be a run of the same task as {paths[0]}, which is "
                f"{found[0].task.name!r}, but {path} is one of {task.name!r}."
            )
        if given and input is None:
            name = min(given)
            raise SettingsError(
                f"`{name}` is for reading INPUT, got none; name the file, or leave out `{name}`."
            )
        data: DataSet | None = None
        if input is not None:
            data = task.read_labeled(input, model, experiment, given)
        elif file is not None:
            data = task.read(file, experiment)
        found.append(InspectedRun(str(path), task, model, beam, data))
    if len({one.size for one in found}) > 1:
        raise SettingsError(
            f"{file} must have the same inputs for both runs, but {found[0].size} and "
            f"{found[1].size} were read; look at one run alone."
        )
    return found


def validation_file(experiment: Experiment) -> str | None:
    """The file that a run was validated on, if it is still there."""
    dev = None if experiment.data is None else experiment.data.dev
    return dev if dev is not None and Path(dev).is_file() else None


def requested(
    run: InspectedRun, sentence: str | None, typed: str | None, right: str | None
) -> list[InputRequest]:
    """What to look at first; nothing if that is not given and there is no file."""
    if right is not None and typed is None:
        raise SettingsError("`right` goes with `typed`, got `right` alone; add `typed`.")
    if typed is not None:
        if sentence is not None:
            raise SettingsError("`sentence` or `typed` can be given, got both; leave out one.")
        return [InputRequest(run.width, text=typed, right=right)]
    if not run.size:
        if sentence is not None:
            raise SettingsError(no_file("sentence", run))
        return []
    return [InputRequest(run.width, number=number) for number in numbers(sentence or "1", run.size)]


def no_file(name: str, run: InspectedRun) -> str:
    """The sentence for an option that needs a file."""
    return (
        f"`{name}` is for reading INPUT, got none, and {run.name} has no validation file that is "
        "still there; name the file."
    )


def walked(run: InspectedRun, kind: ErrorKind) -> ErrorWalk:
    """The errors in the file of a run; refuse a run without one."""
    if not run.size:
        raise SettingsError(no_file("errors", run))
    return walk_errors(run, kind)


def errors_requested(
    walk: ErrorWalk, requests: Sequence[InputRequest], chosen: bool, serving: bool
) -> list[InputRequest]:
    """The errors to show: of inputs that were `chosen`, or all up to a page full of them.

    A server begins with the first one, or with what was chosen, and leads to the others.
    """
    if not walk.numbers:
        return []
    if chosen and serving:
        return list(requests)
    if chosen:
        return [one for one in requests if one.number in walk.numbers]
    shown = walk.numbers[: 1 if serving else MOST]
    return [InputRequest(walk.width, number=number) for number in shown]


def remark(walk: ErrorWalk, shown: int, serving: bool) -> str:
    """How many errors there are, and how many of them are shown."""
    if serving or shown == len(walk.numbers):
        return walk.summary
    are = "is" if shown == 1 else "are"
    return f"{walk.summary} {shown:,} of them {are} shown; choose others with --sentence."


def numbers(text: str, size: int) -> range:
    """Read which inputs are meant, as places from 0.

    >>> numbers("2", 9), numbers("2-4", 9)
    (range(1, 2), range(1, 4))
    """
    parts = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text.strip())
    first, last = (int(parts[1]), int(parts[2] or parts[1])) if parts else (0, 0)
    if not 1 <= first <= last <= size:
        raise SettingsError(
            f"`sentence` must be a number from 1 to {size}, or several as in 1-5, got {text!r}."
        )
    if last - first >= MOST:
        raise SettingsError(f"`sentence` may be at most {MOST} inputs, got {last - first + 1}.")
    return range(first - 1, last)
