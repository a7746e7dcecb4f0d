"""The twelve surrogate losses: Eqs. (6)-(12) and, from Appendix D, (16)-(20).

Each is a function of the scores s and costs c of the n neighbors of a beam, for a batch of
beams at once. `hat` orders the neighbors by decreasing score, `star` by increasing cost, ties
to the smaller index; k is the width. Where `mask` is False there is no neighbor: the entry may
hold anything. A row without neighbors has loss 0.

The paper takes star(1) to be unique. Where several neighbors are cheapest, `best` says which is
meant: "first" in the order `star`, "best_scored", or "all" of them. With "all", the two log losses
put log sum exp(s[i]) over the cheapest neighbors i in place of s[star(1)], and all of these into I;
the other losses count the cheapest neighbors as one, with the best score among them. Then nothing
is learned where no neighbor costs more than another. A loss with "all" is not convex, and bounds
the transition cost if it does so with "first".

Every loss depends on differences of costs only and is never negative. Its properties are declared
above it; see `surrogate`. In `largest`, s and c are the ranges of the scores and costs. With c > 0
it is attained where costs are 0 or c and scores 0 or s, the expensive neighbors scored high.
"""

from math import log

import torch

from .loss import Loss, log_of_sum, surrogate
from .ranked import (
    Best,
    Losses,
    Mask,
    Ranked,
    Rival,
    Scores,
    Width,
    log_sum_exp,
    positive_part,
    rank_merged,
)
from .weighted_pairs import hinge_pairs, hinge_rectangle


@surrogate(convex=True, bounds_cost=False, needs="best", largest=lambda s, _c, _k, n: s * (n > 1))
def perceptron_first(
    scores: Scores, costs: Scores, width: Width, mask: Mask = None, *, best: Best = "first"
) -> Losses:
    """Penalize the cheapest neighbor for not being at the top.

    Eq. (6):  l(s, c) = max(0, s[hat(1)] - s[star(1)])

    Convex. Needs only the cheapest neighbor. Applied at the first cost increase it is the
    early update of Collins and Roark (2004).
    Paper note: where another neighbor ties with star(1) the loss is 0, but its subgradient
    pushes the two apart, so that a model that starts at zero learns.
    """
    beam = rank_merged(scores, costs, width, mask, best)
    hat_1 = beam.hat_beside_star(torch.ones_like(beam.k))
    return positive_part(beam.s_at(hat_1) - beam.s_star, beam.n > 1)


@surrogate(convex=False, bounds_cost=False, needs="best", largest=lambda s, _c, k, n: s * (n > k))
def perceptron_last(
    scores: Scores, costs: Scores, width: Width, mask: Mask = None, *, best: Best = "first"
) -> Losses:
    """Penalize the cheapest neighbor for falling out of the beam.

    Eq. (7):  l(s, c) = max(0, s[hat(k)] - s[star(1)])

    Not convex. Needs only the cheapest neighbor.
    Paper note: hat(k) is undefined for n < k; nothing can fall out while n <= k, and the loss
    is 0. At a tie the subgradient pushes apart, as for `perceptron_first`.
    """
    beam = rank_merged(scores, costs, width, mask, best)
    hat_k = beam.hat_beside_star(beam.k)
    return positive_part(beam.s_at(hat_k) - beam.s_star, beam.can_drop)


@surrogate(
    convex=False, bounds_cost=False, needs="best", largest=lambda s, _c, k, n: (1 + s) * (n > k)
)
def margin_last(
    scores: Scores,
    costs: Scores,
    width: Width,
    mask: Mask = None,
    *,
    rival: Rival = "last",
    best: Best = "first",
) -> Losses:
    """Ask the cheapest neighbor to beat the last one in the beam by a margin.

    Eq. (8):  l(s, c) = max(0, 1 + s[hat(k)] - s[star(1)])

    Not convex. Needs only the cheapest neighbor. 0 while n <= k.
    Paper note: hat(k) may be star(1) itself or another neighbor that is kept. With
    `rival="outside"`, where star(1) is in the beam, it is compared with hat(k + 1), the first
    that is not, as in LaSO.
    """
    beam = rank_merged(scores, costs, width, mask, best)
    hat_k = beam.hat_k(rival)
    margin = (1 + beam.s_at(hat_k) - beam.s_star).relu()
    return margin[:, 0] * beam.can_drop


@surrogate(
    convex=False, bounds_cost=True, needs="costs", largest=lambda s, c, k, n: c * (1 + s) * (n > k)
)
def cost_sensitive_margin_last(
    scores: Scores,
    costs: Scores,
    width: Width,
    mask: Mask = None,
    *,
    rival: Rival = "last",
    best: Best = "first",
) -> Losses:
    """Weight the margin over the last one in the beam by what that one costs more.

    Eq. (9):  l(s, c) = (c[hat(k)] - c[star(1)]) * max(0, 1 + s[hat(k)] - s[star(1)])

    Not convex; bounds the transition cost. Needs full costs. 0 while n <= k. `rival="outside"`
    as for `margin_last`. At a LaSO-style cost increase it is the update of BSO.
    """
    beam = rank_merged(scores, costs, width, mask, best)
    hat_k = beam.hat_k(rival)
    margin = (beam.c_at(hat_k) - beam.c_star) * (1 + beam.s_at(hat_k) - beam.s_star).relu()
    return margin[:, 0] * beam.can_drop


@surrogate(
    convex=True, bounds_cost=True, needs="costs", largest=lambda s, c, k, n: c * (1 + s) * (n > k)
)
def upper_bound(
    scores: Scores, costs: Scores, width: Width, mask: Mask = None, *, best: Best = "first"
) -> Losses:
    """Bound the transition cost by a convex function: a margin over all that ought to drop.

    Eq. (10): l(s, c) = max(0, delta[k+1], ..., delta[n])
              delta[j] = (c[star(j)] - c[star(1)]) * (s[star(j)] - s[star(1)] + 1)

    Convex; bounds the transition cost (Appendix B). Needs full costs. 0 while n <= k.
    """
    beam = rank_merged(scores, costs, width, mask, best)
    delta = (beam.c - beam.c_star) * (beam.s - beam.s_star + 1)
    dropped = beam.mask & (beam.place_by_cost() >= beam.k[:, None])
    return delta.masked_fill(~dropped, 0.0).amax(dim=-1).relu()


@surrogate(
    convex=False,
    bounds_cost=False,
    needs="best",
    largest=lambda s, _c, k, n: log_of_sum(min(k + 1, n), s),
)
def log_loss_beam(
    scores: Scores, costs: Scores, width: Width, mask: Mask = None, *, best: Best = "first"
) -> Losses:
    """Maximize the likelihood of the cheapest neighbor among those in the beam.

    Eq. (11): l(s, c) = -s[star(1)] + log sum_{i in I} exp(s[i])
              I = {star(1), hat(1), ..., hat(k)}

    Not convex. Needs only the cheapest neighbor. The loss of globally normalized networks.
    """
    beam = Ranked(scores, costs, width, mask, best)
    i, in_i = beam.beam_and_star
    loss = -beam.log_mass_of_star + log_sum_exp(beam.s_at(i), in_i)
    return loss.where(beam.has_neighbors, 0.0)


@surrogate(
    convex=True,
    bounds_cost=False,
    needs="best",
    local=True,
    largest=lambda s, _c, _k, n: log_of_sum(n, s),
)
def log_loss_neighbors(
    scores: Scores, costs: Scores, width: Width, mask: Mask = None, *, best: Best = "first"
) -> Losses:
    """Maximize the likelihood of the cheapest neighbor among all neighbors.

    Eq. (12): l(s, c) = -s[star(1)] + log sum_{i=1}^{n} exp(s[i])

    Convex. Needs only the cheapest neighbor. At k = 1 it is the usual log-likelihood.
    """
    beam = Ranked(scores, costs, width, mask, best)
    return beam.cross_entropy()


@surrogate(
    convex=False, bounds_cost=True, needs="costs", largest=lambda s, c, _k, n: (c + s) * (n > 1)
)
def cost_sensitive_margin_beam(
    scores: Scores, costs: Scores, width: Width, mask: Mask = None, *, best: Best = "first"
) -> Losses:
    """Ask the cheapest neighbor to beat each one in the beam by what that one costs more.

    Eq. (16): l(s, c) = -s[star(1)] + max_{i <= k} (c[hat(i)] - c[star(1)] + s[hat(i)])

    Not convex; bounds the transition cost. Needs full costs.
    Paper note: the paper adds the costs themselves; less that of the cheapest neighbor, the
    loss is never negative, and its gradient is the same.
    """
    beam = rank_merged(scores, costs, width, mask, best)
    hat, inside = beam.beam
    augmented = beam.c_at(hat) - beam.c_star + beam.s_at(hat)
    highest = augmented.masked_fill(~inside, torch.finfo(scores.dtype).min).amax(dim=-1)
    return (-beam.s_star[:, 0] + highest).where(beam.has_neighbors, 0.0)


@surrogate(
    convex=False,
    bounds_cost=True,
    needs="costs",
    largest=lambda s, c, k, n: log(k) + c + s if n > k else log_of_sum(n, c + s),
)
def softmax_margin_beam(
    scores: Scores, costs: Scores, width: Width, mask: Mask = None, *, best: Best = "first"
) -> Losses:
    """Smooth the maximum in `cost_sensitive_margin_beam`.

    Eq. (17): l(s, c) = -s[star(1)] + log sum_{i <= k} exp(c[hat(i)] - c[star(1)] + s[hat(i)])

    Not convex; bounds the transition cost. Needs full costs. Costs are relative, as there.
    """
    beam = rank_merged(scores, costs, width, mask, best)
    hat, inside = beam.beam
    augmented = beam.c_at(hat) - beam.c_star + beam.s_at(hat)
    loss = -beam.s_star[:, 0] + log_sum_exp(augmented, inside)
    return loss.where(beam.has_neighbors, 0.0)


@surrogate(
    convex=True,
    bounds_cost=True,
    needs="costs",
    largest=lambda s, c, _k, n: c * (1 + s) * (n // 2) * (n - n // 2),
)
def weighted_pairs_all(scores: Scores, costs: Scores, width: Width, mask: Mask = None) -> Losses:
    """Rank every pair of neighbors by cost, each pair weighted by its difference.

    Eq. (18): l(s, c) = sum_{i=1}^{n} sum_{j=i+1}^{n} w[i, j]
              w[i, j] = (c[star(j)] - c[star(i)]) * max(0, s[star(j)] - s[star(i)] + 1)

    Convex; bounds the transition cost. Needs full costs. O(n log n) time, O(n) memory.
    """
    beam = Ranked(scores, costs, width, mask)
    s_star, c_star, mask = beam.by_cost()
    return hinge_pairs(s_star, c_star, mask)


@surrogate(
    convex=True,
    bounds_cost=True,
    needs="costs",
    largest=lambda s, c, k, n: c * (1 + s) * k * max(0, n - k),
)
def weighted_pairs_bipartite(
    scores: Scores, costs: Scores, width: Width, mask: Mask = None
) -> Losses:
    """Rank what ought to be in the beam before what ought not to be.

    Eq. (19): l(s, c) = sum_{i=1}^{k} sum_{j=k+1}^{n} w[i, j], with w as in Eq. (18)

    Convex; bounds the transition cost. Needs full costs. 0 while n <= k.
    """
    beam = Ranked(scores, costs, width, mask)
    s_star, c_star, mask = beam.by_cost()
    i, j = mask & beam.first_k, mask & ~beam.first_k
    return hinge_rectangle(s_star, c_star, i, j)


@surrogate(
    convex=True,
    bounds_cost=True,
    needs="costs",
    largest=lambda s, c, k, n: c * (1 + s) * min(k, n // 2) * (n - min(k, n // 2)),
)
def weighted_pairs_hybrid(scores: Scores, costs: Scores, width: Width, mask: Mask = None) -> Losses:
    """Rank as `weighted_pairs_bipartite` does, and also inside the beam.

    Eq. (20): l(s, c) = sum_{i=1}^{k} sum_{j=i+1}^{n} w[i, j], with w as in Eq. (18)

    Convex; bounds the transition cost. Needs full costs.
    """
    beam = Ranked(scores, costs, width, mask)
    s_star, c_star, mask = beam.by_cost()
    i, j = mask & beam.first_k, mask & ~beam.first_k
    first = (field[:, : beam.widest] for field in (s_star, c_star, i))
    return hinge_rectangle(s_star, c_star, i, j) + hinge_pairs(*first)


LOSSES: dict[str, Loss] = {
    loss.__name__: loss
    for loss in (
        perceptron_first,
        perceptron_last,
        margin_last,
        cost_sensitive_margin_last,
        upper_bound,
        log_loss_beam,
        log_loss_neighbors,
        cost_sensitive_margin_beam,
        softmax_margin_beam,
        weighted_pairs_all,
        weighted_pairs_bipartite,
        weighted_pairs_hybrid,
    )
}
"""Every loss by its name."""
