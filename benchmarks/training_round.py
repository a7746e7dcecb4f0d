"""One round of `learn` against one of plain cross-entropy, on the same network.

`rows` is cross-entropy on as many rows as a beam has slots: the same work for the network
without any search, and so the limit.
"""

from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any

import torch
from measure import interleave, report
from synthetic import ACTIONS, BATCH, LENGTH, FixedLength, Recurrent, sentences
from torch import Tensor, nn

from beamlearn import SearchSpace, learn

WIDTHS = (1, 4, 8)


class Same:
    """A task whose batches are search spaces already."""

    def space(self, batch: FixedLength) -> SearchSpace[Any]:
        return batch


def cross_entropy(scorer: Recurrent, space: FixedLength) -> Tensor:
    """The log loss of the right tags, each after the right tags before it."""
    memory = scorer.start(space)
    scores = [scorer.score(memory, 0)]
    for step in range(1, LENGTH):
        memory = scorer.read(memory, space.tags[:, step - 1, None], step)
        scores.append(scorer.score(memory, step))
    stacked = torch.cat(scores, dim=1).reshape(-1, ACTIONS)
    return nn.functional.cross_entropy(stacked, space.tags.flatten())


def likelihood_round(space: FixedLength) -> Callable[[], None]:
    """A round of maximum likelihood."""
    scorer, optimizer = model()

    def run() -> None:
        optimizer.zero_grad()
        cross_entropy(scorer, space).backward()
        optimizer.step()

    return run


def beam_round(space: FixedLength, width: int) -> Callable[[], object]:
    """A round of the meta-algorithm."""
    scorer, optimizer = model()
    rounds = learn(
        repeat(space),
        Same(),
        scorer,
        optimizer,
        loss="log_loss_neighbors",
        strategy="continue",
        width=width,
    )
    return partial(next, rounds)


def model() -> tuple[Recurrent, torch.optim.Optimizer]:
    torch.manual_seed(0)
    scorer = Recurrent()
    return scorer, torch.optim.SGD(scorer.parameters(), lr=1e-3)


def row(width: int) -> dict[str, Any]:
    space = sentences()
    times = interleave(
        {
            "likelihood": likelihood_round(space),
            "learn": beam_round(space, width),
            "rows": likelihood_round(sentences(batch=BATCH * width)),
        },
        seconds=20,
    )
    return {
        "width": width,
        "batch": BATCH,
        "likelihood_ms": 1e3 * times["likelihood"].seconds,
        "learn_ms": 1e3 * times["learn"].seconds,
        "learn/likelihood": times["learn"].ratio,
        "rows/likelihood": times["rows"].ratio,
        "learn/rows": times["learn"].seconds / times["rows"].seconds,
    }


def main() -> None:
    report("training_round", [row(width) for width in WIDTHS])


if __name__ == "__main__":
    main()
