"""Broken files for every reader: what comes out is a result, or an error that names the file."""

import json
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import final

import numpy as np
import safetensors.numpy

from beamlearn.check import UsageError
from beamlearn.cli.settings import settings
from beamlearn.data.document import read_document
from beamlearn.data.pairs import read_references, read_sources
from beamlearn.data.vectors import read_vectors
from beamlearn.tasks.experiment import read_experiment, read_model
from beamlearn.tasks.loading import task_of
from beamlearn.tasks.tagging.settings import TaggingExperiment
from beamlearn.training.run import Run
from beamlearn.training.settings import parse

from .breakage import broken
from .small_runs import pairs, trees

SECONDS = 40.0
"""The processor time that one file may take: enough for two million lines, which some unpack to."""
WAITING = 600.0
"""The most by the clock: more is a reader that waits for something."""
LONGEST = 2_000
"""The most characters of a message: it must not repeat the file."""


MEMORY = 2_000
"""The megabytes that a reader may need: the largest files have two million lines."""


class SlowError(BaseException):
    """A reader took too long; not an Exception, so that no reader catches it."""


@final
@dataclass(frozen=True)
class Reader:
    """A reader and valid files for it."""

    name: str
    valid: tuple[bytes, ...]
    read: Callable[[Path], object]
    file: str
    """The name of the file in its folder."""


@final
@dataclass(frozen=True)
class Found:
    """What became of the files of a reader."""

    reader: str
    cases: int
    valid: int
    refused: int
    with_line: int
    """Refusals that name a line."""
    slowest: float
    """The most seconds of the processor that one took."""
    megabytes: int
    """How much more memory the process had at most than before the first file."""
    failures: tuple[str, ...]
    """What should never happen."""


def readers(run: Path) -> list[Reader]:
    """All readers; `run` is the folder of a small tagger."""
    conllu = "".join(trees(4)).encode()
    columns = b"the\tDET\nold\tADJ\nman\tNOUN\n\na\tDET\ndog\tNOUN\n\n"
    vectors = b"3 2\nthe 0.5 1.5\nman -1 2e-3\ndog 0 1\n"
    matrix = np.arange(6, dtype=np.float32).reshape(3, 2)
    config = (run / "config.json").read_bytes()
    return [
        Reader("CoNLL-U", (conllu,), read_trees, "data.conllu"),
        Reader("columns", (columns, columns.replace(b"\t", b" ")), read_columns, "data.tsv"),
        Reader("pairs", ("".join(pairs(6)).encode(),), read_both, "pairs.tsv"),
        Reader("vectors, text", (vectors, vectors[4:]), read_vectors, "vectors.txt"),
        Reader("vectors, npy", (npy(matrix),), read_vectors, "vectors.npy"),
        Reader(
            "vectors, safetensors",
            (safetensors.numpy.save({"vectors": matrix}),),
            read_vectors,
            "vectors.safetensors",
        ),
        Reader("TOML", (toml(config),), read_settings, "settings.toml"),
        *(run_reader(run, name) for name in JSON_FILES),
    ]


NAMES = (
    *("CoNLL-U", "columns", "pairs", "vectors, text", "vectors, npy", "vectors, safetensors"),
    *("TOML", "config.json", "vocabulary.json", "rounds.jsonl", "metrics.json", "decoding.json"),
)
"""Those of all readers."""
JSON_FILES = ("config.json", "vocabulary.json", "rounds.jsonl", "metrics.json", "decoding.json")


def run_reader(run: Path, name: str) -> Reader:
    """The reader of one file of a run folder."""
    return Reader(name, ((run / name).read_bytes(),), partial(read_run, run, name), name)


def npy(matrix: np.ndarray) -> bytes:
    with tempfile.TemporaryFile() as file:
        np.save(file, matrix)
        file.seek(0)
        return file.read()


def toml(config: bytes) -> bytes:
    """The settings of a run as TOML."""
    lines = []
    for group, values in json.loads(config).items():
        if isinstance(values, dict):
            lines.append(f"[{group}]")
            given = {name: value for name, value in values.items() if value is not None}
            lines += [f"{name} = {json.dumps(value)}" for name, value in given.items()]
    return "\n".join(lines).encode()


def read_trees(path: Path) -> None:
    document = read_document(path)
    document.trees()
    document.column("upos")
    document.column("supertag")


def read_columns(path: Path) -> None:
    read_document(path, "columns").column("-1")
    read_document(path).column("2")


def read_both(path: Path) -> None:
    read_sources(path, "several")
    read_references(path)


def read_settings(path: Path) -> None:
    values = settings(path, {"data": {}, "learning": {}, "tagger": {}}, None)
    parse(TaggingExperiment, values, str(path))


def read_run(run: Path, name: str, path: Path) -> None:
    """Read all JSON of a run in which one file was replaced."""
    for other in JSON_FILES:
        if other != name and not (beside := path.with_name(other)).exists():
            beside.write_bytes((run / other).read_bytes())
    found = Run.open(path.parent)
    task = task_of(found)
    read_model(task, found, read_experiment(task, found), "cpu")
    list(found.rounds())
    found.load_metrics()
    found.load_decoding()


@contextmanager
def hurried(processor: float = SECONDS, clock: float = WAITING) -> Iterator[None]:
    """Interrupt what takes more seconds of the processor, or by the clock."""
    limits = {
        signal.SIGPROF: (signal.ITIMER_PROF, processor, "seconds of the processor"),
        signal.SIGALRM: (signal.ITIMER_REAL, clock, "seconds"),
    }

    def stop(number: int, frame: FrameType | None) -> None:
        _, seconds, what = limits[signal.Signals(number)]
        raise SlowError(f"took more than {seconds:g} {what}")

    before = {number: signal.signal(number, stop) for number in limits}
    for timer, seconds, _ in limits.values():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer, _, _ in limits.values():
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def try_reader(reader: Reader, cases: int, draw: random.Random, deadline: float) -> Found:
    """Read broken files until the deadline."""
    counts: Counter[str] = Counter()
    failures: list[str] = []
    slowest, before = 0.0, most_memory(anew=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / reader.file
        (Path(folder) / "vectors.vocab").write_text("the\nman\ndog\n")
        for case in range(cases):
            if time.monotonic() > deadline:
                break
            data = broken(draw.choice(reader.valid), draw)
            path.write_bytes(data)
            begun = time.process_time()
            outcome = read(reader, path)
            slowest = max(slowest, time.process_time() - begun)
            counts[outcome if outcome in OUTCOMES else "failed"] += 1
            if outcome not in OUTCOMES:
                failures.append(f"case {case}: {outcome} for {data[:200]!r}")
    grown = most_memory() - before
    if grown > MEMORY:
        failures.append(f"it needed {grown} MB")
    return Found(
        reader.name,
        sum(counts.values()),
        counts["valid"],
        counts["refused"] + counts["refused with its line"],
        counts["refused with its line"],
        round(slowest, 2),
        grown,
        tuple(failures),
    )


def most_memory(anew: bool = False) -> int:
    """The most memory that this process had, in MB; from now on if it is counted `anew`."""
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) >> 10


OUTCOMES = ("valid", "refused", "refused with its line")


def read(reader: Reader, path: Path) -> str:
    """Read a file: one of the `OUTCOMES`, or what went wrong."""
    try:
        with hurried():
            reader.read(path)
    except UsageError as error:
        return judged(str(error), path)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:LONGEST]
    return "valid"


def judged(message: str, path: Path) -> str:
    """Is it the message of a refusal?"""
    if path.stem not in message:
        return f"a message without the file: {message}"[:LONGEST]
    if len(message) > LONGEST:
        return f"a message of {len(message)} characters: {message[:300]}"
    lined = f"{path}:" in message and message.split(f"{path}:", 1)[1][:1].isdigit()
    return "refused with its line" if lined or ", line " in message else "refused"
