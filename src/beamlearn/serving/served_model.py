"""A model that answers inputs together, each as it would alone."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, final

import torch

from ..data.text import DataError
from ..data.windows import Window
from ..tasks.question import Question
from ..tasks.settings import Experiment
from ..tasks.task import Answering, Model, PredictionRequest, TaskSpec
from ..training.settings import SettingsError
from .refusal import Refusal

Precision = Literal["single", "double"]
NAME = "input"
"""What messages call the text of a batch, which nobody sees."""
DIGITS = 6
"""How many decimals of a number do not depend on the batch, in double precision."""
Reply = Mapping[str, Any] | Refusal
"""What becomes of an input."""


@dataclass(frozen=True)
class Asked:
    """An input, and how to answer it."""

    question: Question
    width: int
    nbest: int

    @property
    def manner(self) -> tuple[tuple[tuple[str, str], ...], int, int]:
        """What inputs that are searched together have in common."""
        return self.question.options, self.width, self.nbest


@final
class ServedModel:
    """A model with its task.

    In double precision a matrix product of many rows differs from one of few by 1e-14 or so, and
    answers are rounded to six decimals: they are the same whatever else was asked at that time.
    """

    def __init__(
        self,
        name: str,
        task: TaskSpec[Any, Any, Any],
        model: Model,
        experiment: Experiment,
        request: PredictionRequest,
        precision: Precision = "double",
    ) -> None:
        if model.mixture is not None:
            raise SettingsError(
                "`policy` must be one whose weights do not depend on the place of a sentence, got "
                "mixture, which draws other ones for each; leave it out."
            )
        self.name, self.task, self.model, self.experiment = name, task, model, experiment
        self.request, self.rounds = replace(request, as_json=True), precision == "double"
        self._answerings: dict[tuple[tuple[str, str], ...], Answering] = {}
        if self.rounds:
            model.scorer.to(torch.float64)

    def answer(self, batch: Sequence[Asked]) -> list[Reply]:
        """Answer inputs of one `manner`; one that has no answer does not spoil the others."""
        try:
            found = self._records(batch)
        except Refusal as refusal:
            why = refusal
        except DataError as error:
            why = Refusal(422, told(str(error)))
        except Exception as error:  # the server goes on, whatever a model does
            why = Refusal(500, f"The search failed: {type(error).__name__}: {error}")
        else:
            return list(found)
        if len(batch) == 1:
            return [why]
        middle = len(batch) // 2
        return [*self.answer(batch[:middle]), *self.answer(batch[middle:])]

    def _records(self, batch: Sequence[Asked]) -> list[dict[str, Any]]:
        """What is said of each input; a Refusal or an error if that is not possible for all."""
        refused: list[str] = []
        options, width, nbest = batch[0].manner
        request = replace(
            self.request,
            width=width,
            nbest=nbest,
            options={**self.request.options, **dict(options)},
            refuse=refused.append,
        )
        text = "".join(asked.question.text for asked in batch)
        window = Window(NAME, text.encode("utf-8"))
        written = self._answering(options, request).answer(self.model, window, request)
        if refused:
            raise Refusal(422, told(refused[0]))
        found = [json.loads(line) for line in written.split("\n") if line]
        if len(found) != len(batch):
            raise Refusal(422, f"An input must be one sentence with words, got {len(found)}.")
        return [self._shown(record) for record in found]

    def _answering(
        self, options: tuple[tuple[str, str], ...], request: PredictionRequest
    ) -> Answering:
        if options not in self._answerings:
            self._answerings[options] = self.task.answering(
                self.model, self.experiment, request, Window(NAME, b"")
            )
        return self._answerings[options]

    def _shown(self, record: dict[str, Any]) -> dict[str, Any]:
        said = {name: value for name, value in record.items() if name != self.task.place}
        return rounded(said) if self.rounds else said


def told(sentence: str) -> str:
    """A message without the place in the text of a batch.

    >>> told("input:3: Every word needs a form."), told("input: No.")
    ('Every word needs a form.', 'No.')
    """
    head, colon, rest = sentence.partition(": ")
    return rest if colon and head.split(":")[0] == NAME else sentence


def rounded(value: Any) -> Any:
    """The same with fewer decimals, however deep numbers are.

    >>> rounded({"nbest": [{"score": -0.30000000000000004}]})
    {'nbest': [{'score': -0.3}]}
    """
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, list):
        return [rounded(one) for one in value]
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return value
