"""Checkpointer: keep a training in a run folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, final

from ..learning.iterates import join_states
from ..learning.learn import Round
from .run import BusyError, Checkpoint, Run, RunError, Trace
from .trainer import Training, Validation


@final
class Checkpointer:
    """Keep a training in a run folder, so that it can be killed at any moment and go on.

    Every round is logged. The state is saved after each epoch and whenever `seconds` have
    passed; when does not matter for what the training comes to.
    """

    def __init__(self, run: Run, seconds: float = 60.0, left: Trace | None = None) -> None:
        self.run, self.seconds = run, seconds
        self.saved = monotonic()
        self.left = run.trace() if left is None else left
        """How far the training in the folder was when this process left it."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the folder, in which nobody may have gone on with the training since it was left."""
        with self.run.lock():
            if self.run.trace() != self.left:
                raise BusyError(
                    f"Another process has gone on with the training in {self.run.path} since this "
                    "one read it; resume it.",
                    "resume",
                )
            yield

    def __call__(self, training: Training, event: Round | Validation) -> None:
        if isinstance(event, Round):
            self.run.log(round_record(event, each=training.settings.stream))
            if monotonic() - self.saved >= self.seconds:
                self.save(training)
            return
        self.run.log(validation_record(event))
        if event.best:
            self.run.save_model(training.scorer.state_dict())
        if training.average is not None:
            self.run.save_model(training.average.state, "average")
        if training.reservoir is not None:
            self.run.save_model(join_states(training.reservoir.iterates), "mixture")
        self.save(training)

    def save(self, training: Training) -> None:
        """Write a checkpoint."""
        tensors, facts = training.state()
        self.run.save_checkpoint(Checkpoint(training.round, tensors, facts))
        self.saved, self.left = monotonic(), self.run.trace()

    def go_back(self, training: Training, checkpoint: Checkpoint) -> None:
        """Bring a training to where a checkpoint was written."""
        try:
            training.restore(checkpoint.tensors, checkpoint.facts)
        except (RuntimeError, KeyError, TypeError, ValueError):
            raise RunError(
                f"The checkpoint of round {checkpoint.round} in {self.run.path} does not fit its "
                "config.json and vocabulary.json; one of them was changed: restore it from a copy."
            ) from None
        self.run.rewind_log(training.round, training.validated)
        if training.best.state is not None:
            self.run.save_model(training.best.state)
        self.left = self.run.trace()


def round_record(round: Round, each: bool = False) -> dict[str, Any]:
    """The line of a round in rounds.jsonl; if asked, with what certificates need of `each` one."""
    means: dict[str, Any] = {
        "round": round.number,
        "width": round.width,
        "examples": len(round.losses),
        "loss": float(round.losses.mean()),
        "cost": float(round.costs.mean()),
        "increases": float(round.increases.float().mean()),
        "on_policy": float(round.on_policy.float().mean()),
        "gradient_norm": round.gradient_norm,
    }
    if round.likelihoods is not None:
        means |= {
            "likelihood_loss": float(round.likelihoods.mean()),
            "beam_weight": round.beam_weight,
        }
    if not each:
        return means
    return {
        **means,
        "beta": round.beta,
        "each": {
            "losses": round.losses.tolist(),
            "costs": round.costs.tolist(),
            "optima": round.optima.tolist(),
            "on_policy": round.on_policy.tolist(),
            "steps": round.steps.tolist(),
        },
    }


def validation_record(validation: Validation) -> dict[str, Any]:
    """The line of a validation in rounds.jsonl."""
    return {
        "round": validation.round,
        "epoch": validation.epoch,
        "validation_loss": validation.loss,
        "validation_cost": validation.evaluation.cost,
        "validation_increases": validation.evaluation.increases_per_example,
        **{f"validation_{metric.name}": value for metric, value in validation.scores.items()},
        "best": validation.best,
    }
