"""Train a tagger, a parser and a transducer; print hashes of what comes out.

    python benchmarks/fingerprints.py ../shared/data [--source OTHER/src]

Run it before and after a change that must not change results, and compare what it prints. With
`--source` it measures the beamlearn package in that folder instead of the installed one. Each
training is small (300 sentences or words, two epochs, one thread, seed 0) and is repeated with
likelihood.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TRAININGS = {
    "tag": (
        "ud-english-ewt/train.conllu.gz",
        "ud-english-ewt/dev.conllu.gz",
        ("--column", "upos"),
    ),
    "parse": ("ud-english-ewt/train.conllu.gz", "ud-english-ewt/dev.conllu.gz", ()),
    "transduce": (
        "g2p-sigmorphon2021/dut.train.tsv.gz",
        "g2p-sigmorphon2021/dut.dev.tsv.gz",
        ("--target-tokens", "words"),
    ),
}
SHARED = ("--limit", "300", "--epochs", "2", "--seed", "0", "--quiet")
HASHED = ("model.safetensors", "rounds.jsonl", "metrics.json")


def beamlearn(arguments: list[str], source: str | None) -> bytes:
    """Run a command; return what it prints."""
    environment = dict(os.environ, PYTHONHASHSEED="0")
    if source is not None:
        environment["PYTHONPATH"] = source
    command = [sys.executable, "-m", "beamlearn", *arguments]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def without_speed(data: bytes) -> bytes:
    """Metrics without the lines that say how fast decoding was."""
    return b"\n".join(line for line in data.split(b"\n") if b"_per_second" not in line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--source")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for task, (train, dev, own) in TRAININGS.items():
            # The transducer is validated on few words, as decoding them all takes long.
            few = cut(asked.data / dev, Path(folder), 200)
            for algorithm in ("continue", "log_likelihood"):
                out = Path(folder) / f"{task}-{algorithm}"
                files = ["--train", str(asked.data / train), "--dev", str(few), "--out", str(out)]
                chosen = [*SHARED, "--algorithm", algorithm, *own]
                beamlearn(["train", task, *files, *chosen], asked.source)
                wide = ["--width", "8"]
                plain = beamlearn(["predict", str(out), str(few), *wide], asked.source)
                scored = beamlearn(
                    ["predict", str(out), str(few), *wide, "--nbest", "3", "--json"], asked.source
                )
                hashes = {name: digest(without_speed((out / name).read_bytes())) for name in HASHED}
                hashes |= {"predictions": digest(plain), "n-best": digest(scored)}
                for name, value in hashes.items():
                    print(f"{task:10} {algorithm:15} {name:18} {value}", flush=True)


def cut(path: Path, folder: Path, blocks: int) -> Path:
    """The first sentences or lines of a file, under a name that ends alike."""
    import gzip

    text = gzip.decompress(path.read_bytes()).decode()
    end = "\n\n" if ".conllu" in path.name else "\n"
    few = folder / path.name.removesuffix(".gz")
    few.write_text(end.join(text.split(end)[:blocks]) + end, encoding="utf-8")
    return few


if __name__ == "__main__":
    main()
