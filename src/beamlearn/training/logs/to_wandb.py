"""Weights & Biases: a run of its own for every run folder."""

from collections.abc import Mapping
from secrets import token_hex
from typing import Any, final

import wandb

from ..run import Run
from .tracker import Tracker

NAME = "wandb"


@final
class WeightsAndBiases(Tracker):
    """Where the variables of the package say: WANDB_PROJECT, WANDB_MODE and others."""

    def __init__(self, run: Run, settings: Mapping[str, Any], done: int) -> None:
        known = run.load_logs()
        number = known.get(NAME) or token_hex(8)
        run.save_logs({**known, NAME: number})
        self.run = wandb.init(
            id=number, resume="allow", name=run.path.resolve().name, config=dict(settings)
        )
        # Rounds that a killed process logged beyond the checkpoint are logged again, and the
        # steps of wandb may not go back.
        self.run.define_metric("round")
        self.run.define_metric("*", step_metric="round")

    def log(self, numbers: Mapping[str, float], round: int) -> None:
        self.run.log({**numbers, "round": round})

    def close(self, *, whole: bool) -> None:
        self.run.finish(exit_code=0 if whole else 1)


LOG = WeightsAndBiases
