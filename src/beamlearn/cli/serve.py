"""`beamlearn serve`."""

from typing import Annotated

import typer

from ..serving.limits import Limits
from .shared_options import Device, PolicyName, RunFolder, Threads, policy_of

USUAL = Limits()


def serve(
    run: RunFolder,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on. By default only this machine reaches the server."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the server; 0 is any free port.")
    ] = 8000,
    width: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Width of the beam, unless a request has another.",
            show_default="as measured by train",
        ),
    ] = None,
    max_batch: Annotated[
        int, typer.Option(min=1, help="Number of inputs that are searched together, at most.")
    ] = USUAL.max_batch,
    wait_ms: Annotated[
        float,
        typer.Option(min=0, help="Milliseconds that an input waits for others to join it."),
    ] = USUAL.wait_ms,
    max_bytes: Annotated[
        int, typer.Option(min=1, help="Size of a request, at most.")
    ] = USUAL.max_bytes,
    max_inputs: Annotated[
        int, typer.Option(min=1, help="Number of inputs in a request, at most.")
    ] = USUAL.max_inputs,
    max_length: Annotated[
        int, typer.Option(min=1, help="Number of characters of an input, at most.")
    ] = USUAL.max_length,
    max_width: Annotated[
        int, typer.Option(min=1, help="Width of the beam that a request may ask for, at most.")
    ] = USUAL.max_width,
    max_waiting: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of inputs that wait or are searched, at most; further requests are "
            "turned away.",
        ),
    ] = USUAL.max_waiting,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds that a request may take.")
    ] = USUAL.timeout,
    max_memory: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Memory in GB that one input may need. Longer ones are refused.",
            show_default="most of what is free",
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="How to split texts for a tagger or parser: auto, blanks, words or characters.",
            show_default="as in training",
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX", help="Transduction: only outputs that match a regular expression."
        ),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="single|double",
            help="In double precision, no number of an answer depends on the requests that arrive "
            "at the same time.",
            show_default="double on a cpu, else single",
        ),
    ] = None,
    policy: PolicyName = None,
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """Answer requests over HTTP, with JSON in and out.

    Requests that arrive together are searched together, and each gets the answer that it would
    get alone. On SIGTERM or Ctrl-C, the server answers what it took, and ends.

    [bold]Examples[/bold]

    beamlearn serve runs/pos

    beamlearn serve runs/g2p --port 9000 --width 4 --max-batch 64

    curl localhost:8000/predict --json '{"inputs": ["The dog barks."], "nbest": 3}'
    """
    from .jobs import serve as job  # loads torch

    limits = Limits(
        max_batch=max_batch,
        wait_ms=wait_ms,
        max_bytes=max_bytes,
        max_inputs=max_inputs,
        max_length=max_length,
        max_width=max_width,
        max_waiting=max_waiting,
        timeout=timeout,
    )
    job.serve(
        run,
        limits,
        host=host,
        port=port,
        width=width,
        max_memory=max_memory,
        options={"tokenizer": tokenizer, "pattern": pattern},
        precision=precision,
        policy=policy_of(policy, mixture=False),
        device=device,
        threads=threads,
    )
