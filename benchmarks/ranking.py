"""Next items: likelihood against training with the beam, on two shops.

    python benchmarks/ranking.py DATA [--out runs/ranking] [--only office]

DATA is a folder with `rec-amazon-office` and `rec-amazon-beauty`, each with `inter.json.gz` and
`index.rq-kmeans.json.gz` (github.com/yuyq18/APAO). Default settings, and two ways to train with
the beam: `joint`, the default of other tasks, and `list`, the same with a beam of 20 that is to
hold the right item among its first ten. The best epoch on the last but one items is tested on the
last ones. Interrupt it at any time; called again, it goes on.
"""

from pathlib import Path
from typing import Any

from grid import run_grid

from beamlearn.comparison.runner import Entry
from beamlearn.tasks.ranking.settings import RankingExperiment, RankingFiles, RankingLearning

SHOPS = ("office", "beauty")
TRAININGS: dict[str, dict[str, Any]] = {
    "log_likelihood": {"algorithm": "log_likelihood"},
    "joint": {"algorithm": "joint"},
    "list": {"algorithm": "joint", "width": "20", "final_width": 10},
}
WIDTHS = (10, 20, 50)
COLUMNS = {
    "R@5": (1, "recall_at_5"),
    "R@10": (1, "recall_at_10"),
    "N@5": (1, "ndcg_at_5"),
    "N@10": (1, "ndcg_at_10"),
    "R@10, beam 10": (0, "recall_at_10"),
    "R@10, beam 50": (2, "recall_at_10"),
    "N@10, beam 10": (0, "ndcg_at_10"),
    "N@10, beam 50": (2, "ndcg_at_10"),
}


def entries(data: Path, _: Path) -> list[Entry]:
    """Every way to train on every shop."""
    return [
        entry(data / f"rec-amazon-{shop}", f"{shop}-{name}-seed0", choices)
        for shop in SHOPS
        for name, choices in TRAININGS.items()
    ]


def entry(data: Path, name: str, choices: dict[str, Any]) -> Entry:
    """One training."""
    users, ids = str(data / "inter.json.gz"), str(data / "index.rq-kmeans.json.gz")
    experiment = RankingExperiment(
        data=RankingFiles(train=users, ids=ids), learning=RankingLearning(**choices)
    )
    return Entry(name, experiment, WIDTHS, users)


if __name__ == "__main__":
    run_grid("ranking", __doc__, entries, COLUMNS)
