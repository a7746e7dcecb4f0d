"""`beamlearn inspect`."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..data.text import write_text
from ..reports.inspector import InputRequest, InspectedRun, inspect_input
from ..reports.inspector.page import page
from ..reports.inspector.request import WIDEST
from ..reports.inspector.serve import check_server, serve
from ..reports.inspector.text import print_inputs
from ..tasks.data import DataSet
from ..tasks.registry import load
from ..tasks.settings import Experiment
from ..training.run import Policy as Policies
from ..training.settings import SettingsError
from .device import Device, Threads, set_up
from .policy import Mixture, Policy, policy_of
from .task import Column, Layout, References, given_options
from .tasks import COMMANDS

MOST = 50
"""Inputs on one exported page."""


def inspect(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    input: Annotated[
        str | None,
        typer.Argument(
            help="A file with right answers, or - for standard input.",
            show_default="the run's validation file",
        ),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="A second run, to be shown below on the same input.")
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(min=1, max=WIDEST, help="Of the beam.", show_default="as in training"),
    ] = None,
    sentence: Annotated[
        str | None,
        typer.Option(help="Which of the file, from 1; with --export or --text also as in 1-5."),
    ] = None,
    typed: Annotated[
        str | None, typer.Option(metavar="INPUT", help="Look at this instead of a file.")
    ] = None,
    right: Annotated[
        str | None, typer.Option(metavar="OUTPUT", help="The right output of --typed.")
    ] = None,
    export: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the page to a file, and end.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print all of it, and end.")] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of the server.", show_default="any free one")
    ] = 0,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
    layout: Layout = None,
    column: Column = None,
    references: References = None,
    policy: Policy = None,
    mixture: Mixture = False,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Look into a search: what the beam kept, what it dropped, and where the best output was lost.

    The page is served to this machine alone, until Ctrl-C.

    [bold]Examples[/bold]

    beamlearn inspect runs/pos test.conllu

    beamlearn inspect runs/pos test.conllu --against runs/likelihood --sentence 7

    beamlearn inspect runs/pos --typed "the dog barks" --right "DET NOUN VERB" --text

    beamlearn inspect runs/g2p --sentence 1-5 --export searches.html
    """
    if text and export is not None:
        raise SettingsError("`text` or `export` can be given, but both came; leave out one.")
    serving = not text and export is None
    if serving:
        check_server()
    elif typed is not None and input is not None:
        raise SettingsError("INPUT or --typed can be given, but both came; leave out one.")
    set_up(device, threads)
    paths = [run] if against is None else [run, against]
    options = {"layout": layout, "column": column, "references": references}
    own = typed is None
    inspected = opened(paths, input, own, options, width, device, policy_of(policy, mixture))
    requests = requested(inspected[0], sentence, typed, right)
    if serving:
        if len(requests) > 1:
            raise SettingsError(
                f"`sentence` must be one number where a page is served, but {sentence} came; add "
                "--export or --text for several."
            )
        serve(inspected, requests[0] if requests else None, port, open_browser)
        return
    if not requests:
        raise SettingsError(
            f"A file or --typed is needed, as {run} has no validation file that is still there, "
            "but neither came; give one."
        )
    cases = [inspect_input(inspected, request) for request in requests]
    if export is not None:
        write_text(export, page(inspected, cases))
    else:
        print_inputs(cases)


def opened(
    paths: Sequence[Path],
    input: str | None,
    own: bool,
    options: Mapping[str, str | None],
    width: int | None,
    device: str,
    policy: Policies,
) -> list[InspectedRun]:
    """Runs and the file that is looked at: what came, or what the first one was validated on.

    That is left unread if nobody wants what is a run's `own`.
    """
    if input == "-" and len(paths) > 1:
        raise SettingsError(
            "INPUT must be a file where two runs read it, but - came; write it to a file first."
        )
    if len(set(paths)) < len(paths):
        raise SettingsError(f"`against` must be another run than {paths[0]}, but the same came.")
    found: list[InspectedRun] = []
    for path in paths:
        model, experiment = load(path, device, policy)
        task = COMMANDS[experiment.task]
        given = given_options(task, path, **options)
        if not found:
            file = validation_file(experiment) if input is None and own else input
            beam = min(experiment.learning.final_width, WIDEST) if width is None else width
        if found and task.kind is not found[0].kind:
            raise SettingsError(
                f"`against` must be a run of the same task as {paths[0]}, which is "
                f"{found[0].kind.name!r}, but {path} is one of {task.kind.name!r}."
            )
        if given and input is None:
            name = min(given)
            raise SettingsError(
                f"`{name}` is for reading INPUT, but none came; name the file, or leave out "
                f"--{name}."
            )
        data: DataSet | None = None
        if input is not None:
            data = task.read(input, model, experiment, given)
        elif file is not None:
            data = task.kind.read(file, experiment)
        found.append(InspectedRun(str(path), task.kind, model, beam, data))
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
    """What to look at first; nothing if nobody said so and there is no file."""
    if right is not None and typed is None:
        raise SettingsError("`right` belongs to --typed, but that did not come; add it.")
    if typed is not None:
        if sentence is not None:
            raise SettingsError("`sentence` or `typed` can be given, but both came; leave out one.")
        return [InputRequest(run.width, text=typed, right=right)]
    if not run.size:
        if sentence is not None:
            raise SettingsError(
                f"`sentence` is one of a file, but none came, and {run.name} has no validation "
                "file that is still there; give INPUT."
            )
        return []
    return [InputRequest(run.width, number=number) for number in numbers(sentence or "1", run.size)]


def numbers(text: str, size: int) -> range:
    """Read which inputs are meant, as places from 0.

    >>> numbers("2", 9), numbers("2-4", 9)
    (range(1, 2), range(1, 4))
    """
    parts = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text.strip())
    first, last = (int(parts[1]), int(parts[2] or parts[1])) if parts else (0, 0)
    if not 1 <= first <= last <= size:
        raise SettingsError(
            f"`sentence` must be a number from 1 to {size}, or several as in 1-5, but {text!r} "
            "came."
        )
    if last - first >= MOST:
        raise SettingsError(f"`sentence` may be {MOST} inputs, but {last - first + 1} came.")
    return range(first - 1, last)
