"""The losses that a run logged, and whether the theorems apply to them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from torch import nn

from ..strategies import Continue
from ..training.run import Run
from ..training.settings import Learning


class CannotCertifyError(ValueError):
    """The theorems do not apply to a run; the message gives every reason."""


@final
@dataclass(frozen=True)
class LoggedLosses:
    """One entry per example, in the order of training, each from before the update on it."""

    rounds: tuple[int, ...]
    losses: tuple[float, ...]
    costs: tuple[float, ...]
    optima: tuple[float, ...]
    """c*(b_1)."""
    steps: tuple[int, ...]
    on_policy: tuple[bool, ...] | None
    """Theorem 4's indicator; None if it was not logged."""
    betas: tuple[float, ...] | None
    """The probability of following the oracle, where the strategy interpolates."""

    def __len__(self) -> int:
        return len(self.losses)

    @property
    def horizon(self) -> int:
        """h of the longest trajectory."""
        return max(self.steps) + 1

    def upto(self, count: int) -> "LoggedLosses":
        """The first `count` entries."""
        cut = {name: field and field[:count] for name, field in vars(self).items()}
        return LoggedLosses(**cut)


def read_logged_losses(records: Iterable[Mapping[str, Any]]) -> LoggedLosses | None:
    """Read rounds.jsonl; None if its rounds do not list single examples."""
    rounds = [record for record in records if "examples" in record]
    if not rounds or not all("each" in record for record in rounds):
        return None
    each = [record["each"] for record in rounds]
    flags = all("on_policy" in one for one in each)
    counts = [len(one["losses"]) for one in each]
    betas = [record.get("beta") for record in rounds]

    def spread(values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(v for v, count in zip(values, counts, strict=True) for _ in range(count))

    return LoggedLosses(
        rounds=spread([record["round"] for record in rounds]),
        losses=flatten_field(each, "losses"),
        costs=flatten_field(each, "costs"),
        optima=flatten_field(each, "optima"),
        steps=flatten_field(each, "steps"),
        on_policy=flatten_field(each, "on_policy") if flags else None,
        betas=None if None in betas else spread(betas),
    )


def flatten_field(each: Sequence[Mapping[str, Any]], name: str) -> tuple[Any, ...]:
    """One field of all examples, in order."""
    return tuple(value for one in each for value in one[name])


def obstacles(learning: Learning, scorer: nn.Module, warm: bool) -> list[str]:
    """Why the theorems do not apply to a training; empty if they do.

    `warm` says whether its first weights come from another run.
    """
    first, last = learning.first_width, learning.decoding_width
    found = {
        "the examples were not taken in random order with each loss logged; train with `stream`": (
            not learning.stream
        ),
        f"all but the first of its {learning.epochs} epochs saw their examples again, and the loss "
        "of an example that was already learned from proves nothing; train with `epochs` = 1": (
            learning.epochs > 1
        ),
        "with dropout the recorded losses are not those of the policy; train with "
        f"{without_dropout(scorer)}": has_dropout(scorer),
        f"the width went from {first} to {last}, so the iterates are policies for different "
        "widths; train with one `width`": first != last,
        "the loss along the learned beams was not computed in every round; train with "
        "`beam_start` = 0, `beam_every` = 1 and a `beam_weight` above 0": (
            learning.weights is not None
            and not (
                learning.likelihood_share == 0
                and learning.beam_every == 1
                and min(learning.weights.first, learning.weights.last) > 0
            )
        ),
        "its first weights come from another training, which may have learned from the same "
        "examples; train from random weights, without `warm_start`": warm,
    }
    return [reason for reason, holds in found.items() if holds]


def without_dropout(scorer: nn.Module) -> str:
    """The settings that turn dropout off."""
    words = any(hasattr(module, "word_dropout") for module in scorer.modules())
    return "`dropout` = 0 and `word_dropout` = 0" if words else "`dropout` = 0"


def has_dropout(scorer: nn.Module) -> bool:
    """Does the scorer draw anything at random in training?"""
    rates = [m.p for m in scorer.modules() if isinstance(m, nn.Dropout)]
    rates += [m.dropout for m in scorer.modules() if isinstance(m, nn.RNNBase)]
    rates += [getattr(m, "word_dropout", 0.0) for m in scorer.modules()]
    return any(rate > 0 for rate in rates)


def certifiable_losses(run: Run, learning: Learning, scorer: nn.Module, warm: bool) -> LoggedLosses:
    """The logged losses of a run; an error with every reason if the theorems do not apply."""
    reasons = obstacles(learning, scorer, warm)
    logged = read_logged_losses(run.rounds())
    if logged is None and not reasons:
        reasons.append("no round is logged yet; train it with `resume`")
    strategy = learning.collection(1)
    if logged is not None and logged.on_policy is None and not isinstance(strategy, Continue):
        reasons.append(
            f"the log lacks the on-policy flags that {type(strategy).__name__.lower()} needs; "
            "restore rounds.jsonl from a copy, or train again"
        )
    if not reasons and not one_pass(run.rounds(), learning.decoding_width):
        reasons.append(
            "rounds.jsonl is not the log of one pass at one width; restore it from a copy, or "
            "train again"
        )
    if logged is None or reasons:
        raise CannotCertifyError(
            f"The theorems do not apply to the run in {run.path}: {'. Also, '.join(reasons)}."
        )
    return logged


def one_pass(records: Iterable[Mapping[str, Any]], width: int) -> bool:
    """Does a log have every round once, at one width, and at most one epoch?"""
    lines = list(records)
    rounds = [line["round"] for line in lines if "examples" in line]
    widths = {line["width"] for line in lines if "examples" in line}
    epochs = max((line.get("epoch", 0) for line in lines), default=0)
    return rounds == list(range(1, len(rounds) + 1)) and widths <= {width} and epochs <= 1
