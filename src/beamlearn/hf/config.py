"""Settings of training with the beam, beside those of transformers."""

from dataclasses import dataclass, field
from typing import Any

from transformers import Seq2SeqTrainingArguments, TrainingArguments

from ..algorithms import JOINT
from ..check import check_choice, check_width
from ..losses import SURROGATES
from ..strategies import Interpolate, Strategy, as_strategy
from ..tasks.transduction.cost_names import COSTS
from ..training.settings import SIGHTED_START


def setting(default: Any, description: str) -> Any:
    """A field with the help that `HfArgumentParser` shows."""
    return field(default=default, metadata={"help": description})


@dataclass
class BeamArguments:
    """How a round of training uses the beam.

    The default is this library's own: the likelihood of the labels, and with a small weight the
    loss along the beams that the model finds.
    """

    beam_width: int = setting(4, "Number of hypotheses in the beam.")
    beam_strategy: str = setting(
        "continue",
        "Which beams are visited: oracle, stop, reset, continue, interpolate or sample.",
    )
    beam_beta: float | None = setting(
        None, "Probability of following the oracle at each step, for the strategy interpolate."
    )
    beam_loss: str = setting(JOINT.loss.__name__, "Surrogate loss at each visited beam.")
    beam_best: str = setting(
        JOINT.best, "What a loss takes for best among equally cheap: all, best_scored or first."
    )
    beam_cost: str = setting(
        "edit", "Cost of an output's tokens: edit, hamming, exact, bleu or chrf."
    )
    beam_roll_outs: int = setting(
        8, "Number of neighbors of a beam to roll out, for a cost that is a function of texts."
    )
    beam_weight: float | None = setting(
        JOINT.beam_weight, "Weight of the beam's loss beside the likelihood. None: the beam alone."
    )
    beam_start: float | None = setting(
        None,
        "Share of all steps, at the beginning, that train by likelihood alone. None: two thirds, "
        "or 0 where the beam is alone.",
    )
    beam_every: int = setting(1, "After that, the beam takes part in every so many steps.")
    beam_evaluates: bool = setting(
        True, "Whether evaluation also searches, and tells the mean cost of the best outputs."
    )
    beam_extra_tokens: int = setting(
        10, "Number of tokens by which an output may be longer than its longest reference."
    )

    @property
    def strategy(self) -> Strategy:
        """The strategy of that name."""
        if (self.beam_strategy == "interpolate") != (self.beam_beta is not None):
            raise ValueError(
                "`beam_beta` goes with the strategy interpolate, and only with it, got "
                f"beam_strategy={self.beam_strategy!r} and beam_beta={self.beam_beta}; give both "
                "or neither."
            )
        if self.beam_beta is not None:
            return Interpolate(self.beam_beta)
        return as_strategy(self.beam_strategy)

    @property
    def first_share(self) -> float:
        """The share of all steps before the beam takes part."""
        if self.beam_start is None:
            return 0.0 if self.beam_weight is None else SIGHTED_START
        return self.beam_start

    def check(self) -> None:
        """Refuse what cannot be meant."""
        check_width(self.beam_width, "beam_width")
        self.strategy  # noqa: B018 (it is checked as it is made)
        check_choice(self.beam_loss, SURROGATES, "beam_loss")
        check_choice(self.beam_cost, COSTS, "beam_cost")
        check_choice(self.beam_best, ("all", "best_scored", "first"), "beam_best")
        if self.beam_weight is not None and not self.beam_weight >= 0:
            raise ValueError(f"`beam_weight` must be at least 0, got {self.beam_weight}.")
        if not 0 <= self.first_share <= 1:
            raise ValueError(f"`beam_start` must be from 0 to 1, got {self.beam_start}.")
        if self.beam_every < 1:
            raise ValueError(f"`beam_every` must be at least 1, got {self.beam_every}.")
        if self.beam_extra_tokens < 0:
            raise ValueError(
                f"`beam_extra_tokens` must be at least 0, got {self.beam_extra_tokens}."
            )


@dataclass
class KeepsBest(BeamArguments):
    """What is kept of a training that is evaluated: the best weights, those before it included."""

    load_best_model_at_end: bool | None = setting(
        None,
        "Whether to end with the best weights that were evaluated, those before the first step "
        "among them. None: if `eval_strategy` evaluates and `save_strategy` saves.",
    )

    def keep_best(self, args: Any) -> None:
        """Decide what is left open, before transformers checks its settings."""
        if args.load_best_model_at_end is None:
            args.load_best_model_at_end = "no" not in (args.eval_strategy, args.save_strategy)
            if args.load_best_model_at_end and args.save_strategy != "best":
                _save_when_evaluated(args)
        if args.load_best_model_at_end:
            args.eval_on_start = True
            if args.metric_for_best_model is None and self.beam_evaluates:
                args.metric_for_best_model, args.greater_is_better = "cost", False


def _save_when_evaluated(args: Any) -> None:
    """What is best must have been saved, so saving goes along with evaluation."""
    args.save_strategy = args.eval_strategy
    if args.eval_strategy == "steps":
        args.save_steps = args.eval_steps or args.logging_steps


@dataclass
class BeamSeq2SeqConfig(KeepsBest, Seq2SeqTrainingArguments):  # type: ignore[misc]  # None: open
    """`Seq2SeqTrainingArguments`, and how training uses the beam.

    With `predict_with_generate`, evaluation decodes with `beam_width` beams unless
    `generation_num_beams` says otherwise.

    >>> config = BeamSeq2SeqConfig(output_dir="out", beam_width=4, report_to="none")
    >>> config.beam_weight, config.generation_num_beams
    (0.1, 4)
    >>> config = BeamSeq2SeqConfig(output_dir="out", eval_strategy="epoch", report_to="none")
    >>> config.load_best_model_at_end, config.metric_for_best_model, config.eval_on_start
    (True, 'cost', True)
    """

    def __post_init__(self) -> None:
        self.keep_best(self)
        super().__post_init__()  # type: ignore[no-untyped-call]  # theirs to type
        self.check()
        if self.generation_num_beams is None:
            self.generation_num_beams = self.beam_width


@dataclass
class BeamConfig(KeepsBest, TrainingArguments):  # type: ignore[misc]  # None: open
    """`TrainingArguments`, and how training uses the beam."""

    def __post_init__(self) -> None:
        self.keep_best(self)
        super().__post_init__()  # type: ignore[no-untyped-call]  # theirs to type
        self.check()
