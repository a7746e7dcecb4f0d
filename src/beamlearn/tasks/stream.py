"""What streams of words have in common, whatever is made of the words."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ..data.text import DataError
from ..evaluation.evaluate import evaluating
from ..search.beam import Beam, Step
from ..search.scorer import Scorer
from .task import Model

ENDLESS = 1 << 40
"""The length of a sentence whose end has not come: longer than any."""


class StreamError(ValueError):
    """A model that cannot work as words come, or a stream that is over."""


def check_streaming(model: Model, ahead: int | None) -> None:
    """Refuse a model that must see whole sentences."""
    if ahead is None:
        raise StreamError(
            "`stream` needs a model that decides before the end of the sentence, but this one was "
            "trained with `lookahead` = all; train one with a number, such as `lookahead` = 0."
        )
    if model.mixture is not None:
        raise StreamError(
            "`stream` needs one policy, but this model is a mixture of several; load the best one."
        )


def check_open(finished: bool) -> None:
    """Refuse to go on after the end."""
    if finished:
        raise StreamError("This stream is finished; call `stream` again for another sentence.")


def check_word(word: object) -> str:
    """Refuse what is no word."""
    if not isinstance(word, str):
        raise DataError(
            f"`word` must be a word as a string, got {word!r:.60} ({type(word).__name__}); feed "
            "one word at a time."
        )
    return str(word)


@contextmanager
def deciding(scorer: Scorer) -> Iterator[None]:
    """Evaluation mode and no gradients, for as long as a word takes."""
    with torch.no_grad(), evaluating(scorer):
        yield


def moves(step: Step) -> tuple[list[int], list[int]]:
    """The parents and the actions of the hypotheses that a step leads to; of the only example."""
    count = int(step.ranked.sum())  # best first: those that are there come before empty slots
    slots, actions = (field[0, :count].tolist() for field in (step.slots, step.actions))
    return slots, actions


def shares(scores: Sequence[float]) -> list[float]:
    """The share of each hypothesis in the beam: softmax of the scores."""
    found: list[float] = torch.tensor(scores, dtype=torch.float64).softmax(dim=-1).tolist()
    return found


def scores_of(beam: Beam) -> list[float]:
    """The scores of the hypotheses in the only beam, best first."""
    found: Any = beam.scores[0, : int(beam.kept.sum())].double().tolist()
    return list(found)
