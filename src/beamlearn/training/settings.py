"""How to learn: every choice in one checked value, from Python, TOML or a command line.

Settings know the names of algorithms, strategies and losses; what these are is loaded, torch with
them, when it is asked for. So the command line can describe every setting at once.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from ..check import UsageError, check_choice, quoted, shortened, unknown
from ..learning.ramp import Ramp
from .choices import (
    ALGORITHM_NAMES,
    BASELINE_NAMES,
    DEFAULT_ALGORITHM,
    FAMILY_NAMES,
    LOSS_NAMES,
    ROW_NAMES,
    STRATEGY_NAMES,
)
from .ramps import BetaRamp, WeightRamp, WidthRamp

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from ..algorithms import Algorithm
    from ..learning.trajectory import Reduction
    from ..losses import Loss
    from ..search.rollout import RolloutOracle
    from ..strategies import Strategy

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Model = TypeVar("Model", bound="Settings")


class SettingsError(UsageError):
    """A setting that cannot be used; the message names it."""


class Settings(BaseModel):
    """A frozen group of settings that refuses keys it does not know."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


def _roll_out(value: str) -> str:
    """Refuse what is neither a policy nor a probability."""
    try:
        known = value in ("learned", "reference") or 0 <= float(value) <= 1
    except ValueError:
        known = False
    if not known:
        raise ValueError(
            f"must be learned, reference or a probability between 0 and 1, got {value!r}"
        )
    return value


@dataclass(frozen=True)
class OneOf:
    """Accept `known` names, or lists of them; answer a misspelling with the nearest one."""

    known: tuple[str, ...]
    kind: str
    several: bool = False
    """May there be several, with commas between them?"""

    def __call__(self, value: str) -> str:
        for name in value.split(",") if self.several else (value,):
            check_choice(name, self.known, self.kind)
        return value


def one_of(known: Iterable[str], kind: str) -> AfterValidator:
    """Accept one of the `known` names."""
    return AfterValidator(OneOf(tuple(known), kind))


BLIND_WEIGHT = 0.3
"""The weight of the beam's loss in `joint` for models that do not see all of the input."""
USUAL_RATE, FINE_TUNING_RATE = 3e-3, 1e-4
"""The learning rates for random weights, and for those of a large model that is fine-tuned."""
SIGHTED_START = 2 / 3
"""When the beam's loss joins in `joint` for models that see all of the input."""


def usual_algorithm(choices: Mapping[str, Any], default: str) -> str:
    """The algorithm where none is named: the default, or the paper's where parts are chosen."""
    chosen = any(choices.get(name) is not None for name in ("strategy", "loss"))
    return "continue" if chosen else default


def algorithm_field(default: str) -> Any:
    """The field of an algorithm, with what is the `default` of a task."""
    return Field(
        default=cast(str, None),  # `_choose_algorithm` decides
        description="Training algorithm. It sets the strategy, the loss and the width. "
        f"{DEFAULT_ALGORITHM}: likelihood, and with a small weight the loss along the learned "
        f"beams. One of the paper's Table 1: {', '.join(ALGORITHM_NAMES)}; of the same family: "
        f"{', '.join(FAMILY_NAMES)}; or a baseline: {', '.join(BASELINE_NAMES)}. "
        f"(default: {default}; continue where a strategy or a loss is chosen)",
    )


class Learning(Settings):
    """The choices of the meta-algorithm, and those of the optimizer under it."""

    default_algorithm: ClassVar[str] = DEFAULT_ALGORITHM
    algorithm: Annotated[str, one_of(ROW_NAMES, "algorithm")] = algorithm_field(DEFAULT_ALGORITHM)
    strategy: Annotated[str, one_of(STRATEGY_NAMES, "strategy")] | None = Field(
        default=None,
        description=f"How beams are chosen during training: {', '.join(STRATEGY_NAMES)}. "
        "(default: set by the algorithm)",
    )
    loss: Annotated[str, one_of(LOSS_NAMES, "loss")] | None = Field(
        default=None,
        description=f"Loss to minimize: {', '.join(LOSS_NAMES)}. (default: set by the algorithm)",
    )
    best: Literal["first", "best_scored", "all"] | None = None
    """Which of several equally cheap neighbors to learn toward. Not for weighted_pairs losses.
    (default: all with joint, first with others)"""
    width: WidthRamp | None = None
    """Width of the beam. Two numbers, as in 1:8, widen it step by step during the first half of
    training. (default: set by the algorithm)"""
    beam_weight: WeightRamp | None = None
    """Weight of the loss along the learned beams, beside the likelihood of the right path, which
    has weight 1. Two numbers, as in 0:0.1, change it evenly during training. (default: with joint
    0.1, or 0.3 where the model decides before it has seen all of the input; the loss alone with
    others)"""
    beam_start: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Share of the rounds that are of likelihood alone, before the loss along the learned beams
    joins. (default: with joint two thirds where the model sees all of the input, else 0)"""
    beam_restart: Annotated[float, Field(gt=0)] | None = None
    """Make two phases of the training: the learning rate falls to 0 before beam_start, and starts
    again there with this times its first value. (default: one schedule)"""
    beam_every: Annotated[int, Field(ge=1)] = 1
    """Compute the loss along the learned beams in every so many rounds only, with its weight times
    that number: training takes less time."""
    final_width: Annotated[int, Field(ge=1)] = 1
    """Number of outputs that the last beam may hold. Above 1, training aims at the best output
    being in a list of so many, not at its top; the width of the beam must be at least as large."""
    beta: BetaRamp | None = None
    """Probability of following the oracle, for the strategy interpolate. Two numbers, as in 0.9:0,
    change it evenly during training."""
    roll_out: Annotated[str, AfterValidator(_roll_out)] | None = None
    """Estimate the cost of a neighbor by the output that is reached from it: by the learned policy
    (learned), along the cheapest actions (reference), or by either, with a probability of the
    reference, as in 0.5. (default: set by the algorithm, mostly exact costs)"""
    roll_outs: Annotated[int, Field(ge=1)] = 16
    """Number of neighbors of a beam whose costs roll-outs estimate: the best-scored ones, and the
    reference's. At least the width of the beam."""
    epochs: Annotated[int, Field(ge=1)] = 10
    """Number of passes over the training data."""
    batch_size: Annotated[int, Field(ge=1)] = 32
    """Number of examples per update."""
    shards: Annotated[int, Field(ge=1)] = 1
    """Number of parts that each batch is cut into. As many processes as divide it can share the
    training, and come to the same result."""
    reduction: Literal["sum", "mean"] = "sum"
    """Whether to add up or average the losses along a trajectory."""
    optimizer: Literal["adam", "gradient", "leader"] = "adam"
    """Optimizer: Adam, projected gradient descent, or follow the regularized leader."""
    learning_rate: Annotated[float, Field(gt=0)] | None = None
    """Learning rate of the first update. The optimizers gradient and leader divide it by the square
    root of the round; for adam see schedule. (default: 0.003, or 0.0001 to fine-tune a Hugging Face
    model)"""
    schedule: Literal["constant", "linear", "cosine"] = "linear"
    """Learning rate schedule of Adam: constant, or falling to 0 at the last update."""
    clip: Annotated[float, Field(gt=0)] = 5.0
    """Maximum norm of the gradient. For adam only."""
    radius: Annotated[float, Field(gt=0)] | None = None
    """Maximum norm of all weights together. For gradient and leader only. (default: no limit)"""
    stream: bool = False
    """Take the examples in random order, not by length, and log each loss. Certificates need it."""
    mixture: Annotated[int, Field(ge=0)] = 0
    """Number of iterates to keep for the policy mixture, drawn evenly from all rounds."""
    average: bool = False
    """Keep the average of all iterates, for the policy average."""
    patience: Annotated[int, Field(ge=0)] | None = 5
    """Number of epochs without a better validation cost after which training stops. 0: never."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Random seed for the initial weights, the order of the data, dropout and the strategy."""

    @model_validator(mode="before")
    @classmethod
    def _choose_algorithm(cls, values: Any) -> Any:
        """A strategy or loss that is chosen is the paper's meta-algorithm, unless one is named."""
        if not isinstance(values, Mapping) or values.get("algorithm") is not None:
            return values
        return {**values, "algorithm": usual_algorithm(values, cls.default_algorithm)}

    @model_validator(mode="after")
    def _check_beta(self) -> "Learning":
        if (self.strategy == "interpolate") != (self.beta is not None):
            raise ValueError(
                "`beta` goes with the strategy interpolate, and only with it; give both "
                "(`strategy` = interpolate, `beta` = 0.5) or neither"
            )
        return self

    @model_validator(mode="after")
    def _check_beam_weight(self) -> "Learning":
        if self.beam_restart is not None and not self.beam_start:
            raise ValueError(
                "`beam_restart` goes with a `beam_start` above 0, where the second phase begins; "
                "give both, or leave it out"
            )
        for name, used in (
            ("beam_start", self.likelihood_share > 0),
            ("beam_every", self.beam_every > 1),
        ):
            if used and self.weights is None:
                raise ValueError(
                    f"`{name}` goes with a `beam_weight`, but {self.algorithm} has none; leave it "
                    "out, or give both"
                )
        return self

    @model_validator(mode="after")
    def _check_final_width(self) -> "Learning":
        if self.final_width > 1 and self.final_width > self.decoding_width:
            raise ValueError(
                f"`final_width` must be at most the width of the beam, {self.decoding_width}, got "
                f"{self.final_width}; widen the beam with `width`, or make it smaller"
            )
        return self

    @model_validator(mode="after")
    def _check_radius(self) -> "Learning":
        if self.radius is not None and self.optimizer == "adam":
            raise ValueError(
                "`radius` goes with the optimizers gradient and leader, which project the weights, "
                "got adam; leave it out, or choose one of them"
            )
        return self

    @model_validator(mode="after")
    def _check_best(self) -> "Learning":
        if self.best is None:
            return self
        from ..losses import SURROGATES

        loss = self.named_loss
        if "best" not in signature(loss).parameters:
            able = [n for n, known in SURROGATES.items() if "best" in signature(known).parameters]
            raise ValueError(
                f"`best` goes with a loss that has one best neighbor, but {loss.__name__} has "
                f"none; leave it out, or choose one of {', '.join(able)}"
            )
        return self

    @model_validator(mode="after")
    def _check_final(self) -> "Learning":
        loss = self.named_loss
        if not loss.final:
            return self
        if not loss.sampled and min(self.widths.first, self.widths.last) < 2:
            raise ValueError(
                f"`width` must be at least 2 for {loss.__name__}, which compares outputs of the "
                "final beam, got 1"
            )
        from ..strategies import Reset, Stop

        if isinstance(self.collection(1), Stop | Reset):
            raise ValueError(
                f"`strategy` must lead to a full final beam for {loss.__name__}, but stop and "
                "reset do not; choose continue, oracle or interpolate"
            )
        if loss.sampled and not self.samples:
            raise ValueError(
                f"`strategy` must be sample for {loss.__name__}, which weighs sampled outputs; "
                "choose it, or another loss"
            )
        return self

    @property
    def row(self) -> "Algorithm":
        """The row of Table 1."""
        from ..algorithms import ROWS

        return ROWS[self.algorithm]

    @property
    def widths(self) -> Ramp:
        """The width in the course of training: the one that was chosen, or the row's."""
        return Ramp(self.row.width, self.row.width) if self.width is None else self.width

    @property
    def named_loss(self) -> "Loss":
        """The loss of the row, or the one in its place, before options."""
        from ..losses import SURROGATES

        return self.row.loss if self.loss is None else SURROGATES[self.loss]

    @property
    def surrogate(self) -> "Loss":
        """The loss that is chosen."""
        from ..losses import with_best

        return with_best(self.named_loss, self.best or self.row.best)

    @property
    def first_width(self) -> int:
        """The width at the start of training."""
        return int(self.widths.first)

    @property
    def decoding_width(self) -> int:
        """The width at the end of training, and the one to decode with."""
        return int(self.widths.last)

    def width_at(self, rounds: int) -> Callable[[int], int]:
        """The width as a function of the round, in a training of `rounds` rounds."""
        return self.widths.steps(rounds)

    @property
    def weights(self) -> Ramp | None:
        """The weight of the loss in the course of training, as chosen or as the row has it."""
        weight = self.row.beam_weight if self.beam_weight is None else self.beam_weight
        return weight if isinstance(weight, Ramp | None) else Ramp(weight, weight)

    @property
    def likelihood_share(self) -> float:
        """The share of the rounds before the loss along the learned beams joins."""
        return self.beam_start or 0.0

    @property
    def first_rate(self) -> float:
        """The learning rate of the first update."""
        return USUAL_RATE if self.learning_rate is None else self.learning_rate

    def decided(
        self, *, sees_all: bool, warm: bool, fine_tuning: bool = False, rolls_out: bool = False
    ) -> "Learning":
        """The same with the weight and the start of the beam's loss decided, where left open.

        A model that decides before it has seen all of the input needs its beam to keep what later
        input decides on: the loss has a larger weight, and joins at once. A model that sees
        everything first learns more from likelihood in the same time: the loss joins late, unless
        the weights come from another training (`warm`) or every loss is to be certified (`stream`).
        The learning rate is smaller for `fine_tuning`. A cost that is only known for whole outputs
        `rolls_out` by the learned policy.
        """
        found: dict[str, Any] = {}
        if rolls_out and self.roll_out is None and self.row.out is None:
            found["roll_out"] = "learned"
        if self.learning_rate is None:
            found["learning_rate"] = FINE_TUNING_RATE if fine_tuning else USUAL_RATE
        if not sees_all and self.beam_weight is None and self.weights is not None:
            found["beam_weight"] = Ramp(BLIND_WEIGHT, BLIND_WEIGHT)
        if self.beam_start is None:
            late = self.row.beam_weight is not None and sees_all and not (warm or self.stream)
            found["beam_start"] = SIGHTED_START if late else 0.0
        return self.model_copy(update=found)

    def weight_at(self, rounds: int) -> Callable[[int], float] | None:
        """The weight of the loss as a function of the round; None: it is alone."""
        from ..strategies import linear

        weights, every = self.weights, self.beam_every
        if weights is None:
            return None
        line, first = linear(weights.first, weights.last, rounds), self.likelihood_share * rounds
        return lambda t: every * line(t) if t > first and t % every == 0 else 0.0

    def collection(self, rounds: int) -> "Strategy":
        """The strategy that is chosen, in a training of `rounds` rounds."""
        from ..strategies import Interpolate, as_strategy, linear

        if self.beta is not None:
            return Interpolate(linear(self.beta.first, self.beta.last, rounds))
        if self.strategy is None and self.row.beta is not None:
            return Interpolate(linear(*self.row.beta, rounds))
        return self.row.strategy if self.strategy is None else as_strategy(self.strategy)

    @property
    def rollouts(self) -> "RolloutOracle | None":
        """What estimates costs in place of the task's own oracle; None: nothing does."""
        from ..search.rollout import RolloutOracle

        out = self.row.out if self.roll_out is None else self.roll_out
        if out is None:
            return None
        named = out in ("learned", "reference")
        most = max(self.roll_outs, self.first_width, self.decoding_width)
        return RolloutOracle(out=out if named else float(out), per_beam=most)

    @property
    def combined(self) -> "Reduction":
        """How the losses along a trajectory become one number."""
        return self.collection(1).reduction or self.reduction

    @property
    def samples(self) -> bool:
        """Are beams sampled from the distribution of the model?"""
        from ..strategies import Sample

        return isinstance(self.collection(1), Sample)

    @property
    def local(self) -> bool:
        """Is every decision learned by itself, as with maximum likelihood and DAgger?"""
        return self.named_loss.local and max(self.first_width, self.decoding_width) == 1


def read_toml(path: Path) -> dict[str, Any]:
    """Read settings from a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read ({error.strerror}); check the path.", "config"
        ) from None
    except RecursionError:
        raise SettingsError(
            f"{path} must be a TOML file, but its brackets are nested too deeply; remove some."
        ) from None
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise SettingsError(
            f"{path} must be a TOML file in UTF-8: {shortened(str(error))}."
        ) from None


def parse(model: type[Model], values: Mapping[str, Any], source: str = "") -> Model:
    """Check `values`; the message for a wrong one names its key and where it came from."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        # A misspelled key comes before one that is missing.
        found = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        path = [str(part) for part in found["loc"] if not str(part).startswith("function-")]
        fixes = path[-1:] if found["type"] == "missing" else []
        where = f"{source}: " if source else ""
        raise SettingsError(where + _sentence(model, found, path), *fixes) from None


def groups_in(model: type[Settings]) -> dict[str, type[Settings]]:
    """The fields that are groups of settings themselves."""
    return {
        name: kind
        for name, field in model.model_fields.items()
        for kind in (field.annotation, *get_args(field.annotation))
        if isinstance(kind, type) and issubclass(kind, Settings)
    }


def _sentence(model: type[Settings], found: "ErrorDetails", path: list[str]) -> str:
    """What is wrong with the setting at a path, with its key."""
    key = ".".join(path)
    if found["type"] == "extra_forbidden":
        for name in path[:-1]:
            model = groups_in(model)[name]
        return unknown(model.model_fields, path[-1], "setting")
    if found["type"] == "missing":
        return f"`{key}` is required but missing; set it."
    message = found["msg"].removeprefix("Value error, ").rstrip(".")
    message = re.sub("^Input should ", "must ", message)
    if found["type"] != "value_error":  # which is ours and says itself what it got
        message += f", got {quoted(found['input'])}"
    if not key or message.startswith("`"):  # it names the settings that it is about
        return f"{message}."
    return f"`{key}` {message}." if message.startswith("must ") else f"`{key}`: {message}."
