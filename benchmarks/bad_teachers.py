"""Can a parser become better than its teacher? LOLS's claim where a bad reference misleads.

    python benchmarks/bad_teachers.py EWT [--sentences 200] [--epochs 8] [--seeds 1]

EWT is a folder with `{train,dev}.conllu.gz` of UD English-EWT: projective sentences of 4 to 8
words, unlabeled arc-hybrid parsing, greedy, a small network that sees words and universal tags. The
references are those of LOLS (Chang et al. 2015, Section 5): `optimal`, a dynamic oracle;
`suboptimal`, the same until the first wrong arc, and any legal action from there on; `bad`, an
arbitrary legal action everywhere. Arbitrary is by a fixed table, so that a reference is a
function of the state. Outputs cost their wrong heads. Each of the nine cells is trained with each
reference, on the same sentences in the same order. Cells that are done are not run again.
"""

import argparse
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import torch
from measure import RESULTS, machine

import beamlearn as bl
from beamlearn.algorithms import ROLL_IN, ROLL_OUT
from beamlearn.tasks.parsing.model import Parser
from beamlearn.tasks.parsing.sentences import ParsedSentences, read_sentences
from beamlearn.tasks.parsing.settings import ParserSettings
from beamlearn.tasks.parsing.space import ParsingExample, ParsingSpace
from beamlearn.tasks.parsing.tree import Tree

PATH = RESULTS / "bad_teachers.json"
BATCH, WORDS = 32, range(4, 9)
REFERENCES = ("bad", "suboptimal", "optimal")
FIRST = ("reference", "learned", "mixture")
"""The order in which roll-ins are run."""
SETTINGS = ParserSettings(
    tags="upos",
    crossing="lift",
    cost="unlabeled",
    max_characters=0,
    encoder_size=48,
    hidden_size=64,
    history="none",
    dropout=0.0,
    word_dropout=0.0,
    normalize="none",
)


class Teacher(bl.Oracle):
    """A reference that takes arbitrary actions, everywhere or once an arc is lost."""

    exact = False

    def __init__(self, right: Any, lost: bool, actions: int) -> None:
        self.right, self.lost = right, lost
        size = max(WORDS) + 2
        draw = torch.Generator().manual_seed(0)
        self.arbitrary = torch.rand(size, size, actions, generator=draw)
        """What it thinks of each action, by the word on top of the stack and the next one."""

    def initial(self) -> torch.Tensor:
        found: torch.Tensor = self.right.initial()
        return found

    def start(self) -> Any:
        return self.right.start()

    def costs(self, memory: Any, nodes: Any) -> torch.Tensor:
        known = self.right.costs(memory, nodes)
        arbitrary = self.arbitrary[nodes.s0, nodes.front]
        if not self.lost:
            return arbitrary
        astray = memory.errors > self.right.initial()[nodes.examples][:, None]
        return torch.where(astray[..., None], arbitrary, known)

    def advance(self, memory: Any, nodes: Any, move: Any) -> Any:
        return self.right.advance(memory, nodes, move)


class Lessons:
    """The task of parsing, with the space that costs were last asked for."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.here: ParsingSpace

    def space(self, batch: Sequence[ParsingExample]) -> ParsingSpace:
        self.here = self.parser.space(batch)
        return self.here

    def cost(self, example: int, output: Sequence[tuple[int, str]]) -> float:
        """How many heads are wrong in truth."""
        cost = self.here.cost(example, output)
        assert cost is not None
        return cost


def teacher(kind: str) -> Any:
    """What makes a reference in a space."""

    def make(space: ParsingSpace) -> bl.Oracle:
        right = space.oracle()
        if kind == "optimal":
            return right
        return Teacher(right, kind == "suboptimal", len(space.actions))

    return make


def short(file: Path, count: int | None) -> ParsedSentences:
    """The first projective sentences of few words, with a single name for all relations."""
    read = read_sentences(str(file), "upos")
    fits = [
        place
        for place, (words, tree) in enumerate(zip(read.words, read.trees, strict=True))
        if len(words) in WORDS and tree.is_projective
    ]
    kept = read.take(fits[:count])
    trees = [Tree(tree.heads, ("arc",) * len(tree.heads)) for tree in kept.trees]
    return ParsedSentences(kept.words, trees, kept.tags)


def encoded(parser: Parser, data: ParsedSentences) -> list[ParsingExample]:
    assert data.tags is not None
    rows = zip(data.words, data.tags, data.trees, strict=True)
    return [parser.encode(words, tags, tree) for words, tags, tree in rows]


def accuracy(parser: Parser, examples: Sequence[ParsingExample]) -> float:
    """The share of words with the right head, of greedy parses."""
    parts = [examples[i : i + 64] for i in range(0, len(examples), 64)]
    found = bl.evaluate(parts, parser, parser.scorer, width=1)
    return 1 - float(found.costs.sum()) / sum(map(len, examples))


def teacher_accuracy(kind: str, parser: Parser, examples: Sequence[ParsingExample]) -> float:
    """What a reference reaches itself."""
    task = Lessons(parser)
    space = task.space(examples)
    oracle = bl.RolloutOracle(task.cost, out="reference", reference=teacher(kind))
    path = bl.beam_trajectory(space, parser.scorer, 1, strategy="oracle", oracle=oracle)
    return 1 - float(path.final_costs.sum()) / sum(map(len, examples))


def train(
    data: ParsedSentences, dev: ParsedSentences, cell: tuple[str, str, str], epochs: int, seed: int
) -> dict[str, Any]:
    """Accuracy of the parser and of its teacher on the development set, and processor time."""
    roll_in, roll_out, kind = cell
    parser = Parser.build(SETTINGS, data, seed=seed)
    task, examples, held_out = Lessons(parser), encoded(parser, data), encoded(parser, dev)
    oracle = bl.RolloutOracle(task.cost, out=ROLL_OUT[roll_out], reference=teacher(kind))
    optimizer = torch.optim.Adam(parser.scorer.parameters(), lr=0.01)
    order, coins = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed)
    began = process_time()
    for _ in bl.learn(
        bl.minibatches(examples, BATCH, epochs=epochs, generator=order),
        task,
        parser.scorer,
        optimizer,
        loss="upper_bound",
        strategy=ROLL_IN[roll_in],
        width=1,
        oracle=oracle,
        generator=coins,
    ):
        pass
    seconds = process_time() - began
    taught = teacher_accuracy(kind, parser, held_out)
    return {"accuracy": accuracy(parser, held_out), "reference": taught, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    data = short(arguments.data / "train.conllu.gz", arguments.sentences)
    dev = short(arguments.data / "dev.conllu.gz", None)
    found = json.loads(PATH.read_text()) if PATH.exists() else {"machine": machine(), "cells": {}}
    found |= {"sentences": len(data), "dev": len(dev), "epochs": arguments.epochs}
    for seed, cell in product(range(arguments.seeds), product(REFERENCES, FIRST, ROLL_OUT)):
        name = "/".join((*cell, str(seed)))
        if name in found["cells"]:
            continue
        kind, roll_in, roll_out = cell
        result = train(data, dev, (roll_in, roll_out, kind), arguments.epochs, seed)
        found["cells"][name] = result
        print(name, result, flush=True)
        PATH.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
