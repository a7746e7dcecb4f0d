"""Words per second of a tagger: training and decoding, with and without a beam, beside peers.

    python benchmarks/tagging_speed.py DATA

DATA is a folder with `train.conllu.gz` and `dev.conllu.gz` of a UD treebank. First the streaming
tagger of `supertags.py` (an LSTM of 256 units over the tags of each hypothesis, some 200 tags);
then a part-of-speech tagger that sees the whole sentence, beside CRFsuite and spaCy where they are
installed (`pip install python-crfsuite spacy`). One thread; variants take turns.
"""

import argparse
import cProfile
import pstats
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch
from measure import Timing, interleave, report
from torch import nn

from beamlearn.learning.learn import learn
from beamlearn.learning.ramp import Ramp
from beamlearn.tasks.decoding import search
from beamlearn.tasks.tagging.decode import tag
from beamlearn.tasks.tagging.model import Tagger
from beamlearn.tasks.tagging.network import NeuralTagger
from beamlearn.tasks.tagging.sentences import TaggedSentences, read_sentences
from beamlearn.tasks.tagging.settings import TaggerSettings
from beamlearn.tasks.tagging.space import TaggingExample
from beamlearn.training.batches import batches_of
from beamlearn.training.settings import Learning

STREAMING = TaggerSettings(
    context="streaming",
    history_size=256,
    word_size=64,
    affix_size=64,
    dropout=0.0,
    normalize="none",
)
SENTENCE = TaggerSettings(context="sentence", dropout=0.0, normalize="none")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    torch.set_num_threads(1)
    rows = streaming(*read(data, "supertag"))
    train, dev = read(data, "upos")
    rows += sentence(train, dev)
    report("tagging_speed", rows)


def read(data: Path, column: str) -> tuple[TaggedSentences, TaggedSentences]:
    """The training and the validation set."""
    train, dev = (read_sentences(str(data / f"{s}.conllu.gz"), column) for s in ("train", "dev"))
    return train, dev


def trained(
    settings: TaggerSettings, train: TaggedSentences, width: int
) -> tuple[Tagger, list[Any]]:
    """A tagger after a first few hundred rounds, and batches to go on with."""
    tagger = Tagger.build(settings, train.words, train.tags)
    examples = [tagger.encode(w, t) for w, t in zip(train.words, train.tags, strict=True)]
    batches = batches_of(examples[:6400], 32, torch.Generator().manual_seed(0))
    training(tagger, batches, "continue", width)()
    return tagger, batches


def training(
    tagger: Tagger, batches: Sequence[Any], algorithm: str, width: int
) -> Callable[[], None]:
    """Rounds of an algorithm on all batches."""
    optimizer = torch.optim.Adam(tagger.scorer.parameters(), lr=2e-3)
    choices = Learning(algorithm=algorithm, width=Ramp(width, width))

    def run() -> None:
        tagger.scorer.train()
        strategy = choices.collection(1)
        for _ in learn(
            batches,
            tagger,
            tagger.scorer,
            optimizer,
            loss=choices.surrogate,
            strategy=strategy,
            width=width,
            clip=5.0,
        ):
            pass

    return run


def teacher_forced(
    tagger: Tagger, batches: Sequence[Sequence[TaggingExample]]
) -> Callable[[], None]:
    """The same network in plain PyTorch: one fused LSTM over the right tags, cross-entropy."""
    scorer = tagger.scorer
    assert isinstance(scorer, NeuralTagger)
    history = scorer.history
    lstm = nn.LSTM(history.embedding.embedding_dim, history.size, batch_first=True)
    parameters = [*scorer.parameters(), *lstm.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-9)

    def run() -> None:
        for batch in batches:
            space = tagger.space(batch)
            assert space.gold is not None
            seen = scorer.emit(scorer.context(scorer.words(space.features), space.lengths))
            before = nn.functional.pad(history.embedding(space.gold[:, :-1]), (0, 0, 1, 0))
            scores = seen + scorer.recall(lstm(before)[0])
            inside = torch.arange(scores.shape[1]) < space.lengths[:, None]
            optimizer.zero_grad()
            nn.functional.cross_entropy(scores[inside], space.gold[inside]).backward()
            nn.utils.clip_grad_norm_(parameters, 5.0)
            optimizer.step()

    return run


def decoding(tagger: Tagger, dev: TaggedSentences, width: int) -> Callable[[], None]:
    """Search all sentences, from numbers to back-pointers."""
    batches = batches_of([tagger.encode(words) for words in dev.words], 64)

    def run() -> None:
        for batch in batches:
            search(tagger, batch, width)

    return run


def tagging(tagger: Tagger, dev: TaggedSentences, width: int) -> Callable[[], object]:
    """Tag all sentences, from words to tags and confidences."""
    return lambda: list(tag(tagger, dev.words, width))


def rows_of(part: str, found: dict[str, Timing], words: int) -> list[dict[str, Any]]:
    """Words per second, and time relative to the first variant."""
    return [
        {"part": part, "variant": name, "words/s": round(words / t.seconds), "time": t.ratio}
        for name, t in found.items()
    ]


def streaming(train: TaggedSentences, dev: TaggedSentences) -> list[dict[str, Any]]:
    """The tagger of the supertag table."""
    tagger, batches = trained(STREAMING, train, 8)
    few = batches[:24]
    variants: dict[str, Callable[[], object]] = {
        "likelihood": training(tagger, few, "log_likelihood", 1),
        "beam 2": training(tagger, few, "continue", 2),
        "beam 4": training(tagger, few, "continue", 4),
        "beam 8": training(tagger, few, "continue", 8),
        "likelihood, plain PyTorch": teacher_forced(tagger, few),
    }
    found = rows_of("training, 199 tags", interleave(variants), sum(len(e) for b in few for e in b))
    some = dev.take(range(0, len(dev), 4))
    variants = {
        "greedy": decoding(tagger, some, 1),
        "beam 8": decoding(tagger, some, 8),
        "greedy, to tags": tagging(tagger, some, 1),
        "beam 8, to tags": tagging(tagger, some, 8),
    }
    words = sum(map(len, some.words))
    found += rows_of("decoding, 199 tags", interleave(variants), words)
    for name, run in (
        ("training", training(tagger, few, "continue", 8)),
        ("decoding", variants["beam 8"]),
    ):
        profile(name, run)
    return found


def profile(name: str, run: Callable[[], object]) -> None:
    """Print where the time goes at width 8."""
    with cProfile.Profile() as seen:
        run()
    print(f"\n{name} at width 8, by own time")
    pstats.Stats(seen).sort_stats("tottime").print_stats(14)


def sentence(train: TaggedSentences, dev: TaggedSentences) -> list[dict[str, Any]]:
    """Part-of-speech tagging beside peers, from words to tags."""
    tagger, _ = trained(SENTENCE, train, 4)
    linear, _ = trained(SENTENCE.model_copy(update={"model": "linear"}), train, 1)
    some = dev.take(range(0, len(dev), 4))
    variants = {
        "greedy": tagging(tagger, some, 1),
        "beam 8": tagging(tagger, some, 8),
        "linear, greedy": tagging(linear, some, 1),
        "linear, beam 8": tagging(linear, some, 8),
    }
    for peer in (crfsuite, spacy_tagger):
        try:
            variants |= peer(train, some)
        except ImportError as missing:
            print(f"{peer.__name__}: left out, {missing}")
    words = sum(map(len, some.words))
    return rows_of("decoding, 17 tags", interleave(variants), words)


def features(words: Sequence[str]) -> list[list[str]]:
    """The usual features of a word and of two words on each side, for CRFsuite."""
    rows = []
    for place, word in enumerate(words):
        row = [f"w={word}", f"l={word.lower()}", f"title={word.istitle()}", f"up={word.isupper()}"]
        row += [f"p{n}={word[:n]}" for n in (1, 2, 3)] + [f"s{n}={word[-n:]}" for n in (1, 2, 3, 4)]
        row += [
            f"{j}={words[place + j].lower() if 0 <= place + j < len(words) else '_'}"
            for j in (-2, -1, 1, 2)
        ]
        rows.append(row)
    return rows


def crfsuite(train: TaggedSentences, dev: TaggedSentences) -> dict[str, Callable[[], object]]:
    """A linear-chain CRF; a few passes are enough to time it."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    for words, tags in islice(zip(train.words, train.tags, strict=True), 6400):
        trainer.append(features(words), tags)
    trainer.set_params({"max_iterations": 3})
    path = Path("build/crfsuite.model")
    path.parent.mkdir(exist_ok=True)
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return {"CRFsuite": lambda: [tagger.tag(features(words)) for words in dev.words]}


def spacy_tagger(train: TaggedSentences, dev: TaggedSentences) -> dict[str, Callable[[], object]]:
    """spaCy's default tagger on words that are already split."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")
    docs = [Doc(nlp.vocab, words=words) for words in train.words[:640]]
    examples = [
        Example.from_dict(doc, {"tags": tags}) for doc, tags in zip(docs, train.tags, strict=False)
    ]
    nlp.initialize(lambda: examples)
    for batch in islice(cycle([examples[i : i + 64] for i in range(0, 640, 64)]), 20):
        nlp.update(batch)

    def run() -> list[Any]:
        return list(nlp.pipe([Doc(nlp.vocab, words=words) for words in dev.words], batch_size=64))

    return {"spaCy": run}


if __name__ == "__main__":
    main()
