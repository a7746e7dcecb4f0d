"""Fit the rule of `beamlearn diagnose`, and check it: does it predict what training gains?

A row is a model that was trained without a beam, what a beam in testing alone removes of its
avoidable cost (`Signs.beam`), and what training with the beam removed of the rest (measured: 1 -
cost trained with the beam / cost trained without, both decoded with the beam). The rule is fitted
to older results in this folder and to the comparisons in docs/, all of them trained with the beam
alone. It is tested on `defaults` and `lookahead`, which chose none of its numbers, and where the
beam's training is the default, `joint`. More rows to fit to can be given in a file with one JSON
object a line, with the output of `beamlearn diagnose RUN FILE --json` and what was measured:

    {"name": "pos", "diagnosis": {...}, "measured": 0.12}

    python benchmarks/expected_gain.py [ROWS]
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from statistics import correlation, mean
from typing import Any

from defaults import ROWS, kept_trainings

from beamlearn.evaluation.gain import BLIND, SIGHTED, Signs, expected_reduction
from beamlearn.evaluation.verdict import LITTLE

RESULTS = Path(__file__).parent / "results"
PAIRS = (
    ("supertags", "likelihood", "continue-log_loss_neighbors-8", False),
    ("ner", "ner-wnut17-log_likelihood-free", "ner-wnut17-continue-free", True),
    ("ner", "ner-wnut17-log_likelihood-constrained", "ner-wnut17-continue-constrained", True),
    ("ner", "ner-uner-danish-ddt-log_likelihood-free", "ner-uner-danish-ddt-continue-free", True),
    (
        "ner",
        "ner-uner-danish-ddt-log_likelihood-constrained",
        "ner-uner-danish-ddt-continue-constrained",
        True,
    ),
    ("g2p", "further-dut-likelihood", "further-dut-continue-log_loss_beam", True),
    ("g2p", "further-hun-likelihood", "further-hun-continue-log_loss_beam", True),
    ("g2p", "further-eng_us-likelihood", "further-eng_us-continue-log_loss_beam", True),
    ("g2p", "small-further-likelihood", "small-further-continue-log_loss_beam", True),
    (
        "g2p",
        "small-english-further-likelihood",
        "small-english-further-continue-log_loss_beam",
        True,
    ),
    ("parsing", "further-likelihood", "further-continue-log_loss_beam", True),
    ("parsing", "further-upos-likelihood", "further-upos-continue-log_loss_beam", True),
    ("translation", "further-likelihood", "further-continue-log_loss_beam-edit", True),
)
"""Results, the entries without and with the beam in training, and whether all input is seen.

Not among them: parsing_subset, where training with the beam from random weights did not come far
in its few epochs (LAS 56.1 against 69.2), which says nothing about the beam."""


@dataclass(frozen=True)
class Row:
    """A model, and what training with the beam removed of its avoidable cost."""

    name: str
    sees_all: bool
    beam: float
    measured: float

    def expected(self, slope: float) -> float:
        """What the rule with this slope expects."""
        return min(1.0, slope * max(0.0, self.beam))


DOCUMENTED = (
    Row("docs/comparisons/ewt_supertags.md", False, 1 - 36.00 / 38.51, 1 - 32.05 / 36.00),
    Row("docs/comparisons/hkcancor.md", False, 1 - 25.94 / 27.23, 1 - 23.87 / 25.94),
)
"""Of likelihood and of continue, both with width 8: wrong tags, and 1 - F1 of spans."""


def entries_of(file: str) -> dict[str, list[dict[str, Any]]]:
    """The results of a benchmark by the names of its trainings; none if it was not run."""
    path = RESULTS / f"{file}.json"
    if not path.exists():
        return {}
    found: dict[str, list[dict[str, Any]]] = json.loads(path.read_text("utf-8"))["entries"]
    return found


def costs(entries: Mapping[str, Sequence[Mapping[str, Any]]], entry: str) -> dict[int, float]:
    """The avoidable cost at each width in testing, the mean over seeds."""
    found: dict[int, list[float]] = {}
    for seed in range(10):
        for row in entries.get(f"{entry}-seed{seed}", []):
            found.setdefault(row["width"], []).append(row["cost"] - row.get("optimum", 0.0))
    return {width: mean(each) for width, each in found.items()}


def measured_row(
    name: str, sees_all: bool, before: Mapping[int, float], after: Mapping[int, float]
) -> Row:
    """A row from the avoidable costs of two trainings."""
    width = max(before)
    return Row(name, sees_all, 1 - before[width] / before[1], 1 - after[width] / before[width])


def known_rows() -> list[Row]:
    """The rows that were measured here."""
    rows = []
    for file, without, trained, sees_all in PAIRS:
        entries = entries_of(file)
        before, after = costs(entries, without), costs(entries, trained)
        rows.append(measured_row(f"{file}: {without}", sees_all, before, after))
    return [*rows, *DOCUMENTED]


def fresh_rows() -> list[Row]:
    """The rows that the rule was not fitted to; each is the mean of the seeds that both have."""
    rows = []
    for name, row in ROWS.items():
        kept = {training: found["results"] for training, found in kept_trainings(name).items()}
        pairs = [
            seed
            for seed in range(10)
            if {f"likelihood-seed{seed}", f"joint-seed{seed}"} <= kept.keys()
        ]
        if pairs:
            both = [
                costs({f"{way}-seed{seed}": kept[f"{way}-seed{seed}"] for seed in pairs}, way)
                for way in ("likelihood", "joint")
            ]
            rows.append(measured_row(f"defaults: {name}", row.model.sees_all, *both))
    entries = entries_of("lookahead")
    for place in dict.fromkeys("-".join(name.split("-")[:2]) for name in entries):
        both = [costs(entries, f"{place}-{way}") for way in ("likelihood", "default")]
        if all(both):
            rows.append(measured_row(f"lookahead: {place}", place.endswith("-all"), *both))
    return rows


def row_of(record: dict[str, Any]) -> Row:
    """A row of a file."""
    signs = Signs(**record["diagnosis"]["verdict"]["signs"])
    return Row(record["name"], signs.sees_all, signs.beam, float(record["measured"]))


def slope(rows: Sequence[Row]) -> float:
    """Least squares through 0, not below 0:  measured ~ slope * max(0, beam)."""
    places = [(max(0.0, row.beam), row.measured) for row in rows]
    total = sum(x * x for x, _ in places)
    return max(0.0, sum(x * y for x, y in places) / total) if total else 0.0


def off(pairs: Sequence[tuple[float, float]]) -> float:
    """The root of the mean squared difference."""
    return sqrt(mean((one - other) ** 2 for one, other in pairs))


def left_out(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """What was measured, and what the rule expects that was fitted to the others of its kind."""
    found = []
    for row in rows:
        others = [one for one in rows if one is not row and one.sees_all == row.sees_all]
        found.append((row.measured, row.expected(slope(others))))
    return found


def show(rows: Sequence[Row]) -> None:
    """Print what is expected of each row, and what was measured."""
    print(f"{'':60s} {'sees':>5s} {'beam':>6s} {'expected':>8s} {'measured':>8s}")
    for row in rows:
        print(
            f"{row.name[:60]:60s} {'all' if row.sees_all else 'some':>5s} {100 * row.beam:6.1f} "
            f"{100 * expected(row):8.1f} {100 * row.measured:8.1f}"
        )


def expected(row: Row) -> float:
    """What `beamlearn diagnose` expects."""
    return expected_reduction(Signs(row.beam, 0.0, 0.0, row.sees_all))


def quality(pairs: Sequence[tuple[float, float]]) -> dict[str, float]:
    """How near what was expected is to what was measured."""
    return {
        "rows": len(pairs),
        "error": off(pairs),
        "error_without_rule": off([(measured, 0.0) for measured, _ in pairs]),
        "correlation": correlation(*zip(*pairs, strict=True)),
        "agreed": sum((a >= LITTLE) == (b >= LITTLE) for a, b in pairs),
    }


def told(about: str, found: Mapping[str, float]) -> None:
    """Print one line on a set of rows."""
    print(
        f"{about}: off by {100 * found['error']:.1f} points, without the rule by "
        f"{100 * found['error_without_rule']:.1f}; correlation {found['correlation']:.2f}; agreed "
        f"on whether it pays (at least {LITTLE:.0%}) in {found['agreed']} of {found['rows']} rows"
    )


def main() -> None:
    rows = known_rows()
    if len(sys.argv) > 1:
        lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
        rows += [row_of(json.loads(line)) for line in lines if line.strip()]
    fresh = fresh_rows()
    show([*rows, *fresh])
    left = quality(left_out(rows))
    result: dict[str, Any] = {
        "rows": [asdict(row) for row in rows],
        "fresh": [asdict(row) | {"expected": expected(row)} for row in fresh],
        "blind": slope([row for row in rows if not row.sees_all]),
        "sighted": slope([row for row in rows if row.sees_all]),
        "left_out": left,
    }
    print(f"slopes of this fit: {result['blind']:.2f} and {result['sighted']:.2f}")
    print(f"slopes in beamlearn.evaluation.gain: {BLIND} and {SIGHTED}")
    told("Each row left out of the fit in turn", left)
    if len({expected(row) for row in fresh}) > 1:  # or there is no correlation
        result["tested"] = quality([(row.measured, expected(row)) for row in fresh])
        told("Rows that the rule was not fitted to", result["tested"])
    path = RESULTS / "expected_gain.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
