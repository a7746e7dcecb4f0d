"""Fit the rule of `beamlearn diagnose`, and check it: does it predict what training gains?

A row is a model that was trained without a beam, what a beam in testing alone removes of its
avoidable cost (`Signs.beam`), and what training with the beam removed of the rest (measured: 1 -
cost trained with the beam / cost trained without, both decoded with the beam). Rows come from the
other results in this folder and from the comparisons in docs/; more can be given in a file with one
JSON object a line, with the output of `beamlearn diagnose RUN FILE --json` and what was measured:

    {"name": "pos", "diagnosis": {...}, "measured": 0.12}

    python benchmarks/expected_gain.py [ROWS]
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from statistics import mean
from typing import Any

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


def costs(file: str, entry: str) -> dict[int, float]:
    """The avoidable cost at each width in testing, the mean over seeds."""
    entries = json.loads((RESULTS / f"{file}.json").read_text(encoding="utf-8"))["entries"]
    found: dict[int, list[float]] = {}
    for seed in range(10):
        for row in entries.get(f"{entry}-seed{seed}", []):
            found.setdefault(row["width"], []).append(row["cost"] - row.get("optimum", 0.0))
    return {width: mean(each) for width, each in found.items()}


def known_rows() -> list[Row]:
    """The rows that were measured here."""
    rows = []
    for file, without, trained, sees_all in PAIRS:
        before, after = costs(file, without), costs(file, trained)
        width = max(before)
        beam, measured = 1 - before[width] / before[1], 1 - after[width] / before[width]
        rows.append(Row(f"{file}: {without}", sees_all, beam, measured))
    return [*rows, *DOCUMENTED]


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


def main() -> None:
    rows = known_rows()
    if len(sys.argv) > 1:
        lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
        rows += [row_of(json.loads(line)) for line in lines if line.strip()]
    print(f"{'':60s} {'sees':>5s} {'beam':>6s} {'expected':>8s} {'measured':>8s}")
    for row in rows:
        expected = expected_reduction(Signs(row.beam, 0.0, 0.0, row.sees_all))
        print(
            f"{row.name[:60]:60s} {'all' if row.sees_all else 'some':>5s} {100 * row.beam:6.1f} "
            f"{100 * expected:8.1f} {100 * row.measured:8.1f}"
        )
    checked = left_out(rows)
    agreed = [(a >= LITTLE) == (b >= LITTLE) for a, b in checked]
    result = {
        "rows": [asdict(row) for row in rows],
        "blind": slope([row for row in rows if not row.sees_all]),
        "sighted": slope([row for row in rows if row.sees_all]),
        "left_out_error": off(checked),
        "error_without_rule": off([(row.measured, 0.0) for row in rows]),
        "agreed": mean(agreed),
    }
    print(f"slopes of this fit: {result['blind']:.2f} and {result['sighted']:.2f}")
    print(f"slopes in beamlearn.evaluation.gain: {BLIND} and {SIGHTED}")
    print(
        f"off by {100 * off(checked):.1f} points, each row left out of the fit in turn; without "
        f"the rule by {100 * off([(row.measured, 0.0) for row in rows]):.1f}"
    )
    print(f"agreed on whether it pays (at least {LITTLE:.0%}) in {sum(agreed)} of {len(rows)} rows")
    path = RESULTS / "expected_gain.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
