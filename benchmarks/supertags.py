"""Does training with the beam pay? Dependency supertags of a stream of English words.

One network, one budget: 6,000 sentences of UD English-EWT, four epochs. It sees the current word
and its own tags so far. Only the strategy, the loss and the width of training differ.

    python benchmarks/supertags.py DATA [--out runs/supertags] [--only main]

DATA is a folder with `train.conllu.gz` and `dev.conllu.gz` of the treebank. Interrupt it at any
time; called again, it goes on. One process per core; each entry takes a few minutes.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

from rich.console import Console
from rich.table import Table

from beamlearn.compare import Entry, compare
from beamlearn.settings import Learning
from beamlearn.tasks.tagging.experiment import Experiment
from beamlearn.tasks.tagging.sentences import DataSettings
from beamlearn.tasks.tagging.settings import TaggerSettings

STRATEGIES = ("oracle", "stop", "reset", "continue", "interpolate")
LOSSES = ("log_loss_neighbors", "log_loss_beam", "upper_bound", "cost_sensitive_margin_last")
SEEDS = (0, 1, 2)
TAGGER = TaggerSettings(context="streaming", history_size=256, dropout=0.0)
BUDGET = {"epochs": 4, "learning_rate": 4e-3, "patience": None}


def entries(data: Path) -> Iterator[Entry]:
    """The main rows first, three seeds each; then the grid."""
    for seed in SEEDS:
        yield entry(data, "likelihood", seed, algorithm="log_likelihood")
        yield entry(data, "continue-log_loss_neighbors-8", seed)
    for width in (1, 2, 4):
        yield entry(data, f"continue-log_loss_neighbors-{width}", 0, width=str(width))
    for strategy in STRATEGIES:
        for loss in LOSSES:
            if (strategy, loss) == ("continue", "log_loss_neighbors"):
                continue
            beta = "0.5" if strategy == "interpolate" else None
            name = f"{strategy}-{loss}-8"
            yield entry(data, name, 0, strategy=strategy, loss=loss, beta=beta, width="8")


def entry(data: Path, name: str, seed: int, **choices: Any) -> Entry:
    """One training; it is tested greedily and with beams of 4 and 8."""
    experiment = Experiment(
        data=DataSettings(
            train=str(data / "train.conllu.gz"),
            dev=str(data / "dev.conllu.gz"),
            column="supertag",
            limit=6000,
        ),
        tagger=TAGGER,
        learning=Learning.model_validate({**BUDGET, "seed": seed, **choices}),
    )
    return Entry(f"{name}-seed{seed}", experiment, (1, 4, 8), str(data / "dev.conllu.gz"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/supertags"))
    parser.add_argument("--only", default="", help="entries whose name begins so")
    arguments = parser.parse_args()
    console = Console()
    chosen = [e for e in entries(arguments.data.resolve()) if e.name.startswith(arguments.only)]
    found: dict[str, list[dict[str, Any]]] = {}
    for done, results in compare(chosen, arguments.out):
        found[done.name] = results
        accuracy = " ".join(f"{r['width']}:{r['accuracy']:.2%}" for r in results)
        console.print(f"{len(found)}/{len(chosen)} {done.name}  {accuracy}")
    ordered = {e.name: found[e.name] for e in chosen}
    path = Path(__file__).parent / "results" / "supertags.json"
    path.write_text(json.dumps({"entries": ordered}, indent=1) + "\n", encoding="utf-8")
    console.print(table(ordered))


def table(found: dict[str, list[dict[str, Any]]]) -> Table:
    """Accuracy by test width; the mean over seeds where there are several."""
    rows: dict[str, list[list[dict[str, Any]]]] = defaultdict(list)
    for name, results in found.items():
        rows[name.rsplit("-seed", 1)[0]].append(results)
    shown = Table("trained", "greedy", "beam 4", "beam 8", "increases / sentence", "search errors")
    for name, seeds in rows.items():
        cells = []
        for place in range(3):
            values = [100 * results[place]["accuracy"] for results in seeds]
            spread = f" ± {pstdev(values):.2f}" if len(values) > 1 else ""
            cells.append(f"{mean(values):.2f}{spread}")
        last = [results[-1] for results in seeds]
        increases = mean(r["increases_per_example"] for r in last)
        search = mean(r["search_error_rate"] for r in last)
        shown.add_row(name, *cells, f"{increases:.2f}", f"{search:.1%}")
    return shown


if __name__ == "__main__":
    main()
