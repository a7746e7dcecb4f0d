"""What a component does with sentences: tags, trees or entities."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spacy.tokens import Doc

from .sentences import Sentence


@dataclass(frozen=True)
class Beam:
    """How to search."""

    width: int
    nbest: int


class Job(ABC):
    """One kind of component; it knows the spaCy side, and the model of its task."""

    task: str
    """The task of the runs that it works with."""

    @abstractmethod
    def check(self, model: Any, experiment: Any, run: str) -> None:
        """Refuse a model of the task that cannot do this."""

    @abstractmethod
    def annotate(
        self, model: Any, docs: Sequence[Doc], sentences: Sequence[Sentence], beam: Beam
    ) -> None:
        """Put what the model says of the sentences into their documents."""
