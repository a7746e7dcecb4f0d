"""The run folder: what training writes, what everything else reads. Its only writer.

    config.json          everything needed to rebuild       vocabulary.json   symbols and numbers
    rounds.jsonl         one line per round or log step     metrics.json      what was measured
    model.safetensors    the best model                     lock              held while training
    checkpoint/          the training between two rounds: the two newest
    decoding.json        the width to decode with, as measured at the end
    average.safetensors, mixture.safetensors, selected.safetensors     other policies, if asked for

Nothing is pickled, so reading a stranger's run executes nothing. Every file is replaced as a whole
(`atomic`), and tensors carry a digest (`sealed`): a process may be killed at any moment.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, final

from torch import Tensor

from ...data import atomic
from ...data.sealed import DamagedError, seal, unseal
from ..choices import Policy
from . import checkpoint as checkpoints
from .checkpoint import Checkpoint
from .records import RunError, read_json, read_lines, to_json

CONFIG, VOCABULARY, METRICS = "config.json", "vocabulary.json", "metrics.json"
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
OWN = {CONFIG, VOCABULARY, METRICS, DECODING, ROUNDS, CHECKPOINT, LOCK, PAGE, *POLICIES.values()}
"""What may be in a run folder."""
REMEDIES: dict[Policy, str] = {
    "best": "no epoch of the training has ended; resume it",
    "average": "no epoch has ended, or the training kept no average; train with `average=True`",
    "mixture": "no epoch has ended, or the training kept no mixture; train with `mixture=32`",
    "selected": "no iterate was selected; certify the run and select one",
}
"""Why a policy may be missing, and what to do."""


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

    def __init__(self, path: Path, config: dict[str, Any]) -> None:
        self.path = path
        self.config = config

    @classmethod
    def create(
        cls, path: str | Path, config: Mapping[str, Any], vocabulary: Mapping[str, Any]
    ) -> "Run":
        """Make a run folder where there is none.

        `config.json` comes last: a folder without one is no run, and one with it is complete.
        """
        path = Path(path)
        texts = {
            name: to_json(value, path / name, indent=2)
            for name, value in ((VOCABULARY, vocabulary), (CONFIG, config))
        }
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
        return cls(path, read_json(path / CONFIG))

    @cached_property
    def vocabulary(self) -> dict[str, Any]:
        """What `create` was given."""
        return read_json(self.path / VOCABULARY)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from training in this folder, and clean up after killed ones.

        The system releases it when the process ends, however it ends.
        """
        with locked(self.path):
            for name in (CONFIG, VOCABULARY, ROUNDS, *POLICIES.values(), METRICS, DECODING):
                atomic.sweep(self.path, name)
            atomic.sweep(self.path / CHECKPOINT)
            yield

    def save_model(self, tensors: Mapping[str, Tensor], policy: Policy = "best") -> None:
        """Replace the best model, or another policy."""
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
            for line, record in read_lines(path)
            if record.get("round", 0) <= round
            and (epoch is None or record.get("epoch", 0) <= epoch)
        ]
        if path.exists():
            atomic.write_bytes(path, b"".join(kept))

    def rounds(self) -> Iterator[dict[str, Any]]:
        """Yield what was logged, but for a torn last line."""
        return (record for _, record in read_lines(self.path / ROUNDS))

    def save_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Replace what was measured."""
        path = self.path / METRICS
        atomic.write_bytes(path, to_json(metrics, path, indent=2))

    def load_metrics(self) -> dict[str, Any] | None:
        """Read what was measured; None if nothing was."""
        path = self.path / METRICS
        return read_json(path) if path.exists() else None

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
                f"{path}: `width` must be a whole number of at least 1, got {width!r}; delete this "
                "file to decode with the width of training."
            )
        return measured


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a run folder."""
    with atomic.try_lock(path / LOCK) as held:
        if not held:
            raise RunError(
                f"Another process is training in {path}; wait for it to end, or choose another "
                "folder.",
                "out",
            )
        yield


def check_vacant(path: Path) -> None:
    """Refuse a folder that holds a run, or parts that a new run would take for its own."""
    if (path / CONFIG).exists():
        raise RunError(
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
