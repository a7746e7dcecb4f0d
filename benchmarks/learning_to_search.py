"""Does a good roll-out save a bad reference? LOLS's claim, and Vowpal Wabbit beside it.

    python benchmarks/learning_to_search.py EWT [--sentences 300] [--epochs 2] [--only ours,vw]

EWT is a folder with `{train,dev}.conllu.gz` of UD English-EWT. Universal tags, greedy, from left to
right: a linear tagger whose features include its last two tags, so that errors have consequences.
The reference is the right tag (`good`), or one that is wrong for half of the words (`bad`), always
in the same way. Each of the nine cells of roll-in and roll-out is trained with both references, on
the same sentences, in the same order. Outputs cost their wrong tags, whatever the reference says.

Vowpal Wabbit (`pip install vowpalwabbit`) gets the same words, affixes and shapes, and its own
features of the last two tags: `--search_task sequence --search_rollin ... --search_rollout ...`,
which has a good reference only. One thread each. Cells that are done are not run again.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import torch
from measure import RESULTS, machine

import beamlearn as bl
from beamlearn.algorithms import ROLL_IN, ROLL_OUT
from beamlearn.tasks.tagging.model import Tagger
from beamlearn.tasks.tagging.sentences import read_sentences
from beamlearn.tasks.tagging.settings import TaggerSettings
from beamlearn.tasks.tagging.space import HammingOracle, TaggingExample, TaggingSpace

PATH = RESULTS / "learning_to_search.json"
BATCH, PER_BEAM = 16, 6
Sentences = tuple[Sequence[list[str]], Sequence[list[str]]]


class Misled:
    """The task of tagging, by a reference that may be bad; it remembers the batch it was given."""

    def __init__(self, tagger: Tagger, followed: dict[int, list[int]]) -> None:
        self.tagger, self.followed = tagger, followed
        """The tags that the reference takes for right, by the identity of the example."""
        self.batch: Sequence[TaggingExample] = ()

    def space(self, batch: Sequence[TaggingExample]) -> TaggingSpace:
        self.batch = batch
        return self.tagger.space(batch)

    def cost(self, example: int, output: Sequence[int]) -> float:
        """How many tags are wrong in truth."""
        tags = self.batch[example].tags
        assert tags is not None
        return float(sum(a != b for a, b in zip(output, tags.tolist(), strict=True)))

    def reference(self, space: TaggingSpace) -> bl.Oracle:
        """Follows the tags that the reference takes for right."""
        rows = [torch.tensor(self.followed[id(example)]) for example in self.batch]
        return HammingOracle(space, torch.nn.utils.rnn.pad_sequence(rows, batch_first=True))


def corrupted(tags: Sequence[int], count: int, draw: Random) -> list[int]:
    """Half of the tags replaced by the next one, as numbers go."""
    return [(tag + 1) % count if draw.random() < 0.5 else tag for tag in tags]


def train_ours(train: Sentences, dev: Sentences, cell: tuple[str, str, str], epochs: int) -> Any:
    """Accuracy and processor time of one cell."""
    roll_in, roll_out, kind = cell
    settings = TaggerSettings(model="linear", context="streaming", normalize="log_softmax")
    tagger = Tagger.build(settings, *train, seed=0)
    examples = [tagger.encode(*pair) for pair in zip(*train, strict=True)]
    draw, count = Random(0), len(tagger.lexicon.tags)
    gold = [example.tags.tolist() for example in examples if example.tags is not None]
    followed = {
        id(example): tags if kind == "good" else corrupted(tags, count, draw)
        for example, tags in zip(examples, gold, strict=True)
    }
    task = Misled(tagger, followed)
    oracle = bl.RolloutOracle(
        task.cost, out=ROLL_OUT[roll_out], per_beam=PER_BEAM, reference=task.reference
    )
    optimizer = torch.optim.Adam(tagger.scorer.parameters(), lr=0.01)
    order, coins = torch.Generator().manual_seed(0), torch.Generator().manual_seed(0)
    batches = bl.minibatches(examples, BATCH, epochs=epochs, generator=order)
    began = process_time()
    for _ in bl.learn(
        batches,
        task,
        tagger.scorer,
        optimizer,
        loss="upper_bound",
        strategy=ROLL_IN[roll_in],
        width=1,
        oracle=oracle,
        generator=coins,
    ):
        pass
    seconds = process_time() - began
    held_out = [tagger.encode(*pair) for pair in zip(*dev, strict=True)]
    began = process_time()
    parts = [held_out[i : i + 64] for i in range(0, len(held_out), 64)]
    found = bl.evaluate(parts, tagger, tagger.scorer, width=1)
    words = sum(map(len, dev[0]))
    return {
        "accuracy": 1 - float(found.costs.sum()) / words,
        "training_seconds": seconds,
        "words_per_second": words / (process_time() - began),
    }


def features(words: Sequence[str], place: int) -> str:
    """What both see of a word, as Vowpal Wabbit writes it."""
    word = words[place].replace(":", "COLON").replace("|", "BAR").replace(" ", "_")
    parts = [f"w={word.lower()}"]
    parts += [f"p{n}={word[:n]}" for n in range(1, 5)] + [f"s{n}={word[-n:]}" for n in range(1, 5)]
    shape = "".join("X" if c.isupper() else "x" if c.islower() else "d" for c in word[:8])
    return " ".join([*parts, f"shape={shape}"])


def train_vw(train: Sentences, dev: Sentences, cell: tuple[str, str], epochs: int) -> Any:
    """The same of a cell of Vowpal Wabbit."""
    import vowpalwabbit

    names = {tag: n for n, tag in enumerate(sorted({t for row in train[1] for t in row}), 1)}
    names |= {tag: 1 for row in dev[1] for tag in row if tag not in names}
    roll_in, roll_out = cell
    policy = {"reference": "oracle", "mixture": "mix_per_state", "learned": "learn"}
    settings = (
        f"--search {len(set(names.values()))} --search_task sequence --search_history_length 2 "
        f"--search_rollin {policy[roll_in]} --search_rollout {policy[roll_out]} -b 20"
    )
    with TemporaryDirectory() as folder:
        kept, answers = f"{folder}/model", Path(folder) / "answers"
        for name, (words, tags) in (("train", train), ("dev", dev)):
            blocks = (
                "".join(f"{names[t]} | {features(one, i)}\n" for i, t in enumerate(right))
                for one, right in zip(words, tags, strict=True)
            )
            (Path(folder) / name).write_text("\n".join(blocks) + "\n", encoding="utf-8")
        began = process_time()
        passes = f"--passes {epochs} --holdout_off -k --cache_file {folder}/cache"
        vowpalwabbit.Workspace(f"{settings} -d {folder}/train {passes} -f {kept} --quiet").finish()
        seconds, began = process_time() - began, process_time()
        vowpalwabbit.Workspace(f"-t -i {kept} -d {folder}/dev -p {answers} --quiet").finish()
        taken = process_time() - began
        found = [line.split() for line in answers.read_text().splitlines() if line.strip()]
    pairs = zip(found, dev[1], strict=True)
    right = sum(a == str(names[b]) for one, tags in pairs for a, b in zip(one, tags, strict=True))
    count = sum(map(len, dev[0]))
    return {
        "accuracy": right / count,
        "training_seconds": seconds,
        "words_per_second": count / taken,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--only", default="ours,vw")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    files = (str(arguments.data / f"{name}.conllu.gz") for name in ("train", "dev"))
    read = [read_sentences(file, "upos") for file in files]
    train = read[0].words[: arguments.sentences], read[0].tags[: arguments.sentences]
    dev = read[1].words, read[1].tags
    found = json.loads(PATH.read_text()) if PATH.exists() else {"machine": machine(), "cells": {}}
    for engine in arguments.only.split(","):
        kinds = ("good", "bad") if engine == "ours" else ("good",)
        for cell in [(i, o, k) for k in kinds for i in ROLL_IN for o in ROLL_OUT]:
            name = "/".join((engine, *cell))
            if name in found["cells"]:
                continue
            if engine == "ours":
                found["cells"][name] = train_ours(train, dev, cell, arguments.epochs)
            else:
                found["cells"][name] = train_vw(train, dev, cell[:2], arguments.epochs)
            print(name, found["cells"][name], flush=True)
            PATH.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
