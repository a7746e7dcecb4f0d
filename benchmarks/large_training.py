"""Peak memory of training a small model on many sentences, with and without the cache.

    python benchmarks/large_training.py [[TASK:]SENTENCES[xWORDS] ...]

Sentences are generated from 50,000 forms, with 1 to WORDS words (by default 29, so 15 on average),
for tagging unless another task is named. Trees are chains; transducers write the sentence in
capitals.
Each training is a process of its own, which reads the file and trains for some rounds. Rows of
trainings that are not asked for stay in the results.
"""

import json
import os
import random
import resource
import subprocess
import sys
import time
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

RESULTS = Path(__file__).parent / "results" / "large_training.json"
FORMS, TAGS, ROUNDS, LONGEST = 50_000, 17, 50, 29
IN_MEMORY = 100_000
"""More sentences than this are trained on with the cache only."""
SIZES: dict[str, dict[str, Any]] = {
    "tag": {
        "tagger": {"context": "streaming", "word_size": 16, "affix_length": 0, "history_size": 32}
    },
    "parse": {
        "parser": {
            "word_size": 16,
            "affix_length": 0,
            "max_characters": 0,
            "encoder_size": 16,
            "hidden_size": 16,
            "history_size": 16,
        }
    },
    "transduce": {"transducer": {"size": 16}},
}
"""The model of each task."""


def write(path: Path, task: str, sentences: int, longest: int, seed: int = 0) -> None:
    draw = random.Random(seed)
    weights = list(accumulate(1 / (rank + 10) for rank in range(FORMS)))
    words = [f"w{draw.randrange(10**6)}-{number}" for number in range(FORMS)]
    with path.open("w") as file:
        for _ in range(sentences):
            chosen = draw.choices(range(FORMS), cum_weights=weights, k=draw.randint(1, longest))
            if task == "transduce":
                text = " ".join(words[number] for number in chosen)
                file.write(f"{text}\t{text.upper()}\n")
                continue
            for place, number in enumerate(chosen, 1):
                tag = f"T{number % TAGS}"
                arc = f"{place - 1}\t{tag}" if task == "parse" else "_\t_"
                file.write(f"{place}\t{words[number]}\t_\t{tag}\t_\t_\t{arc}\t_\t_\n")
            file.write("\n")


def train(name: str, folder: Path, cache: str) -> dict[str, Any]:
    """In a process of its own."""
    import torch

    from beamlearn.learning.learn import Round
    from beamlearn.tasks.experiment import begin
    from beamlearn.tasks.registry import task_named
    from beamlearn.training.settings import parse

    torch.set_num_threads(1)
    task = task_named(name)
    values = {
        "data": {
            "train": str(folder / "train"),
            "dev": str(folder / "dev"),
            "cache": cache,
        },
        **SIZES[name],
        "learning": {"width": 2, "epochs": 1, "algorithm": "continue"},
    }
    before = peak()
    start = time.perf_counter()
    prepared = begin(task, parse(task.experiment, values), folder / f"run-{cache}")
    ready = time.perf_counter() - start
    start = time.perf_counter()
    losses = []
    for _, event in zip(range(ROUNDS), prepared.training, strict=False):
        assert isinstance(event, Round)  # the epoch is longer
        losses.append(float(event.losses.mean()))
    rounds = time.perf_counter() - start
    found = {
        "cache": cache,
        "peak_mb": peak(),
        "imports_mb": before,
        "seconds_to_begin": round_to(ready),
        "seconds_per_round": round_to(rounds / ROUNDS),
        "parameters": sum(p.numel() for p in prepared.model.scorer.parameters()),
        "losses": losses[-3:],
        "cache_mb": round_to(size(prepared.cache) / 2**20),
    }
    prepared.discard_cache()
    return found


def round_to(number: float) -> float:
    return float(f"{number:.3g}")


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def peak() -> int:
    """Of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def keep(row: dict[str, Any]) -> None:
    """Add a row to the results, in place of that of the same training."""

    def training(one: dict[str, Any]) -> tuple[Any, ...]:
        return one["task"], one["sentences"], one["longest"], one["cache"]

    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    rows = [one for one in rows if training(one) != training(row)]
    RESULTS.write_text(json.dumps([*rows, row], indent=2) + "\n")


def main(*counts: str) -> None:
    for asked in counts or ("20000", "100000", "1000000x5"):
        *named, size = asked.split(":")
        task = named[0] if named else "tag"
        sentences, _, words = size.partition("x")
        number, longest = int(sentences), int(words or LONGEST)
        with TemporaryDirectory() as name:
            folder = Path(name)
            write(folder / "train", task, number, longest)
            write(folder / "dev", task, 200, longest, seed=1)
            file_mb = (folder / "train").stat().st_size >> 20
            caches = ("never", "always") if number <= IN_MEMORY else ("always",)
            for cache in caches:
                done = subprocess.run(
                    [sys.executable, __file__, "--train", task, name, cache],
                    capture_output=True,
                    text=True,
                    check=True,
                    env=dict(os.environ),
                )
                measured = json.loads(done.stdout.splitlines()[-1])
                about = {"task": task, "sentences": number, "longest": longest, "file_mb": file_mb}
                print(row := {**about, **measured}, flush=True)
                keep(row)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        print(json.dumps(train(sys.argv[2], Path(sys.argv[3]), sys.argv[4])))
    else:
        main(*sys.argv[1:])
