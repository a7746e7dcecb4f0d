"""What a beam misses: lists of a trained ranker against its exact ranking of all items.

    python benchmarks/exact_ranking.py FILE RUN... [--users 500]

Each RUN was trained by `beamlearn train rank`, and FILE has the users. A sample of them, at equal
distances, is searched with beams of several widths, and with one that nothing falls out of, which
ranks the whole catalogue. `kept` is the share of the exact first ten ids that are among the first
ten of the beam.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import torch
from measure import report

from beamlearn.evaluation.ranking_metrics import ranking_metrics
from beamlearn.tasks.data import spread
from beamlearn.tasks.decoding import in_order
from beamlearn.tasks.experiment import load
from beamlearn.tasks.ranking.decode import ranked
from beamlearn.tasks.ranking.histories import read_histories
from beamlearn.tasks.ranking.model import Ranker
from beamlearn.tasks.ranking.positions import RankingExample
from beamlearn.tasks.ranking.task import RANKING

WIDTHS = (10, 20, 50, 100)
FIRST = 10
Lists = list[tuple[int, ...]]


def lists(ranker: Ranker, examples: Sequence[RankingExample], width: int, batch: int) -> Lists:
    """The first ten ids of each user."""
    found = in_order(ranked(ranker, examples, width, batch_size=batch))
    return [one.leaves[:FIRST] for one in found]


def rows(run: str, file: str, users: int) -> list[dict[str, Any]]:
    ranker, _ = load(RANKING, run)
    data = read_histories(file, ranker.ids, fewest=2)
    examples = RANKING.examples(ranker, data.take(spread(len(data), users)))
    right = ranker.index.leaves[[one.items[-1] for one in examples]].tolist()
    exact = lists(ranker, examples, len(ranker.index), 4)
    found = {str(width): lists(ranker, examples, width, 128) for width in WIDTHS}
    return [
        {
            "run": run.rstrip("/").rsplit("/", 1)[-1],
            "users": len(examples),
            "width": width,
            "recall_at_10": ranking_metrics(ours, right, FIRST).recall,
            "ndcg_at_10": ranking_metrics(ours, right, FIRST).ndcg,
            "kept": sum(len({*a} & {*b}) for a, b in zip(ours, exact, strict=True))
            / (FIRST * len(exact)),
        }
        for width, ours in {**found, "all": exact}.items()
    ]


def main() -> None:
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--users", type=int, default=500)
    parser.add_argument("--name", default="exact_ranking", help="of the file of results")
    given = parser.parse_args()
    found = [row for run in given.runs for row in rows(run, given.file, given.users)]
    report(given.name, found)


if __name__ == "__main__":
    main()
