"""How right and how fast a model of the demo is."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch

from ...tasks.decoding import in_order
from ...tasks.tagging.bio import span_scores
from ...tasks.tagging.decode import tag
from ...tasks.tagging.model import Tagger
from ...tasks.tagging.sentences import TaggedSentences

WIDTHS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Measured:
    """A model with a beam of one width on the test recordings."""

    model: str
    width: int
    accuracy: float
    """The share of characters whose label is right."""
    f1: float
    """Of words that are found with the right beginning, end and tag."""
    characters_per_second: float
    labels: list[tuple[str, ...]]

    def to_json(self) -> dict[str, Any]:
        """The numbers."""
        return {name: value for name, value in vars(self).items() if name != "labels"}


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread: more are of no use to small models, and harm on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def measure_all(
    taggers: Mapping[str, Tagger], test: TaggedSentences
) -> dict[tuple[str, int], Measured]:
    """Measure every model at every width."""
    return {
        (name, width): measure(name, tagger, test, width)
        for name, tagger in taggers.items()
        for width in WIDTHS
    }


def measure(name: str, tagger: Tagger, test: TaggedSentences, width: int) -> Measured:
    """Label the test utterances and compare with their right labels."""
    began = perf_counter()
    labels = [tagging.tags for tagging in in_order(tag(tagger, test.words, width))]
    seconds = perf_counter() - began
    right = [
        a == b
        for gold, said in zip(test.tags, labels, strict=True)
        for a, b in zip(gold, said, strict=True)
    ]
    return Measured(
        model=name,
        width=width,
        accuracy=sum(right) / len(right),
        f1=span_scores(test.tags, labels)["f1"],
        characters_per_second=len(right) / seconds,
        labels=labels,
    )
