"""How far a training has come, read from its log while another process writes it."""

import json
from pathlib import Path
from typing import final

from ..training.run.folder import ROUNDS


@final
class Followed:
    """The log of a run; only what is new is read."""

    def __init__(self, folder: Path, epochs: int) -> None:
        self.path, self.epochs = folder / ROUNDS, epochs
        self.round = self.epoch = self.place = 0
        self.seen = self._size()

    def state(self) -> str:
        """In words; a training that nobody goes on with yet is waiting.

        >>> Followed(Path("nowhere"), 10).state()
        'waiting'
        """
        size = self._size()
        if size == self.seen:
            return "waiting"
        self.seen = -1
        if size < self.place:  # it was taken back to a checkpoint
            self.round = self.epoch = self.place = 0
        self._read()
        return f"epoch {min(self.epoch + 1, self.epochs)}/{self.epochs}, round {self.round}"

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _read(self) -> None:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self.place)
            whole = file.read().rpartition(b"\n")[0]
        self.place += len(whole) + 1 if whole else 0
        for line in whole.splitlines():
            record = json.loads(line)
            self.round = record.get("round", self.round)
            self.epoch = record.get("epoch", self.epoch)
