"""Error profile: where a model goes wrong, at one beam width."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor

from .calibration import Bin, calibration_bins
from .evaluate import Evaluation

NO_NUMBERS = ("profile", "evaluation", "label_errors")
"""Fields of a report that are not metrics."""


@dataclass(frozen=True)
class ErrorProfile:
    """Counts over the examples of a data set."""

    width: int
    """The beam width."""
    steps_at: tuple[int, ...]
    """The number of examples with an i-th transition."""
    increases_at: tuple[int, ...]
    """The number of those at which the cost rose."""
    right: int
    """Examples whose output is the best in their space."""
    search_errors: int
    """Examples that could be better, where the model scores the best output higher."""
    model_errors: int
    """The other examples that could be better."""
    bins: tuple[Bin, ...]
    """Confidence against accuracy."""

    @classmethod
    def of(
        cls,
        width: int,
        found: Evaluation,
        confidence: Float[Tensor, " n"],
        correct: Bool[Tensor, " n"],
    ) -> "ErrorProfile":
        """The profile of an evaluation with references, and of confidences at the same width."""
        if found.search_errors is None:
            raise ValueError(
                "`found` must hold search errors, got none; call `evaluate` with `references=True`."
            )
        wrong, lost = int((found.regrets > 0).sum()), int(found.search_errors.sum())
        return cls(
            width=width,
            steps_at=tuple(found.steps_at.tolist()),
            increases_at=tuple(found.increases_at.tolist()),
            right=len(found) - wrong,
            search_errors=lost,
            model_errors=wrong - lost,
            bins=tuple(calibration_bins(confidence, correct)),
        )

    @property
    def examples(self) -> int:
        """The number of examples."""
        return self.right + self.search_errors + self.model_errors

    def to_json(self) -> dict[str, Any]:
        """All numbers, by name."""
        return {
            **vars(self),
            "steps_at": list(self.steps_at),
            "increases_at": list(self.increases_at),
            "bins": [list(one) for one in self.bins],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "ErrorProfile":
        """Read what `to_json` gave; anything else is a TypeError or a ValueError."""
        if lost := [one.name for one in fields(cls) if one.name not in record]:
            raise ValueError(f"An error profile must have {lost[0]!r}, got none.")
        counts = ("width", "right", "search_errors", "model_errors")
        return cls(
            **{name: int(record[name]) for name in counts},
            steps_at=tuple(map(int, record["steps_at"])),
            increases_at=tuple(map(int, record["increases_at"])),
            bins=tuple(Bin(float(a), float(b), int(size)) for a, b, size in record["bins"]),
        )


def merge_profiles(profiles: Sequence[ErrorProfile]) -> ErrorProfile:
    """Merge the profiles of similar models, such as those of several seeds."""
    return ErrorProfile(
        width=profiles[0].width,
        steps_at=_add_counts(one.steps_at for one in profiles),
        increases_at=_add_counts(one.increases_at for one in profiles),
        right=sum(one.right for one in profiles),
        search_errors=sum(one.search_errors for one in profiles),
        model_errors=sum(one.model_errors for one in profiles),
        bins=tuple(map(_merge_bins, zip(*(one.bins for one in profiles), strict=True))),
    )


def _add_counts(counts: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip_longest(*counts, fillvalue=0)))


def _merge_bins(bins: Sequence[Bin]) -> Bin:
    size = sum(one.size for one in bins)
    sure = sum(one.confidence * one.size for one in bins)
    right = sum(one.correct * one.size for one in bins)
    return Bin(sure / max(size, 1), right / max(size, 1), size)
