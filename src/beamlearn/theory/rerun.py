"""Repeat a run on its own examples: the best policy in hindsight, and single iterates."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..evaluation.evaluate import on_policy_losses
from ..learning.iterates import State
from ..learning.learn import Round
from ..learning.trajectory import Trajectory
from ..tasks.experiment import first_model, put_weights, read_again, training_of
from ..training.batches import batches_of
from ..training.trainer import Training
from .certificate import Certificate
from .hindsight import Hindsight, OnStep, best_in_hindsight
from .iterate_selection import SelectedIterate, select_iterate
from .run_certificate import RunCertificate
from .run_losses import CannotCertifyError


def rebuild_training(certified_run: RunCertificate, *, trajectories: bool = False) -> Training:
    """The training of a run, as it was before its first round."""
    task, experiment = certified_run.task, certified_run.experiment
    train, dev = read_again(task, experiment, certified_run.run)
    model = first_model(task, experiment, train, "cpu")
    return training_of(task, model, train, dev, certified_run.learning, trajectories=trajectories)


def hindsight_of_run(
    certified_run: RunCertificate,
    on_round: Callable[[int, int], None],
    on_step: OnStep | None = None,
) -> Hindsight:
    """The best policy on the run's own trajectories, which are collected again."""
    training = rebuild_training(certified_run, trajectories=True)
    paths: list[Trajectory] = []
    last = certified_run.logged.rounds[-1]
    for event in training:
        if isinstance(event, Round):
            certified_run.check_round(event.number, event.losses.tolist())
            paths += event.trajectories
            on_round(event.number, last)
            if event.number == last:
                break
    learning = certified_run.learning
    if learning.combined == "max":
        raise CannotCertifyError(
            "The regret needs a sum or a mean of losses along each trajectory, got the maximum of "
            "max_violation; leave it out."
        )
    return best_in_hindsight(
        paths,
        training.scorer,
        learning.surrogate,
        radius=learning.radius,
        reduction=learning.combined,
        on_step=on_step,
    )


def select_and_save_iterate(
    certified_run: RunCertificate, proof: Certificate, on_iterate: Callable[[], None]
) -> SelectedIterate:
    """Select one of the kept iterates, save it as a policy, and bound its loss as `proof` does."""
    losses = []
    for later in losses_on_later_examples(certified_run):
        losses.append(later)
        on_iterate()
    assert proof.delta is not None  # the losses of a run are not expectations
    chosen = select_iterate(losses, upper=proof.upper, delta=proof.delta, clip=proof.clip)
    state = list(certified_run.iterates.values())[chosen.index]
    with certified_run.run.lock():
        certified_run.run.save_model(state, "selected")
    return chosen


def losses_on_later_examples(certified_run: RunCertificate) -> Iterator[list[float]]:
    """The losses of each kept iterate on all examples from its round on."""
    batches = rebuild_training(certified_run).batches(0)[: certified_run.logged.rounds[-1]]
    for number, state in certified_run.iterates.items():
        later = iterate_losses(certified_run, state, batches[number - 1 :])
        certified_run.check_round(number, later[: len(batches[number - 1])])
        yield later


def held_out_losses(
    certified_run: RunCertificate, proof: Certificate, file: str
) -> Iterator[tuple[int, float]]:
    """For each kept iterate: how many examples it had seen, and its mean loss on a file.

    The losses are counted as in `proof`.
    """
    examples = certified_run.task.examples(
        certified_run.model, certified_run.task.read(file, certified_run.experiment)
    )
    batches = batches_of(examples, certified_run.learning.batch_size)
    for number, state in sorted(certified_run.iterates.items()):
        losses = proof.counted(iterate_losses(certified_run, state, batches))
        yield certified_run.examples_before(number), sum(losses) / len(losses)


def iterate_losses(
    certified_run: RunCertificate, state: State, batches: Sequence[list[Any]]
) -> list[float]:
    """The losses of an iterate along its own trajectories."""
    learning, scorer = certified_run.learning, certified_run.model.scorer
    put_weights(
        certified_run.model, {**certified_run.run.load_model(), **state}, certified_run.run.path
    )
    found = on_policy_losses(
        batches,
        certified_run.model,
        scorer,
        learning.surrogate,
        learning.decoding_width,
        oracle=learning.rollouts,
        reduction=learning.combined,
    )
    losses: list[float] = found.tolist()
    return losses
