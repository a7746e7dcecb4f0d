"""Small data files and runs of every task, to be trained in a second or two."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from .workshop import Command

TAGS = {"the": "DET", "a": "DET", "old": "ADJ", "man": "NOUN", "dog": "NOUN", "saw": "VERB"}
SOUNDS = {"a": "a", "b": "b", "c": "k", "d": "d"}
WORDS = ("--min-count", "1", "--word-size", "4", "--affix-length", "1", "--affix-size", "2")
LEARNING = ("--batch-size", "4", "--quiet")
NETWORK = ("--learning-rate", "0.03", "--dropout", "0.2")
PROVEN = (
    *("--model", "linear", "--buckets", "512", "--context", "streaming", "--loss", "upper_bound"),
    *("--optimizer", "gradient", "--learning-rate", "0.5", "--radius", "4", "--stream"),
    *("--reduction", "mean", "--mixture", "4"),
)
"""Of a training that certificates speak of."""


@final
@dataclass(frozen=True)
class SmallTask:
    """A task of the command line with its files and the options of a small network."""

    name: str
    train: Path
    dev: Path
    options: tuple[str, ...]
    epochs: int = 2

    def training(self, out: Path, epochs: int | None = None, **more: float | None) -> Command:
        """The command that trains it."""
        given = (*self.given, "--width", 2, "--epochs", epochs or self.epochs)
        return Command.of("train", *given, "--out", out, **more)

    def comparison(self, out: Path, epochs: int = 2, **more: float | None) -> Command:
        """The command that compares two trainings."""
        grid = ("--algorithms", "log_likelihood,continue", "--widths", "2", "--processes", "2")
        return Command.of("compare", *self.given, *grid, "--epochs", epochs, "--out", out, **more)

    @property
    def given(self) -> tuple[str, ...]:
        files = ("--train", str(self.train), "--dev", str(self.dev))
        return (self.name, *files, *self.options, *LEARNING)


def small_tasks(folder: Path, sentences: int = 24) -> dict[str, SmallTask]:
    """Write files to a folder; return what can be trained on them."""
    folder.mkdir(parents=True, exist_ok=True)
    words = (*WORDS, *NETWORK, "--history-size", "8")
    options = {
        "tag": (*words, "--tag-size", "4", "--context", "streaming"),
        "parse": (*words, "--encoder-size", "8", "--hidden-size", "8"),
        "transduce": (*NETWORK, "--size", "8", "--target-tokens", "words"),
    }
    found = {}
    for name, given in options.items():
        text = pairs if name == "transduce" else trees
        suffix = "tsv" if name == "transduce" else "conllu"
        paths = []
        for number, part in enumerate(("train", "dev")):
            path = folder / f"{name}.{part}.{suffix}"
            path.write_text("".join(text(sentences, number)), encoding="utf-8")
            paths.append(path)
        found[name] = SmallTask(name, paths[0], paths[1], given)
    proven = replace(found["tag"], options=PROVEN, epochs=1)
    return {**found, "proven": proven}


def trees(count: int, seed: int = 0) -> Iterator[str]:
    """Sentences in CoNLL-U, each word below the one before it."""
    draw = random.Random(seed)
    for number in range(count):
        yield f"# sent_id = {number}\n"
        for place, word in enumerate(draw.choices(list(TAGS), k=draw.randint(1, 6)), 1):
            relation = "dep" if place > 1 else "root"
            fields = (place, word, "_", TAGS[word], "_", "_", place - 1, relation, "_", "_")
            yield "\t".join(map(str, fields)) + "\n"
        yield "\n"


def pairs(count: int, seed: int = 0) -> Iterator[str]:
    """Letters and their sounds, separated by a tab."""
    draw = random.Random(seed)
    for _ in range(count):
        letters = draw.choices("abcd", k=draw.randint(1, 5))
        yield f"{''.join(letters)}\t{' '.join(SOUNDS[letter] for letter in letters)}\n"
