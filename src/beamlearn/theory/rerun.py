"""A second look at the examples of a run: the best policy in hindsight, and single iterates."""

from collections.abc import Callable, Iterator
from typing import Any

from ..evaluation.evaluate import incurred
from ..learning.iterates import State
from ..learning.learn import Round
from ..tasks.experiment import first_model, put_weights, read_again, training_of
from ..training.batches import batches_of
from ..training.trainer import Training
from .certificate import Certificate
from .hindsight import Hindsight, OnStep, best_in_hindsight
from .iterate_selection import Selected, select
from .run_certificate import Judged


def training_again(judged: Judged, *, trajectories: bool = False) -> Training:
    """The same training before its first round."""
    kind, experiment = judged.kind, judged.experiment
    train, dev = read_again(kind, experiment, judged.run)
    model = first_model(kind, experiment, train, "cpu")
    return training_of(kind, model, train, dev, judged.learning, trajectories=trajectories)


def hindsight(
    judged: Judged, on_round: Callable[[int, int], None], on_step: OnStep | None = None
) -> Hindsight:
    """The best policy on the run's own trajectories, which are collected again."""
    training = training_again(judged, trajectories=True)
    paths = []
    last = judged.evidence.rounds[-1]
    for event in training:
        if isinstance(event, Round) and event.trajectory is not None:
            judged.check_round(event.number, event.losses.tolist())
            paths.append(event.trajectory)
            on_round(event.number, last)
            if event.number == last:
                break
    learning = judged.learning
    return best_in_hindsight(
        paths,
        training.scorer,
        learning.surrogate,
        radius=learning.radius,
        reduction=learning.reduction,
        on_step=on_step,
    )


def choose(judged: Judged, proof: Certificate, on_iterate: Callable[[], None]) -> Selected:
    """Choose one of the kept iterates, write it as a policy, and bound its loss as `proof` does."""
    losses = []
    for later in later_losses(judged):
        losses.append(later)
        on_iterate()
    assert proof.delta is not None  # the losses of a run are no expectations
    chosen = select(losses, upper=proof.upper, delta=proof.delta, clip=proof.clip)
    state = list(judged.iterates.values())[chosen.index]
    with judged.run.lock():
        judged.run.save_model(state, "selected")
    return chosen


def later_losses(judged: Judged) -> Iterator[list[float]]:
    """The losses of each kept iterate on all examples from its round on."""
    batches = training_again(judged).batches(0)[: judged.evidence.rounds[-1]]
    for number, state in judged.iterates.items():
        later = losses_of(judged, state, batches[number - 1 :])
        judged.check_round(number, later[: len(batches[number - 1])])
        yield later


def held_out_losses(judged: Judged, proof: Certificate, file: str) -> Iterator[tuple[int, float]]:
    """For each kept iterate: how many examples it had seen, and its mean loss on a file.

    The losses are counted as in `proof`.
    """
    examples = judged.kind.examples(judged.model, judged.kind.read(file, judged.experiment))
    batches = batches_of(examples, judged.learning.batch_size)
    for number, state in sorted(judged.iterates.items()):
        losses = proof.counted(losses_of(judged, state, batches))
        yield judged.examples_before(number), sum(losses) / len(losses)


def losses_of(judged: Judged, state: State, batches: list[list[Any]]) -> list[float]:
    """The losses of an iterate along its own trajectories."""
    learning, scorer = judged.learning, judged.model.scorer
    put_weights(judged.model, {**judged.run.load_model(), **state}, judged.run.path)
    found = incurred(
        batches,
        judged.model,
        scorer,
        learning.surrogate,
        learning.final_width,
        reduction=learning.reduction,
    )
    losses: list[float] = found.tolist()
    return losses
