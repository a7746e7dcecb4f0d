"""Does training with the beam pay? Dependency supertags of a stream of English words.

One network, one budget: 6,000 sentences of UD English-EWT, four epochs. It sees the current word
and its own tags so far. Only the strategy, the loss and the width of training differ.

    python benchmarks/supertags.py DATA [--out runs/supertags] [--only main]

DATA is a folder with `train.conllu.gz` and `dev.conllu.gz` of the treebank. Interrupt it at any
time; called again, it goes on. One process per core; each entry takes a few minutes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grid import run_grid

from beamlearn.comparison.runner import Entry
from beamlearn.tasks.tagging.settings import TaggerSettings, TaggingExperiment, TaggingFiles
from beamlearn.training.settings import Learning

STRATEGIES = ("oracle", "stop", "reset", "continue", "interpolate")
LOSSES = ("log_loss_neighbors", "log_loss_beam", "upper_bound", "cost_sensitive_margin_last")
SEEDS = (0, 1, 2)
TAGGER = TaggerSettings(
    context="streaming", history_size=256, word_size=64, affix_size=64, dropout=0.0
)
BUDGET = {"epochs": 4, "learning_rate": 4e-3, "patience": None}

COLUMNS = {
    "greedy": (0, "accuracy"),
    "beam 4": (1, "accuracy"),
    "beam 8": (2, "accuracy"),
    "cost increases": (2, "increases_per_example"),
    "search errors": (2, "search_error_rate"),
    "calibration error": (2, "calibration_error"),
}


def entries(data: Path, _: Path) -> Iterator[Entry]:
    """The main rows first, three seeds each; then the grid."""
    for seed in SEEDS:
        yield entry(data, "likelihood", seed, algorithm="log_likelihood")
        yield entry(data, "continue-log_loss_neighbors-8", seed, algorithm="continue")
    for width in (1, 2, 4):
        name = f"continue-log_loss_neighbors-{width}"
        yield entry(data, name, 0, algorithm="continue", width=str(width))
    for strategy in STRATEGIES:
        for loss in LOSSES:
            if (strategy, loss) == ("continue", "log_loss_neighbors"):
                continue
            beta = "0.5" if strategy == "interpolate" else None
            name = f"{strategy}-{loss}-8"
            yield entry(data, name, 0, strategy=strategy, loss=loss, beta=beta, width="8")


def entry(data: Path, name: str, seed: int, **choices: Any) -> Entry:
    """One training; it is tested greedily and with beams of 4 and 8."""
    experiment = TaggingExperiment(
        data=TaggingFiles(
            train=str(data / "train.conllu.gz"),
            dev=str(data / "dev.conllu.gz"),
            column="supertag",
            limit=6000,
        ),
        tagger=TAGGER,
        learning=Learning.model_validate({**BUDGET, "seed": seed, **choices}),
    )
    return Entry(f"{name}-seed{seed}", experiment, (1, 4, 8), str(data / "dev.conllu.gz"))


if __name__ == "__main__":
    run_grid("supertags", __doc__, entries, COLUMNS)
