"""A loss of your own in ten lines: it is a function of scores, costs, width and mask.

This one is a smooth variant of the paper's `upper_bound`: every neighbor should score below the
cheapest one, weighted by its additional cost. We compare it with two of the paper's losses on a toy
problem: to sort letters.
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


def sorting(letters: str) -> bl.GraphSpace:
    """Put letters in order, one after another; the cost is the number of wrong places."""
    return bl.GraphSpace(
        ("", letters),
        lambda node: [(node[0] + x, node[1].replace(x, "", 1)) for x in node[1]],
        cost=lambda path: sum(a != b for a, b in zip(path[-1][0], sorted(letters), strict=True)),
    )


def features(path: tuple[tuple[str, str], ...]) -> dict[str, float]:
    """Which letter is put before which: the one before it, and all that are left."""
    word, left = path[-1]
    return {word[-2:]: 1.0} | {word[-1:] + letter: 0.5 for letter in left}


def main() -> None:
    task = bl.GraphTask(sorting)
    train = ["dfba", "ceab", "afcd", "bead", "fdce", "ebfc", "cadf", "bdea"]
    test = ["fcda", "abce", "edbf", "caef", "dbfc", "febd", "adec", "bfca"]
    print("wrong letters per word, after one pass over eight words:")
    for loss in (soft_bound, bl.losses.upper_bound, bl.losses.log_loss_neighbors):
        scorer = bl.LinearScorer(features, size=512)
        optimizer = torch.optim.SGD(scorer.parameters(), lr=0.1)
        before = bl.evaluate([test], task, scorer, width=2).cost
        for _ in bl.learn(bl.minibatches(train), task, scorer, optimizer, loss=loss, width=2):
            pass
        after = bl.evaluate([test], task, scorer, width=2).cost
        print(f"{loss.__name__:20} {before:.2f} -> {after:.2f}")


if __name__ == "__main__":
    main()
