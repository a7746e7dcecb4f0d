"""Words per second and LAS of a light parser beside spaCy's beam parser, on one thread.

    python benchmarks/parsing_speed.py DATA [--epochs 5]

DATA is a folder with `train.conllu.gz` and `dev.conllu.gz` of a UD treebank; spaCy must be
installed (`pip install spacy`). Both learn from the same sentences, for as many epochs, in batches
of as many sentences, with a beam of 8. Both have a convolution of 96 units and 4 layers over
vectors of words and affixes, and a hidden layer of 64; spaCy's parser is its `beam_parser` as it
comes. They take turns: epoch by epoch in training, and in decoding, from lists of words to heads
and relations.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import torch
from measure import interleave, report

from beamlearn.learning.learn import learn
from beamlearn.tasks.decoding import in_order
from beamlearn.tasks.parsing.attachment import attachment
from beamlearn.tasks.parsing.decode import parse
from beamlearn.tasks.parsing.model import Parser
from beamlearn.tasks.parsing.report import examples_of
from beamlearn.tasks.parsing.sentences import ParsedSentences, read_sentences
from beamlearn.tasks.parsing.settings import ParserSettings
from beamlearn.tasks.parsing.tree import Tree
from beamlearn.training.batches import batches_of
from beamlearn.training.settings import Learning

LIGHT = ParserSettings(
    encoder="convolution",
    encoder_size=96,
    encoder_layers=4,
    max_characters=0,
    hidden_size=64,
    history="none",
    dropout=0.1,
    normalize="none",
)
WIDTHS = (1, 4, 8, 16)
BATCH = 64


class Ours:
    """A light parser of this library."""

    name = "beamlearn"

    def __init__(self, train: ParsedSentences, epochs: int) -> None:
        self.parser = Parser.build(LIGHT, train)
        self.examples = examples_of(self.parser, train)
        self.choices = Learning(algorithm="continue")
        self.optimizer = torch.optim.Adam(self.parser.scorer.parameters(), lr=3e-3, fused=True)
        rounds = epochs * -(-len(train) // BATCH)
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer, 1.0, 0.02, rounds)

    def batches(self, epoch: int) -> list[Any]:
        """The batches of an epoch."""
        return batches_of(self.examples, BATCH, torch.Generator().manual_seed(epoch))

    def learn(self, batches: Sequence[Any]) -> None:
        """One pass over the batches."""
        self.parser.scorer.train()
        for _ in learn(
            batches,
            self.parser,
            self.parser.scorer,
            self.optimizer,
            loss=self.choices.surrogate,
            strategy=self.choices.collection(1),
            width=8,
            clip=5.0,
            scheduler=self.schedule,
        ):
            pass

    def parse(self, words: Sequence[Sequence[str]], width: int) -> list[Tree]:
        """The trees of sentences."""
        found = parse(self.parser, words, None, width, confidence=False)
        return [parsing.tree for parsing in in_order(found)]


class Theirs:
    """spaCy's beam parser."""

    name = "spaCy"

    def __init__(self, train: ParsedSentences, epochs: int) -> None:
        import spacy

        self.nlp = spacy.blank("en")
        self.pipe: Any = self.nlp.add_pipe("beam_parser", config={"beam_width": 8})
        self.examples = [self.example(w, t) for w, t in zip(train.words, train.trees, strict=True)]
        self.optimizer = self.nlp.initialize(lambda: self.examples)

    def example(self, words: Sequence[str], tree: Tree) -> Any:
        """A sentence with its tree, as spaCy has it: the root is its own head."""
        from spacy.tokens import Doc
        from spacy.training import Example

        heads = [head - 1 if head else place for place, head in enumerate(tree.heads)]
        names = [r if h else "ROOT" for h, r in zip(tree.heads, tree.relations, strict=True)]
        right = Doc(self.nlp.vocab, words=list(words), heads=heads, deps=names)
        return Example(Doc(self.nlp.vocab, words=list(words)), right)

    def batches(self, epoch: int) -> list[Any]:
        """The batches of an epoch, like those of the other."""
        return batches_of(self.examples, BATCH, torch.Generator().manual_seed(epoch))

    def learn(self, batches: Sequence[Any]) -> None:
        """One pass over the batches."""
        for batch in batches:
            self.nlp.update(batch, sgd=self.optimizer, drop=0.1)

    def parse(self, words: Sequence[Sequence[str]], width: int) -> list[Tree]:
        """The trees of sentences."""
        from spacy.tokens import Doc

        self.pipe.cfg["beam_width"] = width
        docs = (Doc(self.nlp.vocab, words=list(sentence)) for sentence in words)
        return [tree_of(doc) for doc in self.nlp.pipe(docs, batch_size=BATCH)]


def tree_of(doc: Any) -> Tree:
    """What spaCy found."""
    heads = tuple(0 if token.head.i == token.i else token.head.i + 1 for token in doc)
    return Tree(heads, tuple("root" if token.dep_ == "ROOT" else token.dep_ for token in doc))


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--epochs", type=int, default=5)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    train, dev = (
        read_sentences(str(given.data / f"{part}.conllu.gz"), "none") for part in ("train", "dev")
    )
    systems = [make(train, given.epochs) for make in (Ours, Theirs)]
    rows = training(systems, train, given.epochs)
    rows += decoding(systems, dev)
    report("parsing_speed", rows, epochs=given.epochs, batch=BATCH)


def training(systems: Sequence[Any], train: ParsedSentences, epochs: int) -> list[dict[str, Any]]:
    """Train both, epoch by epoch in turns; what counts are whole epochs."""
    seconds: dict[str, list[float]] = {system.name: [] for system in systems}
    for epoch in range(epochs):
        for system in systems:
            began = perf_counter()
            system.learn(system.batches(epoch))
            seconds[system.name].append(perf_counter() - began)
            print(f"{system.name}: epoch {epoch + 1}, {seconds[system.name][-1]:.0f} s", flush=True)
    words = sum(map(len, train.words))
    base = seconds[systems[0].name]
    return [
        {
            "part": "training, beam 8",
            "system": name,
            "words/s": round(words / median(own)),
            "time": median(a / b for a, b in zip(own, base, strict=True)),
            "LAS": "",
        }
        for name, own in seconds.items()
    ]


def decoding(systems: Sequence[Any], dev: ParsedSentences) -> list[dict[str, Any]]:
    """Parse the validation set at every width."""
    rows = []
    words = sum(map(len, dev.words))
    for width in WIDTHS:
        runs: dict[str, Callable[[], object]] = {
            system.name: partial(system.parse, dev.words, width) for system in systems
        }
        found = interleave(runs, seconds=20, least=5)
        for system in systems:
            las = attachment(dev.trees, system.parse(dev.words, width)).las
            rows.append(
                {
                    "part": f"decoding, beam {width}",
                    "system": system.name,
                    "words/s": round(words / found[system.name].seconds),
                    "time": found[system.name].ratio,
                    "LAS": f"{las:.2%}",
                }
            )
    return rows


if __name__ == "__main__":
    main()
