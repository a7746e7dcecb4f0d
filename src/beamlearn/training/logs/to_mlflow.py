"""MLflow: a run of its own for every run folder."""

import os
from collections.abc import Mapping
from time import time_ns
from typing import Any, final

from mlflow import MlflowClient
from mlflow.entities import Metric, Param

from ..run import Run
from .tracker import Tracker

NAME = "mlflow"
EXPERIMENT = "beamlearn"
"""Where runs are listed, unless MLFLOW_EXPERIMENT_NAME says otherwise."""


@final
class MLflow(Tracker):
    """On the server or in the folder that MLFLOW_TRACKING_URI says."""

    def __init__(self, run: Run, settings: Mapping[str, Any], done: int) -> None:
        self.client = MlflowClient()
        known = run.load_logs()
        number = known.get(NAME)
        if number is None:
            number = self._begin(run.path.resolve().name, settings)
            run.save_logs({**known, NAME: number})
        else:
            self.client.update_run(number, status="RUNNING")
        self.number: str = number

    def _begin(self, name: str, settings: Mapping[str, Any]) -> str:
        experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME") or EXPERIMENT
        found = self.client.get_experiment_by_name(experiment)
        place = self.client.create_experiment(experiment) if found is None else found.experiment_id
        number: str = self.client.create_run(place, run_name=name).info.run_id
        params = [Param(name, str(value)) for name, value in settings.items()]
        self.client.log_batch(number, params=params)
        return number

    def log(self, numbers: Mapping[str, float], round: int) -> None:
        now = time_ns() // 1_000_000
        metrics = [Metric(name, value, now, round) for name, value in numbers.items()]
        self.client.log_batch(self.number, metrics=metrics)

    def close(self, *, whole: bool) -> None:
        self.client.set_terminated(self.number, "FINISHED" if whole else "KILLED")


LOG = MLflow
