"""Where does training with the beam pay? The gain against the number of words to come.

    python benchmarks/lookahead.py DATA... [--out runs/lookahead] [--only supertag] [--seeds 3]
    python benchmarks/lookahead.py --draw

Each DATA is a folder: one with `train.conllu.gz` and `dev.conllu.gz` of UD English-EWT, for
supertags, parts of speech and trees; or one with the `train.tsv` and `dev.tsv` that `beamlearn
demo --out FOLDER` writes, for words in conversations. The same network and budget, by likelihood
and with the default, for lookaheads of 0, 1, 2, 4 and all words. Interrupt it at any time; called
again, it goes on. Each entry takes minutes. It writes
`results/lookahead.json`, from which `--draw` makes `docs/lookahead.svg`. With `--limit N`, for a
try, it learns from N sentences, and leaves the results in the folder of the runs.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from grid import Results, cell
from measure import RESULTS
from rich.console import Console
from rich.table import Table

from beamlearn.comparison.runner import Entry, compare
from beamlearn.tasks.parsing.settings import ParserSettings, ParsingExperiment
from beamlearn.tasks.settings import Experiment, TextFiles
from beamlearn.tasks.tagging.settings import TaggerSettings, TaggingExperiment, TaggingFiles
from beamlearn.training.settings import Learning

Ahead = int | Literal["all"]
LOOKAHEADS: tuple[Ahead, ...] = (0, 1, 2, 4, "all")
ALGORITHMS: dict[str, dict[str, Any]] = {
    "likelihood": {"algorithm": "log_likelihood"},
    "default": {},
}
WIDTHS = (1, 8)
TREEBANK = {"supertag": 6000, "upos": 6000, "parse": 2000}
"""The tasks of a treebank, and how many sentences they learn from."""
CONVERSATIONS = "conversations"
METRICS = ("las", "accuracy")
BUDGET = {"epochs": 4, "learning_rate": 4e-3, "patience": None}
WORDS = {"word_size": 64, "affix_size": 64}
FIGURE = Path(__file__).parent.parent / "docs" / "lookahead.svg"


def entries(folders: Sequence[Path], limit: int | None, seeds: int) -> Iterator[Entry]:
    """All lookaheads of a task, seed by seed, each with all algorithms."""
    for folder in folders:
        treebank = (folder / "train.conllu.gz").exists()
        suffix = "conllu.gz" if treebank else "tsv"
        train, dev = (str(folder / f"{part}.{suffix}") for part in ("train", "dev"))
        for task in TREEBANK if treebank else (CONVERSATIONS,):
            for seed in range(seeds):
                for ahead in LOOKAHEADS:
                    for name, choices in ALGORITHMS.items():
                        experiment = experiment_of(task, train, dev, ahead, limit)
                        learning = Learning.model_validate({**BUDGET, "seed": seed, **choices})
                        experiment = experiment.model_copy(update={"learning": learning})
                        yield Entry(f"{task}-{ahead}-{name}-seed{seed}", experiment, WIDTHS, dev)


def experiment_of(task: str, train: str, dev: str, ahead: Ahead, limit: int | None) -> Experiment:
    """A training with one lookahead; how it learns is left open."""
    most = TREEBANK.get(task, 6000) if limit is None else limit
    if task == "parse":
        parser = ParserSettings.model_validate({**WORDS, "lookahead": ahead})
        return ParsingExperiment(data=TextFiles(train=train, dev=dev, limit=most), parser=parser)
    column = "2" if task == CONVERSATIONS else task
    network = {**WORDS, "history_size": 256, "lookahead": ahead, "dropout": 0.0}
    if task == CONVERSATIONS:
        network["affix_length"] = 0  # single characters have none
    return TaggingExperiment(
        data=TaggingFiles(train=train, dev=dev, column=column, limit=most),
        tagger=TaggerSettings.model_validate(network),
    )


def measure_of(found: Mapping[str, Any]) -> float:
    """What a task is judged by."""
    return next(float(found[name]) for name in METRICS if name in found)


def rows_of(found: Mapping[str, Results]) -> dict[tuple[str, str], dict[str, list[list[float]]]]:
    """By task and lookahead, of each algorithm the results at each width, seed by seed."""
    rows: dict[tuple[str, str], dict[str, list[list[float]]]] = defaultdict(
        lambda: {name: [] for name in ALGORITHMS}
    )
    for entry, results in found.items():
        task, ahead, name, _ = entry.split("-")
        rows[task, ahead][name].append([measure_of(one) for one in results])
    return rows


def table(found: Mapping[str, Results]) -> Table:
    """One row for each lookahead: greedy and with the beam, and what training with it gains."""
    shown = Table("task", "lookahead", *(f"{n}, width {w}" for n in ALGORITHMS for w in WIDTHS))
    shown.add_column("gain")
    for (task, ahead), algorithms in rows_of(found).items():
        cells = [
            cell("", [results[place] for results in seeds]) if seeds else ""
            for seeds in algorithms.values()
            for place in range(len(WIDTHS))
        ]
        shown.add_row(task, ahead, *cells, f"{gain(algorithms):+.2f}")
    return shown


def gain(algorithms: Mapping[str, Sequence[Sequence[float]]]) -> float:
    """Points that the default is ahead of likelihood, both with the widest beam."""
    if not all(algorithms.values()):
        return float("nan")
    before, after = (mean(seed[-1] for seed in seeds) for seeds in algorithms.values())
    return 100 * (after - before)


def draw(found: Mapping[str, Results], path: Path) -> None:
    """The gain against the lookahead, a line for each task."""
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "lookahead"  # the same file from the same numbers
    figure, axes = pyplot.subplots(figsize=(6, 4))
    rows = rows_of(found)
    for task in dict.fromkeys(task for task, _ in rows):
        gains = [gain(rows[task, str(a)]) if (task, str(a)) in rows else None for a in LOOKAHEADS]
        points = [(place, value) for place, value in enumerate(gains) if value is not None]
        axes.plot(*zip(*points, strict=True), marker="o", label=task)
    axes.axhline(0, color="gray", linewidth=0.8)
    axes.set_xticks(range(len(LOOKAHEADS)), map(str, LOOKAHEADS))
    axes.set(xlabel="words to come that are seen", ylabel="gain over likelihood (points)")
    axes.legend()
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("data", type=Path, nargs="*")
    parser.add_argument("--out", type=Path, default=Path("runs") / "lookahead")
    parser.add_argument("--only", default="", help="entries whose name begins so")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--processes", type=int, help="trainings at once (default: one per core)")
    parser.add_argument("--limit", type=int, help="training sentences, for a try")
    parser.add_argument("--draw", action="store_true", help="draw the figure from the results")
    arguments = parser.parse_args()
    console = Console()
    path = (RESULTS if arguments.limit is None else arguments.out) / "lookahead.json"
    found: dict[str, Results] = {}
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))["entries"]
    folders = [folder.resolve() for folder in arguments.data]
    listed = list(entries(folders, arguments.limit, arguments.seeds))
    chosen = [entry for entry in listed if entry.name.startswith(arguments.only)]
    for count, (done, results) in enumerate(compare(chosen, arguments.out, arguments.processes), 1):
        found[done.name] = results
        shown = "  ".join(f"{measure_of(one):.4f}" for one in results)
        console.print(f"{count}/{len(chosen)} {done.name}  {shown}", soft_wrap=True)
        path.write_text(json.dumps({"entries": found}, indent=1) + "\n", encoding="utf-8")
    console.print(table(found))
    if arguments.draw:
        draw(found, FIGURE if arguments.limit is None else path.with_suffix(".svg"))


if __name__ == "__main__":
    main()
