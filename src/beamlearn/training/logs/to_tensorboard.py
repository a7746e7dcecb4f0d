"""Event files of TensorBoard, in the run folder."""

from collections.abc import Mapping
from typing import Any, final

from torch.utils.tensorboard import SummaryWriter

from ..run import Run
from ..run.folder import TENSORBOARD
from .tracker import Tracker


@final
class TensorBoard(Tracker):
    """The scalars of a training; `tensorboard --logdir FOLDER` finds all runs below a folder."""

    def __init__(self, run: Run, settings: Mapping[str, Any], done: int) -> None:
        folder = run.path / TENSORBOARD
        # What a killed process logged beyond the checkpoint is logged again.
        purge = done + 1 if folder.exists() else None
        self.writer = SummaryWriter(str(folder), purge_step=purge)
        if purge is None:
            rows = "\n".join(f"    {name} = {value}" for name, value in settings.items())
            self.writer.add_text("settings", rows, 0)

    def log(self, numbers: Mapping[str, float], round: int) -> None:
        for name, value in numbers.items():
            self.writer.add_scalar(name, value, round)

    def close(self, *, whole: bool) -> None:
        self.writer.close()


LOG = TensorBoard
