"""How often the certificates hold, and how loose they are: 512 runs of each strategy.

    python benchmarks/coverage.py

The populations of `small_population.py` are small enough to know the expected loss of every
iterate exactly. Each run learns from 128 independent examples and is certified twice: for its
loss, with a u that follows from the radius of the weights, and for min(loss, u) with a small u.

- coverage: the share of runs whose bound is at least the truth; it must be 1 - delta or more,
  and the script fails if it is not
- slack: how far the bound is above the truth, as a share of u
- vacuous: the share of runs whose bound is not below u
- without gap, without deviation: coverage if that part of the bound were left out

Rows with reading "text" take Theorem 4 by its words, alpha-hat as the frequency of at least one
cost increase. That is wrong, and they show it where increases are frequent. Takes several minutes
of one core; writes `results/coverage.json` and `results/coverage.svg`.
"""

import argparse
from dataclasses import replace
from typing import Any

import torch
from measure import RESULTS, report
from small_population import POPULATIONS, Runs, largest_loss, learn

from beamlearn.strategies import Continue, Interpolate, Reset, Stop, cutoff, exponential

STRATEGIES = {
    "continue": Continue(),
    "stop": Stop(),
    "reset": Reset(),
    "interpolate": Interpolate(exponential(0.5, 0.95)),
    "cut-off": Interpolate(cutoff(32)),
}
DELTAS = (0.5, 0.1, 0.01)
WIDTHS = (1, 2)
SMALL = {1: 8.0, 2: 16.0}
"""The u of the clipped loss, by width."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=128)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for population, probabilities in POPULATIONS.items():
        for width in WIDTHS:
            for name, strategy in STRATEGIES.items():
                runs = learn(
                    strategy,
                    rounds=asked.rounds,
                    runs=asked.runs,
                    width=width,
                    probabilities=probabilities,
                )
                where = {"population": population, "width": width, "strategy": name}
                rows += [{**where, **row} for row in measured(runs, width)]
                print(*where.values(), flush=True)
    report("coverage", rows, runs=asked.runs, rounds=asked.rounds)
    draw(rows)
    failed = [
        row for row in rows if row["reading"] == "proof" and row["coverage"] < 1 - row["delta"]
    ]
    if failed:
        raise SystemExit(f"{len(failed)} bounds hold less often than they say: {failed}")


def measured(runs: Runs, width: int) -> list[dict[str, Any]]:
    """A row for each u and delta, and for each way to read Theorem 4."""
    given = [(SMALL[width], True), (largest_loss(width), False)]
    rows = [{"reading": "proof", **row(runs, *u, delta)} for u in given for delta in DELTAS]
    if isinstance(runs.strategy, Stop | Reset):
        misread = replace(runs, on_policy=~runs.on_policy)
        rows += [{"reading": "text", **row(misread, *given[0], delta)} for delta in DELTAS]
    return rows


def row(runs: Runs, upper: float, clip: bool, delta: float) -> dict[str, Any]:
    """What the certificates of all runs say, beside what is true."""
    proofs = runs.certificates(upper, delta, clip=clip)
    parts = {
        name: torch.tensor([proof.parts[name] for proof in proofs], dtype=torch.float64)
        for name in proofs[0].parts
    }
    bound, truth = torch.stack([*parts.values()]).sum(dim=0), runs.truth(upper)

    def share(holds: torch.Tensor) -> float:
        return round(float(holds.double().mean()), 4)

    return {
        "statement": proofs[0].statement,
        "u": round(upper, 1),
        "clip": clip,
        "delta": delta,
        "coverage": share(bound >= truth),
        "slack": round(float((bound - truth).mean()) / upper, 4),
        "vacuous": share(bound >= upper),
        "without_gap": share(bound - parts["roll_in_gap"] >= truth),
        "without_deviation": share(bound - parts["deviation"] >= truth),
        "truth": round(float(truth.mean()), 4),
        **{name: round(float(part.mean()), 4) for name, part in parts.items()},
    }


COLORS = {"empirical_loss": "#0072b2", "roll_in_gap": "#e69f00", "deviation": "#cccccc"}
LABELS = {
    "empirical_loss": "mean of the losses seen",
    "roll_in_gap": "roll-in gap",
    "deviation": "deviation",
}


def draw(rows: list[dict[str, Any]], delta: float = 0.1) -> None:
    """What the bounds on the clipped loss are the sum of, beside the truth."""
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(
        len(WIDTHS), len(POPULATIONS), figsize=(10, 6), sharey=True, layout="constrained"
    )
    for line, width in zip(grid, WIDTHS, strict=True):
        for axes, population in zip(line, POPULATIONS, strict=True):
            shown = [
                row
                for row in rows
                if (row["population"], row["width"]) == (population, width)
                and (row["clip"], row["delta"]) == (True, delta)
            ]
            names = [
                row["strategy"] + "\nas the text has it" * (row["reading"] == "text")
                for row in shown
            ]
            left = [0.0] * len(shown)
            for part, color in COLORS.items():
                sizes = [row[part] for row in shown]
                axes.barh(names, sizes, left=left, color=color, label=LABELS[part])
                left = [a + b for a, b in zip(left, sizes, strict=True)]
            axes.plot([row["truth"] for row in shown], names, "kD", label="truth")
            for place, row in enumerate(shown):
                end = max(left[place], row["truth"]) + SMALL[width] / 20
                axes.text(end, place, f"{row['coverage']:.0%}", va="center", size=8)
            axes.axvline(SMALL[width], color="k", linestyle=":", linewidth=1, label="u")
            axes.set(title=f"{population}, width {width}", xlim=(0, 2 * SMALL[width]))
            axes.tick_params(labelsize=8)
    grid[0, 0].invert_yaxis()
    figure.supxlabel(f"bound on E min(loss, u), delta = {delta}; in per cent, how often it holds")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize=8)
    figure.savefig(RESULTS / "coverage.svg")


if __name__ == "__main__":
    main()
