"""Named entities: span F1 with and without the constraints of the BIO scheme.

    python benchmarks/ner.py DATA [--out runs/ner]

DATA is a folder with `ner-wnut17` and `ner-uner-danish-ddt`, each with `{train,dev,test}.tsv.gz`.
Default settings, whole sentences, no pretrained vectors. Interrupt it at any time; called again, it
goes on.
"""

from pathlib import Path
from typing import Any

from grid import run_grid

from beamlearn.comparison.runner import Entry
from beamlearn.tasks.tagging.settings import TaggerSettings, TaggingExperiment, TaggingFiles
from beamlearn.training.settings import Learning

CORPORA = ("ner-wnut17", "ner-uner-danish-ddt")
ALGORITHMS = ("log_likelihood", "continue")
COLUMNS = {
    "F1, greedy": (0, "f1"),
    "F1, beam 8": (-1, "f1"),
    "precision": (-1, "precision"),
    "recall": (-1, "recall"),
    "accuracy": (-1, "accuracy"),
    "calibration error": (-1, "calibration_error"),
}


def entries(data: Path, _: Path) -> list[Entry]:
    """Two corpora, likelihood and beam, free and constrained."""
    return [
        entry(data / corpus, f"{corpus}-{algorithm}-{label}", algorithm, constrained)
        for corpus in CORPORA
        for algorithm in ALGORITHMS
        for constrained, label in ((False, "free"), (True, "constrained"))
    ]


def entry(data: Path, name: str, algorithm: str, constrained: bool) -> Entry:
    """One training; the best epoch on dev is tested on test."""
    files: dict[str, Any] = {s: str(data / f"{s}.tsv.gz") for s in ("train", "dev")}
    experiment = TaggingExperiment(
        data=TaggingFiles(**files, column="2"),
        tagger=TaggerSettings(constrained=constrained),
        learning=Learning(algorithm=algorithm, epochs=10),
    )
    return Entry(f"{name}-seed0", experiment, (1, 8), str(data / "test.tsv.gz"))


if __name__ == "__main__":
    run_grid("ner", __doc__, entries, COLUMNS)
