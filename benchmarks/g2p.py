"""Does training with the beam pay? Spelling to sound, in three languages.

    python benchmarks/g2p.py DATA [--out runs/g2p] [--only all]

DATA is a folder with `{dut,hun,eng_us}.{train,dev,test}.tsv.gz` of SIGMORPHON 2021. One network
for each language, which is first trained by maximum likelihood (`all`); from these weights, for as
many epochs as each other, by likelihood again, by rows of Table 1, by losses of choice and by what
people compare with (`further`; the main rows with three seeds). `small` is the same for Dutch, and
`small-english` for English, with a network of one layer and size 32 without dropout. The best epoch
is chosen on dev; the numbers are those of test, at widths 1, 4 and 8. Interrupt it at any time;
called again, it goes on. Rows that begin with the weights of others wait for these: first run with
`--only all`, `--only small-likelihood` and `--only small-english-likelihood`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grid import run_grid

from beamlearn.comparison.runner import Entry
from beamlearn.tasks.transduction.settings import (
    TransducerSettings,
    TransductionExperiment,
    TransductionFiles,
)
from beamlearn.training.settings import Learning

LANGUAGES = ("dut", "hun", "eng_us")
ROWS: dict[str, dict[str, Any]] = {
    "likelihood": {"algorithm": "log_likelihood"},
    "optimal_completion": {"algorithm": "optimal_completion"},
    "dagger": {"algorithm": "dagger"},
    "continue-log_loss_beam": {"loss": "log_loss_beam"},
    "continue-log_loss_neighbors": {"loss": "log_loss_neighbors"},
    "continue-upper_bound": {"loss": "upper_bound"},
    "continue-weighted_pairs_hybrid": {"loss": "weighted_pairs_hybrid"},
    "minimum_risk": {"algorithm": "minimum_risk"},
}
SEEDS = (0, 1, 2)
EPOCHS = {"dut": (22, 3), "hun": (22, 3), "eng_us": (10, 1)}
"""By likelihood, and further; English has four times as many words, of which further epochs
have the first 16,000."""
ALL = {"batch_size": 32, "learning_rate": 2e-3}
FURTHER = {"batch_size": 32, "learning_rate": 5e-4, "width": 4}
LOCAL = ("likelihood", "optimal_completion", "dagger")
"""What is trained at width 1."""
REPEATED = ("likelihood", "continue-log_loss_beam", "minimum_risk")
WIDTHS = (1, 4, 8)
NETWORK = TransducerSettings(target_tokens="words", layers=2, dropout=0.4)
SMALL = TransducerSettings(target_tokens="words", size=32, layers=1, dropout=0.0)
SMALL_ROWS = {"small": ("dut", 15, 5), "small-english": ("eng_us", 6, 3)}
"""The language, and the epochs by likelihood, and further."""
SMALL_FURTHER = {**FURTHER, "learning_rate": 1e-3}

COLUMNS = {
    "WER, greedy": (0, "wer"),
    "beam 4": (1, "wer"),
    "beam 8": (2, "wer"),
    "PER, beam 8": (2, "cer"),
    "not in beam": (2, "oracle_wer"),
    "cost increases": (2, "increases_per_example"),
    "search errors": (2, "search_error_rate"),
    "calibration error": (2, "calibration_error"),
}


def entries(data: Path, out: Path) -> Iterator[Entry]:
    """First the networks that the others begin with; then these, for the main rows thrice."""
    for language in LANGUAGES:
        choices = {**ALL, **ROWS["likelihood"], "epochs": EPOCHS[language][0]}
        yield entry(data, language, f"all-{language}-likelihood-seed0", choices, 0)
    for seed in SEEDS:
        for language in LANGUAGES:
            start = str(out / f"all-{language}-likelihood-seed0")
            for row, choices in ROWS.items():
                if seed > 0 and row not in REPEATED:
                    continue
                name = f"further-{language}-{row}-seed{seed}"
                chosen = {**FURTHER, **choices, "epochs": EPOCHS[language][1]}
                yield entry(data, language, name, at_width(row, chosen), seed, start)
    yield from small_entries(data, out)


def small_entries(data: Path, out: Path) -> Iterator[Entry]:
    """The same for a small network."""
    for part, (language, epochs, further) in SMALL_ROWS.items():
        first = f"{part}-likelihood-seed0"
        choices = {**ALL, **ROWS["likelihood"], "epochs": epochs}
        yield entry(data, language, first, choices, 0, net=SMALL)
        for seed in SEEDS:
            for row in REPEATED:
                chosen = at_width(row, {**SMALL_FURTHER, **ROWS[row], "epochs": further})
                name = f"{part}-further-{row}-seed{seed}"
                yield entry(data, language, name, chosen, seed, str(out / first))


def at_width(row: str, choices: dict[str, Any]) -> dict[str, Any]:
    """What is trained at width 1 is."""
    return {**choices, "width": 1} if row in LOCAL else choices


def entry(
    data: Path,
    language: str,
    name: str,
    choices: dict[str, Any],
    seed: int,
    start: str | None = None,
    *,
    net: TransducerSettings = NETWORK,
) -> Entry:
    """One training; it is tested at all widths."""
    train, dev, test = (
        str(data / f"{language}.{part}.tsv.gz") for part in ("train", "dev", "test")
    )
    part = 16_000 if start is not None and language == "eng_us" else None
    experiment = TransductionExperiment(
        data=TransductionFiles(train=train, dev=dev, limit=part),
        transducer=net if start is None else TransducerSettings(),
        learning=Learning.model_validate({**choices, "seed": seed, "patience": 0}),
        warm_start=start,
    )
    return Entry(name, experiment, WIDTHS, test)


if __name__ == "__main__":
    run_grid("g2p", __doc__, entries, COLUMNS)
