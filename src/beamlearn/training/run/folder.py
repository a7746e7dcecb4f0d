"""The run folder: what training writes, what everything else reads. Its only writer.

    config.json          everything needed to rebuild       vocabulary.json   symbols and numbers
    rounds.jsonl         one line per round or log step     metrics.json      what was measured
    model.safetensors    the best model                     lock, lock.*      held while training
    checkpoint/          the training between two rounds: the two newest
    decoding.json        the width to decode with, as measured at the end
    tensorboard/, logs.json     event files, and the names of other logs, if asked for
    average.safetensors, mixture.safetensors, selected.safetensors     other policies, if asked for

Nothing is pickled, so reading a stranger's run executes nothing. Every file is replaced as a whole
(`atomic`), and tensors carry a digest (`sealed`): a process may be killed at any moment.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

from torch import Tensor

from ...check import quoted
from ...data import atomic
from ...data.lease import Lease, try_lease
from ...data.sealed import DamagedError, seal, unseal
from ..choices import Policy
from . import checkpoint as checkpoints
from .checkpoint import Checkpoint
from .log_line import fault
from .records import (
    BusyError,
    OccupiedError,
    RunError,
    fingerprint,
    read_json,
    read_lines,
    to_json,
)

CONFIG, VOCABULARY, METRICS = "config.json", "vocabulary.json", "metrics.json"
VOCABULARY_DIGEST = "vocabulary_fingerprint"
"""The last entry of config.json: weights are worth nothing with other symbols."""
DECODING = "decoding.json"
ROUNDS, MODEL, CHECKPOINT, LOCK = "rounds.jsonl", "model.safetensors", "checkpoint", "lock"
POLICIES: dict[Policy, str] = {
    "best": MODEL,
    "average": "average.safetensors",
    "mixture": "mixture.safetensors",
    "selected": "selected.safetensors",
}
PAGE = "report.html"
"""The page that `report` writes into the folder."""
TENSORBOARD, LOGS = "tensorboard", "logs.json"
OWN = {
    *(CONFIG, VOCABULARY, METRICS, DECODING, ROUNDS, CHECKPOINT, LOCK, PAGE, TENSORBOARD, LOGS),
    *POLICIES.values(),
}
"""What may be in a run folder."""
REMEDIES: dict[Policy, str] = {
    "best": "no epoch of the training has ended; resume it",
    "average": "no epoch has ended, or the training kept no average; train with `average=True`",
    "mixture": "no epoch has ended, or the training kept no mixture; train with `mixture=32`",
    "selected": "no iterate was selected; certify the run and select one",
}
"""Why a policy may be missing, and what to do."""


@dataclass(frozen=True)
class Trace:
    """What shows whether somebody has gone on with a training."""

    checkpoint: str = ""
    """The newest one, and when it was written."""
    logged: int = 0
    """How many bytes."""


@final
class Run:
    """A run folder; `Run.create` makes one, `Run.open` finds one.

    >>> import tempfile, torch
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = Run.create(folder.name, {"width": 8}, {"tags": ["D", "N"]})
    >>> with run.lock():
    ...     run.log({"round": 1, "loss": 0.5})
    ...     run.save_checkpoint(Checkpoint(1, {"theta": torch.ones(2)}, {"best": 0.25}))
    >>> Run.open(folder.name).latest_checkpoint()
    Checkpoint(round=1, tensors={'theta': tensor([1., 1.])}, facts={'best': 0.25})
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, config: dict[str, Any], digest: str | None = None) -> None:
        self.path = path
        self.config = config
        self.lease: Lease | None = None
        """While it is locked."""
        self.digest = digest
        """Of the vocabulary; None in runs of earlier versions."""

    @classmethod
    def create(
        cls, path: str | Path, config: Mapping[str, Any], vocabulary: Mapping[str, Any]
    ) -> "Run":
        """Make a run folder where there is none.

        `config.json` comes last: a folder without one is no run, and one with it is complete.
        """
        path = Path(path)
        texts = {VOCABULARY: to_json(vocabulary, path / VOCABULARY, indent=2)}
        sealed = {**config, VOCABULARY_DIGEST: fingerprint(vocabulary)}
        texts[CONFIG] = to_json(sealed, path / CONFIG, indent=2)
        try:
            atomic.make_folder(path)
        except (FileExistsError, NotADirectoryError) as error:
            raise RunError(
                f"{path} must be a folder, but a file is in its place; choose another.", "out"
            ) from error
        except atomic.DiskFullError:
            raise
        except OSError as error:
            raise RunError(
                f"{path} must be a folder that can be written, but the system says: {error}; "
                "choose another.",
                "out",
            ) from error
        check_vacant(path)
        with locked(path):
            check_vacant(path)
            for name, text in texts.items():
                atomic.write_bytes(path / name, text)
        return cls.open(path)

    @classmethod
    def open(cls, path: str | Path) -> "Run":
        """Find the run in a folder."""
        path = Path(path)
        if not path.is_dir():
            raise RunError(f"There is no folder {path}; give one that a training wrote.")
        if not (path / CONFIG).is_file():
            raise RunError(
                f"{path} is not a run folder, as there is no {CONFIG} in it; give one that a "
                "training wrote."
            )
        config = read_json(path / CONFIG)
        digest = config.pop(VOCABULARY_DIGEST, None)
        return cls(path, config, digest)

    @cached_property
    def vocabulary(self) -> dict[str, Any]:
        """What `create` was given."""
        vocabulary = read_json(self.path / VOCABULARY)
        if self.digest not in (None, fingerprint(vocabulary)):
            raise RunError(
                f"{self.path / VOCABULARY} does not fit the digest in {CONFIG}; one of them was "
                "changed: restore it from a copy."
            )
        return vocabulary

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from training in this folder, and clean up after killed ones.

        It is released when the process ends, however it ends; see `data/lease.py` for folders that
        several machines share.
        """
        with locked(self.path) as self.lease:
            for name in (CONFIG, VOCABULARY, ROUNDS, *POLICIES.values(), METRICS, DECODING):
                atomic.sweep(self.path, name)
            atomic.sweep(self.path / CHECKPOINT)
            try:
                yield
            finally:
                self.lease = None

    def trace(self) -> Trace:
        """How far the training in this folder has come."""
        log, found = self.path / ROUNDS, checkpoints.files(self.path / CHECKPOINT)
        newest = next(iter(found.values()), None)
        return Trace(
            "" if newest is None else f"{newest.name} {newest.stat().st_mtime_ns}",
            log.stat().st_size if log.exists() else 0,
        )

    def _check_lease(self) -> None:
        """Refuse to write what another machine has taken over."""
        if self.lease is not None:
            self.lease.check()

    def save_model(self, tensors: Mapping[str, Tensor], policy: Policy = "best") -> None:
        """Replace the best model, or another policy."""
        self._check_lease()
        atomic.write_bytes(self.path / POLICIES[policy], seal(tensors))

    def load_model(self, policy: Policy = "best") -> dict[str, Tensor]:
        """Read the best model, or another policy."""
        path = self.path / POLICIES[policy]
        try:
            return unseal(path)[0]
        except FileNotFoundError as error:
            raise RunError(f"There is no {path} yet, as {REMEDIES[policy]}.") from error
        except DamagedError as error:
            raise RunError(
                f"{path} is damaged ({error}); restore it from a copy, or resume the training."
            ) from error

    def save_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint and delete all but the two newest."""
        self._check_lease()
        if (rounds := self.path / ROUNDS).exists():
            atomic.sync(rounds)  # a checkpoint never knows of a round that the log does not
        checkpoints.save(self.path / CHECKPOINT, checkpoint)

    def latest_checkpoint(self, report: Callable[[str], None] = warnings.warn) -> Checkpoint | None:
        """Read the newest checkpoint that is whole; None before the first is written.

        `report` hears of each one that is passed over. When none is whole, that is an error:
        starting over would throw the training away.
        """
        return checkpoints.latest(self.path / CHECKPOINT, report)

    def log(self, record: Mapping[str, Any]) -> None:
        """Append one line to `rounds.jsonl`, after removing a line that a killed process tore."""
        self._check_lease()
        path = self.path / ROUNDS
        line = to_json(record, path)
        with atomic.needing_space(path), path.open("ab+") as file:
            if size := file.tell():
                file.seek(size - 1)
                if file.read(1) != b"\n":
                    file.seek(0)
                    file.truncate(file.read().rfind(b"\n") + 1)
            file.write(line)

    def rewind_log(self, round: int, epoch: int | None = None) -> None:
        """Drop what was logged after a round or after the end of an epoch, and a torn last line."""
        path = self.path / ROUNDS
        kept = [
            line + b"\n"
            for line, record in self._lines()
            if record.get("round", 0) <= round
            and (epoch is None or record.get("epoch", 0) <= epoch)
        ]
        if path.exists():
            atomic.write_bytes(path, b"".join(kept))

    def rounds(self) -> Iterator[dict[str, Any]]:
        """Yield what was logged, but for a torn last line."""
        return (record for _, record in self._lines())

    def _lines(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        path = self.path / ROUNDS
        for number, (line, record) in enumerate(read_lines(path), 1):
            if reason := fault(record):
                raise RunError(
                    f"{path}, line {number}, is not what training logs, as {reason}; fix it or "
                    "restore the file from a copy."
                )
            yield line, record

    def save_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Replace what was measured."""
        self._check_lease()
        path = self.path / METRICS
        atomic.write_bytes(path, to_json(metrics, path, indent=2))

    def load_metrics(self) -> dict[str, Any] | None:
        """Read what was measured; None if nothing was."""
        path = self.path / METRICS
        return read_json(path) if path.exists() else None

    def save_logs(self, names: Mapping[str, str]) -> None:
        """Replace the names that logs elsewhere have, by their trackers."""
        self._check_lease()
        path = self.path / LOGS
        atomic.write_bytes(path, to_json(names, path, indent=2))

    def load_logs(self) -> dict[str, str]:
        """Read the names of logs elsewhere."""
        path = self.path / LOGS
        return read_json(path) if path.exists() else {}

    def save_decoding(self, measured: Mapping[str, Any]) -> None:
        """Replace the width to decode with, and what it was chosen by."""
        path = self.path / DECODING
        atomic.write_bytes(path, to_json(measured, path, indent=2))

    def load_decoding(self) -> dict[str, Any] | None:
        """Read the width to decode with, and what it was chosen by; None if none was measured."""
        path = self.path / DECODING
        if not path.exists():
            return None
        measured = read_json(path)
        width = measured.get("width")
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise RunError(
                f"{path}: `width` must be a whole number of at least 1, got {quoted(width)}; "
                "delete this file to decode with the width of training."
            )
        return measured


@contextmanager
def locked(path: Path) -> Iterator[Lease]:
    """Hold the lock of a run folder."""
    with try_lease(path / LOCK) as lease:
        if lease is None:
            raise BusyError(
                f"Another process is training in {path}; wait for it to end, or choose another "
                "folder.",
                "out",
            )
        yield lease


def check_vacant(path: Path) -> None:
    """Refuse a folder that holds a run, or parts that a new run would take for its own."""
    if (path / CONFIG).exists():
        raise OccupiedError(
            f"{path} already holds a run; resume it, or choose another folder.",
            "resume",
            "overwrite",
            "out",
        )
    for name in (ROUNDS, *POLICIES.values(), CHECKPOINT, METRICS, DECODING):
        if (path / name).exists():
            raise RunError(
                f"{path} holds {name} of a run whose {CONFIG} is gone; restore that from a copy, "
                "or choose another folder.",
                "out",
            )
