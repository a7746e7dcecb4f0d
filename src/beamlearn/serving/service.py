"""Service: what a server does with the body of a request."""

import asyncio
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, final

from ..data.text import DataError
from ..tasks.question import Sent
from .batcher import Batcher
from .body import Prediction, length_of, read_body, sent
from .limits import Limits
from .metrics import Metrics
from .refusal import Refusal
from .served_model import Asked, Reply, ServedModel


@final
class Service:
    """A model, its queue and its counters."""

    def __init__(self, model: ServedModel, limits: Limits) -> None:
        self.model, self.limits = model, limits
        self.version = version("beamlearn")
        self.metrics = Metrics(
            {"model": model.name, "task": model.task.name, "version": self.version}
        )
        self.batcher = Batcher(model.answer, limits, self.metrics)
        self.draining = False
        """Is it about to end?"""

    def health(self) -> dict[str, Any]:
        """How it is."""
        return {
            "alive": True,
            "ready": not self.draining,
            "model": self.model.name,
            "task": self.model.task.name,
            "version": self.version,
            "width": self.model.request.width,
        }

    async def predict(self, body: bytes) -> tuple[int, Mapping[str, Any]]:
        """The status and the answer of a request; it is cancelled if nobody waits any more."""
        asked = read_body(body, self.limits)
        width = asked.width or max(self.model.request.width, asked.nbest)
        replies = await self._replies(asked, width)
        refused = [reply for reply in replies if isinstance(reply, Refusal)]
        self.metrics.inputs["refused"] += len(refused)
        self.metrics.inputs["answered"] += len(replies) - len(refused)
        outputs = [shown(reply, asked.confidence) for reply in replies]
        status = refused[0].status if len(refused) == len(replies) else 200
        return status, {"outputs": outputs, "width": width}

    async def _replies(self, asked: Prediction, width: int) -> list[Reply]:
        """What becomes of each input; those that can be asked wait in the queue."""
        questions = [self._asked(sent(given), width, asked.nbest) for given in asked.inputs]
        waiting = self.batcher.put([one for one in questions if isinstance(one, Asked)])
        answers = iter(await asyncio.gather(*waiting))
        return [next(answers) if isinstance(one, Asked) else one for one in questions]

    def _asked(self, given: Sent, width: int, nbest: int) -> Asked | Refusal:
        """An input as the model is asked, or why it cannot be."""
        length, most = length_of(given), self.limits.max_length
        if length > most:
            return Refusal(
                413, f"An input may have {most:,} characters, got {length:,}; split or shorten it."
            )
        try:
            return Asked(self.model.task.question(given), width, nbest)
        except DataError as error:
            return Refusal(422, str(error))


def shown(reply: Reply, confidence: bool) -> Mapping[str, Any]:
    """A reply as JSON has it."""
    if isinstance(reply, Refusal):
        return {"error": str(reply)}
    return {name: value for name, value in reply.items() if confidence or name != "confidence"}
