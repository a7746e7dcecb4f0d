"""Load a server: requests per second and waiting times, and what is lost when it ends.

    python benchmarks/serving.py RUN FILE

RUN is a tagger, and FILE has sentences in CoNLL-U. Every request has one sentence, and every client
sends its next one when it has its answer. All answers are compared with those that the sentences
get alone. Server and clients share this machine.
"""

import asyncio
import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from math import inf
from statistics import quantiles
from subprocess import PIPE, Popen
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from measure import report

from beamlearn.data.document import read_document

CLIENTS = (1, 8, 64)
SECONDS = 10.0
ENDINGS = 3
SENTENCES = 64
SERVERS = {
    "as usual": [],
    "no batches": ["--max-batch", "1"],
    "single precision": ["--precision", "single"],
}
HEAD = (
    "POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "Content-Length: {}\r\n\r\n"
)


@dataclass
class Tally:
    """What some clients saw."""

    seconds: list[float] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    answers: dict[bytes, set[bytes]] = field(default_factory=dict)


@contextmanager
def served(run: str, *options: str) -> Iterator[tuple[Popen[str], str]]:
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-m", "beamlearn", "serve", run, "--port", "0", *options]
    with Popen(command, stdout=PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            found = re.search(r"http://[0-9.:]+", said)
            assert found is not None, said
            yield process, found[0]
        finally:
            process.terminate()


def request_of(words: list[str]) -> bytes:
    """One sentence as a request."""
    body = json.dumps({"inputs": [words]}).encode()
    return HEAD.format(len(body)).encode() + body


async def client(url: str, requests: Iterator[bytes], end: float, tally: Tally) -> None:
    """Ask and wait, on one connection for as long as the server keeps it, until it is time."""
    place, connection = urlsplit(url), None
    for request in requests:
        if perf_counter() >= end:
            break
        began = perf_counter()
        try:
            if connection is None:
                connection = await asyncio.open_connection(place.hostname, place.port)
        except ConnectionError:
            tally.seen["not let in"] += 1
            return
        try:
            connection[1].write(request)
            head = await connection[0].readuntil(b"\r\n\r\n")
            size = re.search(rb"content-length: ([0-9]+)", head)
            assert size is not None
            body = await connection[0].readexactly(int(size[1]))
        except (ConnectionError, asyncio.IncompleteReadError):
            tally.seen["lost"] += 1
            return
        tally.seconds.append(perf_counter() - began)
        tally.seen[head[9:12].decode()] += 1
        if b" 200 " in head[:16]:
            tally.answers.setdefault(request, set()).add(body)
        if b"connection: close" in head:
            connection[1].close()
            connection = None
    if connection is not None:
        connection[1].close()


async def load(url: str, requests: list[bytes], clients: int, seconds: float) -> Tally:
    """So many clients at once, each from another sentence on."""
    tally, end = Tally(), perf_counter() + seconds
    ways = (islice(cycle(requests), i * 3 % len(requests), None) for i in range(clients))
    await asyncio.gather(*(client(url, way, end, tally) for way in ways))
    return tally


async def once(url: str, requests: list[bytes]) -> Tally:
    """Every request alone."""
    tally = Tally()
    await client(url, iter(requests), inf, tally)
    return tally


def batches(url: str) -> tuple[float, ...]:
    """How many inputs were searched so far, in how many batches."""
    with urlopen(f"{url}/metrics") as answer:
        text = answer.read().decode()
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines())
    return tuple(float(numbers[f"beamlearn_batch_inputs_{name}"]) for name in ("sum", "count"))


def measured(run: str, requests: list[bytes]) -> Iterator[dict[str, Any]]:
    """A row for each server and number of clients."""
    for name, options in SERVERS.items():
        with served(run, *options) as (_, url):
            alone = asyncio.run(once(url, requests)).answers
            for clients in CLIENTS:
                before = batches(url)
                began = perf_counter()
                tally = asyncio.run(load(url, requests, clients, SECONDS))
                took = perf_counter() - began
                inputs, count = (b - a for a, b in zip(before, batches(url), strict=True))
                differing = sum(
                    body not in alone[request]
                    for request, bodies in tally.answers.items()
                    for body in bodies
                )
                cuts = quantiles(tally.seconds, n=100)
                row = {
                    "server": name,
                    "clients": clients,
                    "requests_per_second": round(len(tally.seconds) / took, 1),
                    "p50_ms": round(cuts[49] * 1000, 1),
                    "p99_ms": round(cuts[98] * 1000, 1),
                    "inputs_per_batch": round(inputs / count, 1),
                    "answered": tally.seen["200"],
                    "not_answered": tally.seen.total() - tally.seen["200"],
                    "other_than_alone": differing,
                }
                print(row, flush=True)
                yield row


async def ended(process: Popen[str], url: str, requests: list[bytes]) -> Tally:
    """The same under load, when the server is told to end after two seconds."""
    loading = asyncio.create_task(load(url, requests, CLIENTS[-1], 60))
    await asyncio.sleep(2)
    process.send_signal(signal.SIGTERM)
    return await loading


def endings(run: str, requests: list[bytes]) -> Iterator[dict[str, Any]]:
    """A row for each end under load."""
    for _ in range(ENDINGS):
        with served(run) as (process, url):
            tally = asyncio.run(ended(process, url, requests))
            row = {"exit": process.wait(60), "lost": tally.seen["lost"], **tally.seen}
            print(row, flush=True)
            yield row


def main(run: str, file: str) -> None:
    sentences = [words for words in read_document(file).words() if len(words) > 1][:SENTENCES]
    requests = [request_of(words) for words in sentences]
    rows = list(measured(run, requests))
    ends = list(endings(run, requests))
    report("serving", rows, sentences=len(sentences), seconds=SECONDS, endings=ends)


if __name__ == "__main__":
    main(*sys.argv[1:])
