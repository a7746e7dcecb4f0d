"""Answerer: a loaded model that turns windows of text into the text of their answers."""

from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import final

import torch

from ..data.text import DataError
from ..data.windows import Window
from ..tasks.loading import load
from ..tasks.task import Model, Progress
from ..training.run import RunError
from .bad_sentence import BadSentence, sorted_out
from .job import Job
from .model_digest import model_digest

LOCK = Lock()
"""A model answers one window at a time, even in a process with several threads."""


@dataclass(frozen=True)
class Answer:
    """What becomes of a window."""

    text: str
    refused: tuple[str, ...] = ()
    """Why there are sentences without an answer."""
    bad: tuple[BadSentence, ...] = ()


@final
class Answerer:
    """A model and its job."""

    def __init__(self, model: Model, job: Job, progress: Progress | None = None) -> None:
        self.model, self.job = model, job
        request = job.request()
        self.request = request if progress is None else replace(request, progress=progress)

    def answer(self, window: Window) -> Answer:
        """Answer a window; sentences that cannot be read raise a `DataError` or are put aside."""
        try:
            return self._answer(window)
        except DataError:
            if not self.job.skipping:
                raise
            pieces = list(sorted_out(window, self.job.unit, self.job.answering))
            if len(pieces) == 1 and isinstance(pieces[0], Window):  # all of it can be read
                raise
        return self._answer_rest(pieces)

    def _answer(self, window: Window) -> Answer:
        refused: list[str] = []
        request = replace(self.request, refuse=refused.append)
        text = self.job.answering.answer(self.model, window, request)
        return Answer(text, tuple(refused))

    def _answer_rest(self, pieces: list[Window | BadSentence]) -> Answer:
        answers = [self._answer(piece) for piece in pieces if isinstance(piece, Window)]
        return Answer(
            "".join(answer.text for answer in answers),
            tuple(sentence for answer in answers for sentence in answer.refused),
            tuple(piece for piece in pieces if isinstance(piece, BadSentence)),
        )


def answer(job: Job, window: Window) -> Answer:
    """In a process of its own: answer a window with a model that is loaded once."""
    with LOCK:
        return loaded(job).answer(window)


@lru_cache(maxsize=1)
def loaded(job: Job) -> Answerer:
    """The model of a job, on one thread."""
    torch.set_num_threads(1)
    model, experiment = load(job.run, job.device, job.policy)
    if model_digest(model, experiment) != job.digest:
        raise RunError(
            f"Every worker must find the same model in {job.run}, but one found another; copy the "
            "run folder to all machines, or put it where all of them can read it."
        )
    return Answerer(model, job)
