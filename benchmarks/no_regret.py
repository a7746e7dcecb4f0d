"""Average regret against rounds: how fast does learning catch up with the best policy in hindsight?

    python benchmarks/no_regret.py

A linear tagger of noisy words learns with a beam of 3 by going on through its own mistakes
(continue), one sentence a round. No weights have loss 0: one word in four says nothing about its
tag. After m rounds the average loss is epsilon_m + gamma_m; epsilon_m, the least average loss on
the same beams of any weights in the ball of the radius, comes with its proof from
`best_in_hindsight`. Theory promises that gamma_m falls at least as 1 / sqrt(m), a slope of -1/2
between logarithms, for projected gradients and for following the leader. It promises nothing for
Adam, whose weights are put back into the ball after every round, too: outside, they could do
better than the best ones inside.

The rate of the two is R / G, where G is the largest norm of a gradient in a pilot of 64 rounds at
weights near zero. The bound is that of `regret_bound` with the largest norm that was met. Slopes
are least squares over the second half of the points. Writes `results/no_regret.json` and
`results/no_regret.svg`; takes about five minutes on an idle machine.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from math import log2
from typing import Any

import torch
from measure import RESULTS, report

import beamlearn as bl
from beamlearn.learning.optimizers import FollowTheLeader, ProjectedGradient, project
from beamlearn.theory.hindsight import best_in_hindsight

TAGS, LENGTH, NOISE = "DNVP", 3, 0.25
WIDTH, RADIUS = 3, 3.0
ROUNDS = [8, 16, 32, 64, 128, 256, 512, 1024]
LOSSES = ("upper_bound", "log_loss_neighbors", "weighted_pairs_bipartite")
OPTIMIZERS = ("projected gradient", "follow the leader", "Adam")
ADAM_RATE = 0.03
Example = tuple[str, str]  # words and their tags, a letter each


def main() -> None:
    torch.set_num_threads(1)
    rng = random.Random(0)
    examples = [sentence(rng) for _ in range(256)]
    stream = [rng.choice(examples) for _ in range(ROUNDS[-1])]
    task = bl.GraphTask(tagging)
    rows: list[dict[str, Any]] = []
    for loss in LOSSES:
        for name in OPTIMIZERS:
            rows += run(task, stream, loss, name)
    report("no_regret", rows, slopes=slopes(rows), radius=RADIUS, width=WIDTH)
    draw(rows)


def sentence(rng: random.Random) -> Example:
    """Tags that like to follow each other, and words that mostly tell them."""
    tags = rng.choice(TAGS)
    while len(tags) < LENGTH:
        usual = TAGS[(TAGS.index(tags[-1]) + 1) % len(TAGS)]
        tags += usual if rng.random() < 0.6 else rng.choice(TAGS)
    return "".join(rng.choice(TAGS) if rng.random() < NOISE else t for t in tags).lower(), tags


def tagging(example: Example) -> bl.GraphSpace:
    """A tag for every word, from the left; the cost is the number of wrong ones."""
    words, tags = example

    def more(node: Example) -> list[Example]:
        done = node[1]
        return [(words, done + tag) for tag in TAGS] if len(done) < len(words) else []

    def wrong(path: tuple[Example, ...]) -> float:
        return float(sum(a != b for a, b in zip(path[-1][1], tags, strict=True)))

    return bl.GraphSpace((words, ""), more, cost=wrong)


def new_scorer() -> bl.LinearScorer:
    """Count each tag with its word, and with the tag before it."""

    def counts(path: Sequence[Example]) -> dict[str, float]:
        words, tags = path[-1]
        found: dict[str, float] = {}
        for word, before, tag in zip(words, "#" + tags, tags, strict=False):
            for name in (word + tag, before + tag):
                found[name] = found.get(name, 0.0) + 1.0
        return found

    names = [one + tag for one in (*TAGS.lower(), "#", *TAGS) for tag in TAGS]
    return bl.LinearScorer(counts, names=names, dtype=torch.float64)


def run(task: bl.GraphTask, stream: list[Example], loss: str, name: str) -> list[dict[str, Any]]:
    """Learn, and compare what was incurred with the best in hindsight after m rounds."""
    scorer = new_scorer()
    rate = RADIUS / steepest(task, stream[:64], loss)
    optimizers: dict[str, Callable[..., torch.optim.Optimizer]] = {
        "projected gradient": lambda p: ProjectedGradient(p, lr=rate, radius=RADIUS),
        "follow the leader": lambda p: FollowTheLeader(p, lr=rate, radius=RADIUS),
        "Adam": projected_adam,
    }
    rounds = list(
        bl.learn(
            [[example] for example in stream],
            task,
            scorer,
            optimizers[name](scorer.parameters()),
            loss=loss,
            width=WIDTH,
            trajectories=True,
        )
    )
    rows = []
    for m in ROUNDS:
        first = rounds[:m]
        mean = sum(round.losses.item() for round in first) / m
        paths = [round.trajectory for round in first]
        best = best_in_hindsight(paths, scorer, loss, radius=RADIUS, steps=400, tolerance=2e-4)
        norm = max(round.gradient_norm for round in first)
        theory = {"projected gradient": ProjectedGradient, "follow the leader": FollowTheLeader}
        bound = None
        if name in theory:
            bound = theory[name].regret_bound(m, lr=rate, radius=RADIUS, gradient_bound=norm)
        rows.append(
            {
                "loss": loss,
                "optimizer": name,
                "rounds": m,
                "mean loss": mean,
                "epsilon": best.value,
                "epsilon, at least": best.lower,
                "regret": mean - best.value,
                "bound": bound,
            }
        )
        print(loss, name, f"m = {m}: regret {mean - best.value:.4f}.", best, flush=True)
    return rows


def projected_adam(parameters: Iterable[torch.Tensor]) -> torch.optim.Optimizer:
    """Adam at a constant rate, with its weights put back into the ball."""
    weights = list(parameters)
    optimizer = torch.optim.Adam(weights, lr=ADAM_RATE)
    optimizer.register_step_post_hook(lambda *_: project(weights, RADIUS))
    return optimizer


def steepest(task: bl.GraphTask, stream: list[Example], loss: str) -> float:
    """The largest norm of a gradient while the weights are nearly zero."""
    scorer = new_scorer()
    still = torch.optim.SGD(scorer.parameters(), lr=1e-6)
    batches = [[example] for example in stream]
    rounds = bl.learn(batches, task, scorer, still, loss=loss, width=WIDTH)
    return max(round.gradient_norm for round in rounds)


def slopes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How log gamma_m goes with log m over the second half of the points."""
    found = []
    for loss in LOSSES:
        for name in OPTIMIZERS:
            own = [row for row in rows if (row["loss"], row["optimizer"]) == (loss, name)]
            late = [row for row in own[len(own) // 2 :] if row["regret"] > 0]
            x = torch.tensor([log2(row["rounds"]) for row in late])
            y = torch.tensor([log2(row["regret"]) for row in late])
            flat = len(late) < 2
            slope = None if flat else float(((x - x.mean()) @ y) / (x - x.mean()).square().sum())
            found.append({"loss": loss, "optimizer": name, "slope": slope})
    return found


def draw(rows: list[dict[str, Any]]) -> None:
    """A panel for each loss, a line for each optimizer; told apart by color, dash and marker."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(LOSSES), figsize=(4 * len(LOSSES), 3.6))
    styles = {
        "projected gradient": ("#0072B2", "-", "o"),
        "follow the leader": ("#D55E00", "--", "s"),
        "Adam": ("#555555", ":", "^"),
    }
    for axes, loss in zip(panels, LOSSES, strict=True):
        for name, (color, dash, marker) in styles.items():
            own = [row for row in rows if (row["loss"], row["optimizer"]) == (loss, name)]
            points = [(row["rounds"], row["regret"]) for row in own if row["regret"] > 0]
            x, y = zip(*points, strict=True)
            axes.loglog(x, y, color=color, linestyle=dash, marker=marker, label=name)
            if name == OPTIMIZERS[0]:
                guide = [y[0] * (x[0] / m) ** 0.5 for m in ROUNDS]
                axes.loglog(ROUNDS, guide, color="#BBBBBB", linewidth=1, label="slope -1/2")
        axes.set(title=loss, xlabel="rounds m")
    panels[0].set_ylabel("average regret")
    panels[0].legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "no_regret.svg")


if __name__ == "__main__":
    main()
