"""Baselines: objectives that are not in the paper, written as losses over A_b."""

import torch
from torch.nn.functional import log_softmax

from .equations import LOSSES
from .loss import AnyLoss, Loss, log_of_sum, name_of, surrogate
from .ranked import Losses, Mask, Ranked, Scores, Width


@surrogate(
    convex=True,
    bounds_cost=False,
    needs="costs",
    local=True,
    largest=lambda s, _c, _k, n: log_of_sum(n, s),
)
def optimal_completion(
    scores: Scores, costs: Scores, width: Width, mask: Mask = None, *, temperature: float = 0.0
) -> Losses:
    """Give all cheapest neighbors the same probability (Sabour, Chan and Norouzi 2019).

    l(s, c) = KL(q || softmax(s)),  q = softmax(-c / temperature);  at 0, uniform over the cheapest

    Convex, also in q, so its largest value is that of log_loss_neighbors, where q is one neighbor.
    Needs full costs. It raises all cheapest neighbors, where log_loss_neighbors raises
    star(1) alone; with one cheapest neighbor the two are equal.
    """
    if temperature < 0:
        raise ValueError(f"`temperature` must be at least 0, got {temperature}.")
    beam = Ranked(scores, costs, width, mask)
    c = beam.fill(beam.c, torch.inf)
    c = c / temperature if temperature else c.where(c == 0, torch.inf)
    log_q = log_softmax(-c.where(beam.has_neighbors[:, None], 0.0), dim=-1)
    log_p = log_softmax(beam.fill(beam.s, torch.finfo(scores.dtype).min), dim=-1)
    divergence = torch.where(log_q > -torch.inf, log_q.exp() * (log_q - log_p), 0.0)
    return divergence.sum(dim=-1).clamp(min=0.0).where(beam.has_neighbors, 0.0)


@surrogate(
    convex=False,
    bounds_cost=False,
    needs="costs",
    final=True,
    largest=lambda _s, c, _k, n: c * (n > 1),
)
def minimum_risk(
    scores: Scores, costs: Scores, width: Width, mask: Mask = None, *, sharpness: float = 1.0
) -> Losses:
    """Lower the expected cost of the final beam (Shen et al. 2016, on what the beam found).

    l(s, c) = sum_{i <= k} p[i] (c[hat(i)] - min c),  p = softmax of sharpness * s[hat(1..k)]

    Not convex. Needs full costs. It is incurred once, at the last transition, over the finished
    outputs among the neighbors; what fell out of the beam on the way has no part in it. With one
    output (at width 1, or after a reset) or none (where a trajectory stops), nothing is learned.
    """
    beam = Ranked(scores, costs, width, mask)
    hat, inside = beam.beam
    s_hat = (sharpness * beam.s_at(hat)).masked_fill(~inside, torch.finfo(scores.dtype).min)
    p = s_hat.softmax(dim=-1).where(inside, 0.0)
    return (p * beam.c_at(hat)).sum(dim=-1).where(beam.has_neighbors, 0.0)


@surrogate(convex=False, bounds_cost=False, needs="costs", final=True, sampled=True)
def minimum_risk_sampled(
    scores: Scores,
    costs: Scores,
    width: Width,
    mask: Mask = None,
    *,
    log_inclusion: Scores | None = None,
) -> Losses:
    """Lower the expected cost of the model's outputs, estimated from a sample of them.

    l(s, c) = sum of exp(s[i]) / q[i] c[i] over the sample (Kool, van Hoof and Welling 2019)

    For scores that are log-probabilities of outputs, value and gradient are unbiased estimates of
    those of sum_y p(y) c(y), over all outputs, if the sample was drawn without replacement (the
    strategy `Sample`), and `log_inclusion` has log q. None: the neighbors are all outputs.

    Not convex. Needs full costs. It is incurred once, at the last transition. Costs are not reduced
    by the least, which depends on the sample: that would make the gradient biased.
    """
    beam = Ranked(scores, costs, width, mask)
    log_q = torch.zeros_like(scores) if log_inclusion is None else log_inclusion
    drawn = beam.mask & (log_q > -torch.inf)
    weights = (beam.s - log_q.masked_fill(~drawn, 0.0)).exp().where(drawn, 0.0)
    return (weights * costs.masked_fill(~drawn, 0.0)).sum(dim=-1).to(scores.dtype)


BASELINE_LOSSES: dict[str, Loss] = {
    loss.__name__: loss for loss in (optimal_completion, minimum_risk, minimum_risk_sampled)
}
"""All by their names."""
SURROGATES: dict[str, Loss] = {**LOSSES, **BASELINE_LOSSES}
"""Everything that can be learned by, by name."""


def check_needs(loss: AnyLoss, full: bool) -> None:
    """Refuse a loss that reads costs which the oracle does not have.

    A plain function, which declares nothing, is taken to need all costs.
    """
    if not full and getattr(loss, "needs", "costs") != "best":
        able = ", ".join(name for name, known in LOSSES.items() if known.needs == "best")
        raise ValueError(
            f"The loss {name_of(loss)!r} needs the cost of every neighbor, but the oracle only "
            f"knows which is cheapest; use an oracle with full costs, or one of {able}."
        )
