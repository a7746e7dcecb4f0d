"""A loss of your own in ten lines: it is a function of scores, costs, width and mask.

This one is a smooth variant of the paper's `upper_bound`: every neighbor should score below the
cheapest one, weighted by its additional cost. We compare it with two of the paper's losses on a toy
problem: to spell words letter by letter.
"""

import torch
from torch import Tensor

import beamlearn as bl
from beamlearn.losses import surrogate


@surrogate(convex=True, bounds_cost=False, needs="costs")
def soft_bound(scores: Tensor, costs: Tensor, width: Tensor, mask: Tensor) -> Tensor:
    """Sum of (c - c*) log(1 + exp(s - s*)) over all neighbors."""
    star = costs.masked_fill(~mask, torch.inf).argmin(dim=-1, keepdim=True)
    extra_cost = (costs - costs.gather(-1, star)).masked_fill(~mask, 0.0)
    ahead = scores - scores.gather(-1, star)
    return (extra_cost * torch.nn.functional.softplus(ahead)).sum(dim=-1)


def spelling(goal: str) -> bl.GraphSpace:
    """Spell `goal` letter by letter; the cost is the number of wrong letters."""
    return bl.GraphSpace(
        "",
        lambda word: [word + letter for letter in "abc"] if len(word) < len(goal) else [],
        cost=lambda path: sum(a != b for a, b in zip(path[-1], goal, strict=True)),
    )


def main() -> None:
    task = bl.GraphTask(spelling)
    words = ["cba", "cab", "cbb", "caa"]
    for loss in (soft_bound, bl.losses.upper_bound, bl.losses.log_loss_neighbors):
        scorer = bl.LinearScorer(
            lambda path: {f"{i}{letter}": 1.0 for i, letter in enumerate(path[-1])}, size=512
        )
        optimizer = torch.optim.Adagrad(scorer.parameters(), lr=0.5)
        before = bl.evaluate([words], task, scorer, width=2).cost
        for _ in bl.learn([words] * 20, task, scorer, optimizer, loss=loss, width=2):
            pass
        after = bl.evaluate([words], task, scorer, width=2).cost
        print(f"{loss.__name__:20} wrong letters per word: {before:.2f} -> {after:.2f}")


if __name__ == "__main__":
    main()
