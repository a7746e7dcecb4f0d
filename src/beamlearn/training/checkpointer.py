"""Checkpointer: keep a training in a run folder."""

from time import monotonic
from typing import Any, final

from ..learning.iterates import join_states
from ..learning.learn import Round
from .run import Checkpoint, Run, RunError
from .trainer import Training, Validation


@final
class Checkpointer:
    """Keep a training in a run folder, so that it can be killed at any moment and go on.

    Every round is logged. The state is saved after each epoch and whenever `seconds` have
    passed; when does not matter for what the training comes to.
    """

    def __init__(self, run: Run, seconds: float = 60.0) -> None:
        self.run, self.seconds = run, seconds
        self.saved = monotonic()
        self.left: int | None = None
        """The size of the log when the state was read or first saved, until a round is logged."""

    def __call__(self, training: Training, event: Round | Validation) -> None:
        self.check_alone()
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
        self.saved = monotonic()
        if not training.round:
            self.left = self.run.log_size

    def check_alone(self) -> None:
        """Refuse to go on from a state that another process went on from in the meantime."""
        if self.left not in (None, self.run.log_size):
            raise RunError(
                f"Another process has trained in {self.run.path} since the training there was "
                "read; resume it again.",
                "resume",
            )
        self.left = None

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
        self.left = self.run.log_size
        if training.best.state is not None:
            self.run.save_model(training.best.state)


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
