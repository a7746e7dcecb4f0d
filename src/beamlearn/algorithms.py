"""Table 1 as data: published algorithms as choices of strategy, loss and width, and the default."""

from dataclasses import dataclass
from typing import Any

from . import losses
from .losses import Best, Loss, baselines, with_best
from .strategies import Continue, Oracle, Reset, Sample, Stop, Strategy


@dataclass(frozen=True)
class Algorithm:
    """One row of Table 1."""

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

    @property
    def choices(self) -> dict[str, Any]:
        """What to give to `learn`: `learn(..., **ALGORITHMS["bso"].choices)`."""
        loss = with_best(self.loss, self.best)
        chosen = {"strategy": self.strategy, "loss": loss, "width": self.width}
        return chosen | ({} if self.beam_weight is None else {"beam_weight": self.beam_weight})


ALGORITHMS: dict[str, Algorithm] = {
    row.name: row
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
"""Every row of Table 1 by its name."""
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
