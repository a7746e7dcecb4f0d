"""Is the default ever worse than likelihood? One table over all tasks.

    python benchmarks/defaults.py DATA [--out runs/defaults] [--only supertags,upos] [--seeds 3]
                                       [--ways likelihood,joint] [--processes 1] [--table]

DATA is a folder with the data sets that `ROWS` names, one folder each; HKCanCor comes with the
demo. Each row is trained by likelihood, by likelihood for as long as the default takes
(`likelihood-longer`: more epochs by the measured ratio of processor times), by the default, and by
the default whose beam joins in the second half (`joint-half`). Everything is tested at
widths 1 and 8, on data that chose nothing. p is that of a paired sign-flip test over the test
examples, of the costs (for transduction: of the wrong outputs), averaged over the seeds.

Interrupt it at any time; called again, it goes on: trainings in the folder `--out` are resumed, and
those that `results/defaults/` has are not run again, whatever machine they ran on. `--table` prints
what is there already.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from g2p import NETWORK, SMALL
from measure import RESULTS
from rich.console import Console
from rich.table import Table
from supertags import TAGGER

from beamlearn.cli.demo.conversations import PARTS, split, spoken
from beamlearn.cli.demo.plan import NETWORK as DEMO_NETWORK
from beamlearn.comparison.runner import Entry, compare
from beamlearn.data.hkcancor import read_hkcancor
from beamlearn.evaluation.significance import sign_flip_test
from beamlearn.tasks.parsing.settings import ParserSettings
from beamlearn.tasks.registry import task_named
from beamlearn.tasks.settings import ModelSettings
from beamlearn.tasks.tagging.settings import TaggerSettings
from beamlearn.training.run import Run
from beamlearn.training.settings import SIGHTED_START, Learning, parse

WIDTHS = (1, 8)
KEPT = RESULTS / "defaults"
WAYS: dict[str, dict[str, Any]] = {
    "likelihood": {"algorithm": "log_likelihood"},
    "joint": {},
    "joint-half": {"beam_start": 0.5},
    "likelihood-longer": {"algorithm": "log_likelihood"},
}


@dataclass(frozen=True)
class Row:
    """One task on one data set."""

    task: str
    metric: str
    files: tuple[str, str, str]
    """To train on, to choose the epoch on, to test on."""
    model: ModelSettings
    learning: dict[str, Any]
    ratio: float
    """Processor time of a round with the beam in that of `likelihood`, measured on a part of the
    row."""
    data: dict[str, Any] = field(default_factory=dict)
    """How to read the files."""

    @property
    def longer(self) -> float:
        """Processor time of `joint`, whose beam may join late, in that of `likelihood`."""
        joined = 1 - SIGHTED_START if self.model.sees_all else 1.0
        return 1 + joined * (self.ratio - 1)


def files(folder: str, form: str, name: str = "") -> tuple[str, str, str]:
    """The three parts of a data set."""
    train, dev, test = (f"{folder}/{name}{part}.{form}.gz" for part in ("train", "dev", "test"))
    return train, dev, test


EWT, DUTCH = files("ud-english-ewt", "conllu"), files("ud-dutch-lassysmall", "conllu")
G2P = {name: files("g2p-sigmorphon2021", "tsv", f"{name}.") for name in ("dut", "hun", "eng_us")}
PARSE = {"epochs": 6, "patience": 0}
SOUND = {"batch_size": 32, "learning_rate": 2e-3, "epochs": 10, "patience": 0}
ROWS = {
    "supertags": Row(
        "tag",
        "accuracy",
        EWT,
        TAGGER,
        {"epochs": 4, "learning_rate": 4e-3, "patience": 0},
        2.6,
        {"column": "supertag", "limit": 6000},
    ),
    "hkcancor": Row(
        "tag",
        "accuracy",
        ("hkcancor/train.tsv", "hkcancor/dev.tsv", "hkcancor/test.tsv"),
        DEMO_NETWORK,
        {"epochs": 4, "batch_size": 64, "learning_rate": 1e-2, "patience": 0},
        2.6,
        {"column": "2"},
    ),
    "danish": Row(
        "tag",
        "f1",
        files("ner-uner-danish-ddt", "tsv"),
        TaggerSettings(),
        {"epochs": 6, "patience": 0},
        2.0,
        {"column": "2"},
    ),
    "wnut": Row(
        "tag",
        "f1",
        files("ner-wnut17", "tsv"),
        TaggerSettings(),
        {"epochs": 6, "patience": 0},
        2.0,
        {"column": "2"},
    ),
    "g2p-hungarian-small": Row("transduce", "wer", G2P["hun"], SMALL, SOUND, 1.9),
    "g2p-dutch-small": Row("transduce", "wer", G2P["dut"], SMALL, SOUND, 1.9),
    "parse-3000": Row("parse", "las", EWT, ParserSettings(), PARSE, 1.84, {"limit": 3000}),
    "parse-dutch": Row("parse", "las", DUTCH, ParserSettings(), PARSE, 1.84),
    "upos": Row(
        "tag",
        "accuracy",
        EWT,
        TaggerSettings(),
        {"epochs": 5, "patience": 0},
        2.0,
        {"column": "upos"},
    ),
    "g2p-dutch": Row("transduce", "wer", G2P["dut"], NETWORK, {**SOUND, "epochs": 22}, 3.6),
    "g2p-hungarian": Row("transduce", "wer", G2P["hun"], NETWORK, {**SOUND, "epochs": 22}, 3.6),
    "g2p-english": Row("transduce", "wer", G2P["eng_us"], NETWORK, SOUND, 3.6),
    "g2p-english-small": Row("transduce", "wer", G2P["eng_us"], SMALL, SOUND, 1.9),
    "parse-all": Row("parse", "las", EWT, ParserSettings(), {"epochs": 10}, 1.84),
}


def entries(
    data: Path, out: Path, rows: Sequence[str], ways: Sequence[str], seeds: int
) -> Iterator[Entry]:
    """All trainings that are left: the first seed of every row before the second."""
    for seed in range(seeds):
        for name in rows:
            row, done = ROWS[name], kept_trainings(name)
            for way in ways:
                if (training := f"{way}-seed{seed}") in done:
                    continue
                learning = {**row.learning, **WAYS[way], "seed": seed}
                if way == "likelihood-longer":
                    learning["epochs"] = round(row.longer * learning["epochs"])
                yield entry(data, out, f"{name}/{training}", row, learning)


def entry(data: Path, out: Path, name: str, row: Row, learning: Mapping[str, Any]) -> Entry:
    """One training."""
    folder = out / "hkcancor-data" if row.files[0].startswith("hkcancor") else data
    train, dev, test = (str(folder / path) for path in row.files)
    kind = task_named(row.task).experiment
    values = {
        "data": {"train": train, "dev": dev, **row.data},
        kind.group: row.model,
        "learning": Learning.model_validate(learning),
    }
    return Entry(name, parse(kind, values), WIDTHS, test, costs=True)


def write_hkcancor(folder: Path) -> None:
    """The files of the demo."""
    if folder.exists():
        return
    corpus = read_hkcancor()
    folder.mkdir(parents=True)
    for part, recordings in split(corpus).items():
        assert part in PARTS
        found = spoken(utterance for recording in recordings for utterance in corpus[recording])
        pairs = zip(found.words, found.tags, strict=True)
        blocks = ["".join(f"{w}\t{t}\n" for w, t in zip(*one, strict=True)) for one in pairs]
        (folder / f"{part}.tsv").write_text("\n".join(blocks), encoding="utf-8")


def kept_trainings(row: str) -> dict[str, Any]:
    """What was measured of a row: for each training, its results and the costs with the beam."""
    path = KEPT / f"{row}.json.gz"
    if not path.exists():
        return {}
    kept: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return kept


def keep(name: str, folder: Path) -> None:
    """Add a training that is done to what is kept."""
    row, training = name.split("/")
    metrics = Run.open(folder).load_metrics()
    assert metrics is not None
    found = {"results": metrics["results"], "costs": metrics["costs"][-1]}
    kept = json.dumps({**kept_trainings(row), training: found}, sort_keys=True)
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{row}.json.gz").write_bytes(gzip.compress(kept.encode(), mtime=0))


def collect() -> dict[str, dict[str, Any]]:
    """What is measured so far: for each row and way, the metric at both widths, and the costs."""
    found: dict[str, dict[str, Any]] = {}
    for name, row in ROWS.items():
        kept = kept_trainings(name)
        for way in WAYS:
            seeds = sorted(training for training in kept if training.startswith(f"{way}-seed"))
            if not seeds:
                continue
            costs = torch.tensor([kept[seed]["costs"] for seed in seeds], dtype=torch.float64)
            if row.metric == "wer":
                costs = (costs > 0).double()
            values = [[kept[seed]["results"][i][row.metric] for seed in seeds] for i in (0, 1)]
            found.setdefault(name, {})[way] = {
                "seeds": len(seeds),
                "metric": row.metric,
                "greedy": mean(values[0]),
                "beam 8": mean(values[1]),
                "beam 8 by seed": values[1],
                "costs": costs,
            }
    return found


def p_value(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Of two ways of training, over the seeds that both have."""
    seeds = min(one["seeds"], other["seeds"])
    difference = one["costs"][:seeds].mean(dim=0) - other["costs"][:seeds].mean(dim=0)
    return float(sign_flip_test(difference[None]))


def report(console: Console) -> None:
    """Print the table, and keep its numbers."""
    table = Table("row", "trained", "seeds", "greedy", "beam 8", "p (likelihood)", "p (longer)")
    kept: dict[str, Any] = {}
    for name, ways in collect().items():
        for way, one in ways.items():
            against = {
                other: p_value(one, ways[other])
                for other in ("likelihood", "likelihood-longer")
                if other in ways and other != way
            }
            numbers = {key: value for key, value in one.items() if key != "costs"}
            kept.setdefault(name, {})[way] = {**numbers, "p": against}
            table.add_row(
                name,
                way,
                str(one["seeds"]),
                f"{one['greedy']:.2%}",
                f"{one['beam 8']:.2%}",
                *(
                    f"{against[other]:.4f}" if other in against else ""
                    for other in ("likelihood", "likelihood-longer")
                ),
            )
    path = RESULTS / "defaults.json"
    if path.exists():  # rows whose costs were not kept stay as they are
        kept = {**json.loads(path.read_text(encoding="utf-8")), **kept}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/defaults"))
    parser.add_argument("--only", default=",".join(ROWS), help="rows, separated by commas")
    parser.add_argument("--ways", default=",".join(WAYS), help="ways to train, the same")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="train nothing")
    arguments = parser.parse_args()
    out, console = arguments.out.resolve(), Console()
    if not arguments.table:
        write_hkcancor(out / "hkcancor-data" / "hkcancor")
        rows, ways = arguments.only.split(","), arguments.ways.split(",")
        chosen = list(entries(arguments.data.resolve(), out, rows, ways, arguments.seeds))
        for done, results in compare(chosen, out, arguments.processes):
            keep(done.name, out / done.name)
            metric = ROWS[done.name.split("/")[0]].metric
            shown = "  ".join(f"{result[metric]:.4f}" for result in results)
            console.print(f"{done.name}  {shown}", soft_wrap=True)
    report(console)


if __name__ == "__main__":
    main()
