"""How good a tagger is, at one beam width."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from ...evaluation.calibration import calibration_error
from ...evaluation.error_profile import NO_NUMBERS, ErrorProfile
from ...evaluation.evaluate import Evaluation
from ...evaluation.label_errors import LabelErrors
from ..decoding import BATCH, decoded
from .bio import is_bio, span_scores
from .decode import read_taggings
from .label_errors import label_errors
from .model import Tagger


@dataclass(frozen=True)
class TaggingReport:
    """The results of `evaluate`; rates are fractions."""

    width: int
    accuracy: float
    known_accuracy: float | None
    """The accuracy on words of the training data; None if there are none."""
    unknown_accuracy: float | None
    sentence_accuracy: float
    """The share of sentences without an error."""
    cost: float
    """Wrong tags per sentence."""
    increases_per_example: float
    """Cost increases per sentence: how often the beam lost its best hypothesis."""
    search_error_rate: float
    """Of the sentences that could be tagged better, the share where the model prefers the better
    tags."""
    calibration_error: float
    """The expected calibration error of the confidences of single tags."""
    words_per_second: float
    profile: ErrorProfile = field(compare=False, repr=False)
    """Where errors happen; not part of `to_json`."""
    evaluation: Evaluation = field(compare=False, repr=False)
    """Sentence by sentence, in the order of the data; not part of `to_json`."""
    label_errors: LabelErrors = field(compare=False, repr=False)
    """Tag by tag, and by types of spans if the tags are BIO; not part of `to_json`."""
    f1: float | None = None
    """The F1 of spans if the tags are BIO; also precision and recall."""
    precision: float | None = None
    recall: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The numbers that there are."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in NO_NUMBERS and value is not None
        }


def report(
    tagger: Tagger,
    words: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    width: int = 8,
    *,
    batch_size: int = BATCH,
) -> TaggingReport:
    """Tag sentences with a beam of `width` and compare with their right tags."""
    check_pairs(words, tags)
    examples = (tagger.encode(w, t) for w, t in zip(words, tags, strict=True))
    found = decoded(tagger, examples, width, batch_size, partial(read_taggings, tagger))
    taggings, costs = found.answers, found.evaluation
    right: list[bool] = []
    known: list[bool] = []
    confidence: list[float] = []
    for sentence, gold, tagging in zip(words, tags, taggings, strict=True):
        right += [a == b for a, b in zip(gold, tagging.tags, strict=True)]
        known += [word in tagger.lexicon for word in sentence]
        confidence += tagging.confidence
    correct, seen = torch.tensor(right, dtype=torch.bool), torch.tensor(known, dtype=torch.bool)
    sure = torch.tensor(confidence)
    best = [tagging.tags for tagging in taggings]
    bio = is_bio(tagger.lexicon.tags)
    return TaggingReport(
        width=width,
        accuracy=_share(correct) or 0.0,
        known_accuracy=_share(correct[seen]),
        unknown_accuracy=_share(correct[~seen]),
        sentence_accuracy=sum(map(tuple.__eq__, map(tuple, tags), best)) / len(best),
        cost=costs.cost,
        increases_per_example=costs.increases_per_example,
        search_error_rate=costs.search_error_rate,
        calibration_error=calibration_error(sure, correct),
        words_per_second=len(right) / found.seconds,
        profile=ErrorProfile.of(width, costs, sure, correct),
        evaluation=costs,
        label_errors=label_errors(tags, best, bio=bio),
        **(span_scores(tags, best) if bio else {}),
    )


def check_pairs(words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> None:
    """Refuse sentences that do not have one tag for each word."""
    if list(map(len, words)) != list(map(len, tags)):
        raise ValueError("`words` and `tags` must have one tag for each word.")


def _share(correct: torch.Tensor) -> float | None:
    return float(correct.double().mean()) if len(correct) else None
