"""One round of training with the beam against one of maximum likelihood, on the same batch.

    python benchmarks/transduction_round.py RUN FILE

RUN is the folder of a trained transformer, FILE has its pairs; a round has 64 of about the same
length, those in the middle of the first 6,400. `steps` goes back through the steps of
the search, `replay` through one parallel pass over the nodes that it visited. Times are divided by
that of the likelihood round, turn by turn, on one thread; peak memory is that of a process of its
own, above what it has before its first round.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any

import torch
from measure import interleave, report

from beamlearn import learn
from beamlearn.data.pairs import read_references
from beamlearn.tasks.experiment import load
from beamlearn.tasks.transduction.task import TRANSDUCTION
from beamlearn.training.batches import batches_of

BATCH = 64
VARIANTS: dict[str, dict[str, Any]] = {
    "likelihood": {"strategy": "oracle", "loss": "log_loss_neighbors", "width": 1},
    **{
        f"{loss} {mode} {width}": {"loss": loss, "width": width, "replay": mode == "replay"}
        for width in (4, 8)
        for loss, mode in (
            ("log_loss_neighbors", "replay"),
            ("log_loss_beam", "replay"),
            ("log_loss_beam", "steps"),
        )
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--memory-of", choices=VARIANTS, help="print the peak of one variant")
    arguments = parser.parse_args()
    if arguments.memory_of:
        print(json.dumps(peak(round_of(arguments.run, arguments.file, arguments.memory_of))))
        return
    rounds = {name: round_of(arguments.run, arguments.file, name) for name in VARIANTS}
    times = interleave(rounds, seconds=60.0, least=5)
    rows = [
        {
            "round": name,
            "seconds": timing.seconds,
            "ratio": timing.ratio,
            "peak_megabytes": memory(arguments.run, arguments.file, name),
        }
        for name, timing in times.items()
    ]
    report("transduction_round", rows, batch=BATCH)


def round_of(run: Path, file: Path, name: str) -> Callable[[], object]:
    """A round of one variant, on the same pairs each time."""
    torch.set_num_threads(1)
    model, _ = load(TRANSDUCTION, run)
    pairs = read_references(file)[: 100 * BATCH]
    batch = batches_of([model.encode(pair.source, pair.references) for pair in pairs], BATCH)[50]
    optimizer = torch.optim.Adam(model.scorer.parameters(), lr=1e-9, fused=True)
    model.scorer.train()
    rounds = learn(repeat(batch), model, model.scorer, optimizer, **VARIANTS[name])
    return lambda: next(rounds)


def memory(run: Path, file: Path, name: str) -> float:
    """The peak of a variant, measured in a process of its own."""
    command = [sys.executable, __file__, str(run), str(file), "--memory-of", name]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(found.stdout))


def peak(run: Callable[[], object]) -> float:
    """How many megabytes two rounds need beyond what is there before them."""
    before = highest()
    for _ in range(2):
        run()
    return highest() - before


def highest() -> float:
    """The most megabytes that this process has had; what its parent had does not count."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    main()
