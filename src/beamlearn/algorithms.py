"""Published algorithms as choices of strategy, loss, width and roll-outs, and the default.

Table 1 is the paper's. Table 2 has the rest of the family, which the paper's table leaves out.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

from . import losses
from .losses import Best, Loss, baselines, with_best
from .search.rollout import Out, RolloutOracle
from .strategies import (
    Continue,
    Interpolate,
    MaxViolation,
    Oracle,
    Reset,
    Sample,
    Stop,
    Strategy,
    linear,
)


@dataclass(frozen=True)
class Algorithm:
    """One row of a table."""

    name: str
    strategy: Strategy
    loss: Loss
    width: int
    """The width of the row: 1, or where the paper says k > 1 our default of 8."""
    reference: str
    paper_form: str
    """The row as the paper prints it: data collection, surrogate loss, k."""
    original: str
    """Where the algorithm as first published differs from the row."""
    best: Best = "first"
    """Which of several equally cheap neighbors its loss learns toward."""
    beam_weight: float | None = None
    """The weight of its loss beside the likelihood of the oracle's path; None: it is alone."""
    table: Literal[1, 2] | None = None
    """The paper's Table 1, or our Table 2 of the rest of the family."""
    beta: tuple[float, float] | None = None
    """The probability of following the oracle at the beginning and at the end of a training, whose
    length `strategy` cannot know."""
    out: Out | None = None
    """Who takes roll-outs to their ends; None: costs are those of the oracle."""

    @property
    def choices(self) -> dict[str, Any]:
        """What to give to `learn`: `learn(..., **ALGORITHMS["bso"].choices)`."""
        loss = with_best(self.loss, self.best)
        chosen = {"strategy": self.strategy, "loss": loss, "width": self.width}
        if self.beam_weight is not None:
            chosen["beam_weight"] = self.beam_weight
        if self.out is not None:
            chosen["oracle"] = RolloutOracle(out=self.out)
        return chosen


TABLE_1: dict[str, Algorithm] = {
    row.name: replace(row, table=1)
    for row in (
        Algorithm(
            "log_likelihood",
            Oracle(),
            losses.log_loss_neighbors,
            1,
            "maximum likelihood with a greedy decoder in mind",
            "oracle, log loss (neighbors), k = 1",
            "No difference: with one correct path and locally normalized scores it is "
            "cross-entropy.",
        ),
        Algorithm(
            "dagger",
            Continue(),
            losses.log_loss_neighbors,
            1,
            "Ross, Gordon and Bagnell 2011, A reduction of imitation learning and structured "
            "prediction to no-regret online learning",
            "continue, log loss (neighbors), k = 1",
            "DAgger trains on all data gathered so far and mixes in the expert at first; the row "
            "is its online form. `Interpolate` has the mixing.",
        ),
        Algorithm(
            "early_update",
            Stop(),
            losses.perceptron_first,
            8,
            "Collins and Roark 2004, Incremental parsing with the perceptron algorithm",
            "stop, perceptron (first), k > 1",
            "The original makes one update per example, where the correct path falls out of the "
            "beam or at the end; the row also incurs the losses of the beams before.",
        ),
        Algorithm(
            "laso_perceptron",
            Reset(),
            losses.perceptron_first,
            8,
            "Daume and Marcu 2005, Learning as search optimization",
            "reset, perceptron (first), k > 1",
            "The original updates toward the average of the good nodes and away from the average "
            "of the queue, and only at an error; the row compares two nodes at every beam.",
        ),
        Algorithm(
            "laso_margin",
            Reset(),
            losses.margin_last,
            8,
            "Daume and Marcu 2005, Learning as search optimization",
            "reset, margin (last), k > 1",
            "The original (ALMA) compares with the first node outside the beam while the best is "
            'inside: `with_options(margin_last, rival="outside")`; it also projects its weights.',
        ),
        Algorithm(
            "bso",
            Reset(),
            losses.cost_sensitive_margin_last,
            8,
            "Wiseman and Rush 2016, Sequence-to-sequence learning as beam-search optimization",
            "reset, cost-sensitive margin (last), k > 1",
            "The original resets at every margin violation, not only at a cost increase, starts "
            "from a likelihood model and widens the beam during training.",
        ),
        Algorithm(
            "globally_normalized",
            Stop(),
            losses.log_loss_beam,
            8,
            "Andor et al. 2016, Globally normalized transition-based neural networks",
            "stop, log loss (beam), k > 1",
            "The original incurs one loss per example, over the beam from which the correct path "
            "falls (or the last one), and starts from a likelihood model.",
        ),
        Algorithm(
            "continue",
            Continue(),
            losses.log_loss_neighbors,
            8,
            "Negrinho, Gormley and Gordon 2018, Learning beam search policies via imitation "
            "learning",
            "continue, [choose a surrogate loss], k > 1",
            "No difference. The paper leaves the loss open; `log_loss_neighbors` is our default.",
        ),
    )
}
"""Every row of the paper's Table 1 by its name."""
LOLS = (
    "Chang, Krishnamurthy, Agarwal, Daume and Langford 2015, Learning to search better than your "
    "teacher"
)
MIXED = 0.5
"""The probability of the reference in a mixture, of LOLS's Table 3."""
ROLL_IN: dict[str, Strategy] = {
    "reference": Oracle(),
    "mixture": Interpolate(MIXED),
    "learned": Continue(),
}
ROLL_OUT: dict[str, Out] = {"reference": "reference", "mixture": MIXED, "learned": "learned"}


def lols(roll_in: str, roll_out: str) -> Algorithm:
    """A cell of the table of LOLS: who leads to a state, and who goes on from its neighbors."""
    return Algorithm(
        f"lols_{roll_in}_{roll_out}",
        ROLL_IN[roll_in],
        losses.upper_bound,
        1,
        LOLS,
        f"not in the paper; as a row: roll-in {roll_in}, roll-out {roll_out}, upper bound, k = 1",
        "The original turns costs into cost-sensitive classification; the row has a convex bound "
        "of the cost. The original draws who rolls out for each action; the row for each beam, so "
        "that its actions are compared by the same policy.",
        out=ROLL_OUT[roll_out],
        table=2,
    )


TABLE_2: dict[str, Algorithm] = {
    row.name: row
    for row in (
        Algorithm(
            "searn",
            Interpolate(MIXED),
            losses.upper_bound,
            1,
            "Daume, Langford and Marcu 2009, Search-based structured prediction",
            "not in the paper; as a row: interpolate, upper bound with roll-outs by the mixture, "
            "k = 1",
            "The original trains a new classifier in each iteration and mixes it with those "
            "before, from the reference on; the row mixes the reference with the current model, "
            "online.",
            out=MIXED,
            table=2,
        ),
        Algorithm(
            "aggrevate",
            Continue(),
            losses.upper_bound,
            1,
            "Ross and Bagnell 2014, Reinforcement and imitation learning via interactive no-regret "
            "learning",
            "not in the paper; as a row: continue, upper bound with roll-outs by the reference, "
            "k = 1",
            "The original tries one random action at one random step of an example, and collects "
            "all data so far; the row tries all actions at all steps, online.",
            out="reference",
            table=2,
        ),
        replace(lols("learned", "mixture"), name="lols"),
        *(lols(roll_in, roll_out) for roll_in in ROLL_IN for roll_out in ROLL_OUT),
        Algorithm(
            "scheduled_sampling",
            Interpolate(linear(1.0, 0.0, 1000)),
            losses.log_loss_neighbors,
            1,
            "Bengio, Vinyals, Jaitly and Shazeer 2015, Scheduled sampling for sequence prediction "
            "with recurrent neural networks",
            "not in the paper; as a row: interpolate from 1 to 0, log loss (neighbors), k = 1",
            "The original always learns the token of the reference at this place, also after "
            "another one; the row learns the cheapest action from where it is. The original "
            "samples from the model; the row takes the best-scored action.",
            beta=(1.0, 0.0),
            table=2,
        ),
        Algorithm(
            "max_violation",
            MaxViolation(),
            losses.perceptron_first,
            8,
            "Huang, Fayong and Guo 2012, Structured perceptron with inexact search",
            "not in the paper; as a row: max violation, perceptron (first), k > 1",
            "In the original the right path has no slot of the beam; in the row it has the last "
            "one, once it has fallen out.",
            table=2,
        ),
    )
}
"""The rest of the family by its name."""
ALGORITHMS: dict[str, Algorithm] = {**TABLE_1, **TABLE_2}
"""The rows of both tables."""
BASELINES: dict[str, Algorithm] = {
    row.name: row
    for row in (
        Algorithm(
            "optimal_completion",
            Continue(),
            baselines.optimal_completion,
            1,
            "Sabour, Chan and Norouzi 2019, Optimal completion distillation for sequence learning",
            "not in the paper; as a row: continue, optimal completion, k = 1",
            "The original samples the next token; the row takes the best-scored one.",
        ),
        Algorithm(
            "minimum_risk",
            Continue(),
            baselines.minimum_risk,
            8,
            "Shen et al. 2016, Minimum risk training for neural machine translation",
            "not in the paper; as a row: continue, expected cost of the final beam, k > 1",
            "The original samples outputs and adds the right one; the row has the k of the beam.",
        ),
        Algorithm(
            "minimum_risk_sampled",
            Sample(),
            baselines.minimum_risk_sampled,
            8,
            "Kool, van Hoof and Welling 2019, Stochastic beams and where to find them",
            "not in the paper; as a row: sample, expected cost of all outputs, k > 1",
            "The original proposes normalized weights and a baseline from the sample; the row has "
            "the unbiased weights.",
        ),
    )
}
"""Rows beside those of Table 1."""
JOINT = Algorithm(
    "joint",
    Continue(),
    losses.log_loss_neighbors,
    8,
    "the default of this library",
    "not in the paper; as a row: log_likelihood + 0.1 x (continue, log loss (neighbors), k > 1)",
    "Likelihood alone ignores the beam; the loss of the beam alone forgets what likelihood knows.",
    best="all",
    beam_weight=0.1,
)
"""The likelihood of the oracle's path, and with a small weight the loss along the learned beams."""
ROWS: dict[str, Algorithm] = {JOINT.name: JOINT, **ALGORITHMS, **BASELINES}
"""All of them."""
