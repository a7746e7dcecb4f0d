"""What helps a translation model that likelihood has trained? English captions to German.

    python benchmarks/translation.py DATA [--out runs/translation] [--only all]

DATA is a folder with `{train,val,test2016}.tok.tsv.gz` of Multi30k. A small transformer over 8,000
joint subwords (trained here, with sentencepiece) is first trained by maximum likelihood (`all`);
from these weights, three times (seeds) and for about as long as each other, by likelihood, by the
expected cost of the final beam, and by its beam of 4 with exact edit costs and with BLEU by the
best reference suffix (`further`). Scores are divided by the length in search and in training. The
numbers are those of test2016. Interrupt it at any time; called again, it goes on. Rows that begin
with the weights of others wait for these: run `--only all` first.
"""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sentencepiece
from grid import run_grid

from beamlearn.comparison.runner import Entry
from beamlearn.tasks.transduction.settings import (
    TransducerSettings,
    TransductionExperiment,
    TransductionFiles,
)
from beamlearn.training.settings import Learning

BEAM = {"width": "4", "learning_rate": 1e-5, "epochs": 1}
CONTINUE = {"loss": "log_loss_beam", "best": "best_scored", **BEAM}
ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "likelihood": ({"algorithm": "log_likelihood", "epochs": 2, "learning_rate": 1e-4}, {}),
    "minimum_risk-bleu": ({"algorithm": "minimum_risk", **BEAM}, {"cost": "bleu"}),
    "continue-log_loss_beam-edit": (CONTINUE, {}),
    "continue-log_loss_beam-bleu": (CONTINUE, {"cost": "bleu"}),
}
"""How each continuation learns, and what it counts as a cost."""
WITH_BEAM = 10_000
"""How many pairs the rows with a beam see: as long as two epochs of likelihood take."""
SEEDS = (0, 1, 2)
ALL = {"algorithm": "log_likelihood", "epochs": 12, "learning_rate": 1.5e-3}
WIDTHS = (1, 4)
COLUMNS = {
    "BLEU, greedy": (0, "bleu"),
    "BLEU, beam 4": (1, "bleu"),
    "chrF": (1, "chrf"),
    "cost increases": (1, "increases_per_example"),
}


def entries(data: Path, out: Path) -> Iterator[Entry]:
    """First the model that the others begin with; then these."""
    model = subwords(data / "train.tok.tsv.gz", out)
    network = {
        "model": "transformer",
        "size": 128,
        "layers": 2,
        "feedforward": 512,
        "dropout": 0.1,
        "length_power": 1.0,
        "source_tokens": model,
        "target_tokens": model,
    }
    yield entry(data, "all-likelihood-seed0", ALL, network, 0)
    start = str(out / "all-likelihood-seed0")
    for seed in SEEDS:
        for row, (choices, cost) in ROWS.items():
            limit = WITH_BEAM if "width" in choices else None
            name = f"further-{row}-seed{seed}"
            yield entry(data, name, choices, cost, seed, start=start, limit=limit)


def subwords(train: Path, out: Path) -> str:
    """The model that cuts both languages, trained once."""
    path = out / "subwords.model"
    if not path.exists():
        out.mkdir(parents=True, exist_ok=True)
        with gzip.open(train, "rt", encoding="utf-8") as lines:
            text = [side for line in lines for side in line.rstrip("\n").split("\t")]
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text),
            model_prefix=str(path.with_suffix("")),
            vocab_size=8000,
            model_type="bpe",
            character_coverage=1.0,
            normalization_rule_name="identity",
        )
    return str(path)


def entry(
    data: Path,
    name: str,
    choices: dict[str, Any],
    transducer: dict[str, Any],
    seed: int,
    *,
    start: str | None = None,
    limit: int | None = None,
) -> Entry:
    """One training; it is tested at both widths."""
    train, dev, test = (str(data / f"{part}.tok.tsv.gz") for part in ("train", "val", "test2016"))
    learning = {**choices, "batch_size": 64, "seed": seed, "patience": 0}
    experiment = TransductionExperiment(
        data=TransductionFiles(train=train, dev=dev, limit=limit),
        transducer=TransducerSettings.model_validate(transducer),
        learning=Learning.model_validate(learning),
        warm_start=start,
    )
    return Entry(name, experiment, WIDTHS, test)


if __name__ == "__main__":
    run_grid("translation", __doc__, entries, COLUMNS)
