"""Strategies and losses for parsing from scratch, on few sentences, with and without tags.

    python benchmarks/parsing_subset.py DATA [--out runs/parsing_subset]

DATA is a folder with `train.conllu.gz` and `dev.conllu.gz` of UD English-EWT, of which the first
3,000 sentences are learned from, three times. One network and one budget for all rows of Table 1
and for losses of choice; `upos` rows see the gold parts of speech, too. Interrupt it at any time;
called again, it goes on.
"""

from collections.abc import Iterator
from pathlib import Path

from grid import run_grid
from parsing import ROWS

from beamlearn.comparison.runner import Entry
from beamlearn.tasks.parsing.settings import ParserSettings, ParsingExperiment
from beamlearn.tasks.settings import TextFiles
from beamlearn.training.settings import Learning

BUDGET = {"epochs": 3, "batch_size": 32, "learning_rate": 4e-3, "patience": 0}
PARSERS = {"none": ParserSettings(), "upos": ParserSettings(tags="upos")}
COLUMNS = {
    "LAS, greedy": (0, "las"),
    "LAS, beam 8": (1, "las"),
    "UAS, beam 8": (1, "uas"),
    "cost increases": (1, "increases_per_example"),
    "search errors": (1, "search_error_rate"),
    "calibration error": (1, "calibration_error"),
}


def entries(data: Path, _: Path) -> Iterator[Entry]:
    """All rows without tags, then all with them."""
    train, dev = (str(data / f"{part}.conllu.gz") for part in ("train", "dev"))
    files = TextFiles(train=train, dev=dev, limit=3000)
    for tags, parser in PARSERS.items():
        for name, choices in ROWS.items():
            learning = Learning.model_validate({**BUDGET, **choices})
            experiment = ParsingExperiment(data=files, parser=parser, learning=learning)
            yield Entry(f"{tags}-{name}-seed0", experiment, (1, 8), dev)


if __name__ == "__main__":
    run_grid("parsing_subset", __doc__, entries, COLUMNS)
