"""Does training with the beam pay? Dependency trees of English, from gold words.

    python benchmarks/parsing.py DATA [--out runs/parsing] [--only all]

DATA is a folder with `train.conllu.gz` and `dev.conllu.gz` of UD English-EWT. One network. For
each seed it is first trained by maximum likelihood (`all`); from these weights, with a further
budget that is the same for each, by the rows of Table 1 and by losses of choice (`further`). Rows
called `raw` sum the numbers of actions as they are, the others their log-probabilities, as the
parser that they begin with; `upos` rows see the gold parts of speech, too. Interrupt it at any
time; called again, it goes on. Rows that begin with the weights of others wait for these: run
`--only all` first.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grid import run_grid

from beamlearn.comparison.runner import Entry
from beamlearn.tasks.parsing.settings import ParserSettings, ParsingExperiment
from beamlearn.tasks.settings import TextFiles
from beamlearn.training.settings import Learning

ROWS: dict[str, dict[str, Any]] = {
    "likelihood": {"algorithm": "log_likelihood"},
    "dagger": {"algorithm": "dagger"},
    "early_update": {"algorithm": "early_update"},
    "globally_normalized": {"algorithm": "globally_normalized"},
    "bso": {"algorithm": "bso"},
    "continue-log_loss_neighbors": {"loss": "log_loss_neighbors"},
    "continue-log_loss_beam": {"loss": "log_loss_beam"},
    "continue-upper_bound": {"loss": "upper_bound"},
}
SEEDS = (0, 1, 2)
ALL = {"epochs": 8, "batch_size": 32}
FURTHER = {"epochs": 2, "batch_size": 64, "learning_rate": 1.5e-3}
REPEATED = (
    "likelihood",
    "continue-log_loss_neighbors",
    "continue-log_loss_beam",
    "continue-upper_bound",
)
WIDTHS = (1, 2, 4, 8)
DEFAULT, TAGS, RAW = ParserSettings(), ParserSettings(tags="upos"), ParserSettings(normalize="none")

COLUMNS = {
    "LAS, greedy": (0, "las"),
    "beam 2": (1, "las"),
    "beam 4": (2, "las"),
    "beam 8": (3, "las"),
    "UAS": (3, "uas"),
    "cost increases": (3, "increases_per_example"),
    "search errors": (3, "search_error_rate"),
    "calibration error": (3, "calibration_error"),
}


def entries(data: Path, out: Path) -> Iterator[Entry]:
    """First the parsers that the others begin with; then these, their widths, and tags."""
    for seed in SEEDS:
        yield entry(data, f"all-likelihood-seed{seed}", ROWS["likelihood"], ALL, seed)
    yield entry(data, "all-upos-likelihood-seed0", ROWS["likelihood"], ALL, parser=TAGS)
    for seed in SEEDS:
        start = str(out / f"all-likelihood-seed{seed}")
        for name, choices in ROWS.items():
            if seed == 0 or name in REPEATED:
                yield entry(data, f"further-{name}-seed{seed}", choices, FURTHER, seed, start)
    start = str(out / "all-likelihood-seed0")
    for width in (1, 2, 4):
        choices = {**ROWS["continue-log_loss_beam"], "width": str(width)}
        yield entry(data, f"further-width-{width}-seed0", choices, FURTHER, 0, start)
    for name in ("globally_normalized", "continue-log_loss_neighbors"):
        yield entry(data, f"further-raw-{name}-seed0", ROWS[name], FURTHER, 0, start, RAW)
    start = str(out / "all-upos-likelihood-seed0")
    for name, choices in ROWS.items():
        yield entry(data, f"further-upos-{name}-seed0", choices, FURTHER, 0, start)


def entry(
    data: Path,
    name: str,
    choices: dict[str, Any],
    budget: dict[str, Any],
    seed: int = 0,
    start: str | None = None,
    parser: ParserSettings = DEFAULT,
) -> Entry:
    """One training; it is tested at all widths."""
    train, dev = (str(data / f"{part}.conllu.gz") for part in ("train", "dev"))
    experiment = ParsingExperiment(
        data=TextFiles(train=train, dev=dev),
        parser=parser,
        learning=Learning.model_validate({**budget, **choices, "seed": seed, "patience": 0}),
        warm_start=start,
    )
    return Entry(name, experiment, WIDTHS, dev)


if __name__ == "__main__":
    run_grid("parsing", __doc__, entries, COLUMNS)
