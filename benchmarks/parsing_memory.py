"""Memory of a parser against the length of a sentence, to 1,000 words.

    python benchmarks/parsing_memory.py

Each point is a process of its own, which parses one sentence of so many words with a parser of
random weights and tells how much more memory it used at most than for a sentence of ten words.
Writes `results/parsing_memory.json` and `results/parsing_memory.svg`.
"""

import argparse
import resource
import subprocess
import sys
from typing import Any

import torch
from measure import RESULTS, report

from beamlearn.tasks.decoding import search
from beamlearn.tasks.parsing.model import Parser
from beamlearn.tasks.parsing.sentences import ParsedSentences
from beamlearn.tasks.parsing.settings import ParserSettings
from beamlearn.tasks.parsing.tree import Tree

LENGTHS = (100, 200, 400, 600, 800, 1000)
WIDTHS = (1, 4, 8, 16)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--measure", type=int, nargs=2, metavar=("LENGTH", "WIDTH"))
    asked = parser.parse_args().measure
    if asked is not None:
        print(megabytes(*asked))
        return
    rows: list[dict[str, Any]] = []
    for width in WIDTHS:
        for length in LENGTHS:
            command = [sys.executable, __file__, "--measure", str(length), str(width)]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rows.append({"width": width, "words": length, "MB": round(float(told), 2)})
    report("parsing_memory", rows)
    draw(rows)


def megabytes(length: int, width: int) -> float:
    """How much more memory a long sentence takes than a short one."""
    torch.set_num_threads(1)
    relations = [f"r{number}" for number in range(40)]
    words = [f"w{number}" for number in range(41)]
    tree = Tree((0, *range(1, 41)), ("root", *relations))
    model = Parser.build(ParserSettings(min_count=1), ParsedSentences([words], [tree]))

    def peak(words: int) -> float:
        search(model, [model.encode([f"w{number % 41}" for number in range(words)])], width)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    return -peak(10) + peak(length)


def draw(rows: list[dict[str, Any]]) -> None:
    """A line for each width."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for width in WIDTHS:
        points = [(row["words"], row["MB"]) for row in rows if row["width"] == width]
        axes.plot(*zip(*points, strict=True), marker="o", label=f"beam {width}")
    axes.set(xlabel="words in the sentence", ylabel="memory (MB)", xlim=0, ylim=0)
    axes.legend()
    figure.savefig(RESULTS / "parsing_memory.svg", bbox_inches="tight")


if __name__ == "__main__":
    main()
