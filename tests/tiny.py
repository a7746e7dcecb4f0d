"""Taggers and data so small that a training takes a fraction of a second."""

import random
from functools import partial

from beamlearn.tasks import experiment as experiments
from beamlearn.tasks.tagging.model import Tagger
from beamlearn.tasks.tagging.sentences import TaggedSentences
from beamlearn.tasks.tagging.settings import TaggerSettings, TaggingExperiment, TaggingFiles
from beamlearn.tasks.tagging.task import TAGGING
from beamlearn.training.checkpointer import Checkpointer
from beamlearn.training.settings import Learning
from beamlearn.training.trainer import Judgment, Training, fit

TAGS = {"the": "DET", "a": "DET", "old": "ADJ", "man": "NOUN", "dog": "NOUN", "saw": "VERB"}
NETWORK = {
    "context": "streaming",
    "min_count": 1,
    "word_size": 4,
    "affix_length": 1,
    "affix_size": 2,
    "history_size": 8,
    "tag_size": 4,
    "dropout": 0.2,
}
begin, resume, load = (
    partial(function, TAGGING)
    for function in (experiments.begin, experiments.resume, experiments.load)
)


def sentences(count, seed=0):
    """Random words; the tag of one in four depends on the tag before it."""
    draw = random.Random(seed)
    words = [draw.choices(list(TAGS), k=draw.randint(1, 6)) for _ in range(count)]
    return TaggedSentences(words, [tags_of(sentence, draw) for sentence in words])


def tags_of(words, draw):
    tags = []
    for word in words:
        swapped = tags and tags[-1] == "NOUN" and draw.random() < 0.25
        tags.append("ADV" if swapped else TAGS[word])
    return tags


def conllu(path, data):
    """Write sentences as CoNLL-U."""
    lines = []
    for words, tags in zip(data.words, data.tags, strict=True):
        for number, (word, tag) in enumerate(zip(words, tags, strict=True), 1):
            lines.append("\t".join([str(number), word, "_", tag, *"_" * 6]))
        lines.append("")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return str(path)


def by_cost(found):
    return Judgment(found.cost)


def training(train=9, dev=4, network=(), warm=False, judge=by_cost, **learning):
    """A training in memory, of batches of four unless told otherwise."""
    known, unknown = sentences(train), sentences(dev, seed=1)
    tagger = Tagger.build(TaggerSettings(**{**NETWORK, **dict(network)}), known.words, known.tags)
    examples, validation = (
        [tagger.encode(w, t) for w, t in zip(s.words, s.tags, strict=True)]
        for s in (known, unknown)
    )
    chosen = {"width": 3, "batch_size": 4, "epochs": 3, "learning_rate": 0.05, **learning}
    settings = Learning(**chosen)
    return Training(tagger, tagger.scorer, examples, validation, settings, warm=warm, judge=judge)


def experiment(folder, train=12, dev=None, network=(), limit=None, warm_start=None, **learning):
    """An experiment with its files, which are written to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    data = TaggingFiles(
        train=conllu(folder / "train.conllu", sentences(train)),
        dev=None if dev is None else conllu(folder / "dev.conllu", sentences(dev, seed=1)),
        limit=limit,
    )
    chosen = {"width": 3, "batch_size": 4, "epochs": 3, "learning_rate": 0.05, **learning}
    return TaggingExperiment(
        data=data,
        tagger=TaggerSettings(**{**NETWORK, **dict(network)}),
        learning=Learning(**chosen),
        warm_start=None if warm_start is None else str(warm_start),
    )


def finish(prepared, seconds=0.0):
    """Train to the end, as a command does."""
    with prepared.checkpointer.run.lock():
        fit(prepared.training, Checkpointer(prepared.checkpointer.run, seconds))
    return prepared


def part(prepared, events, seconds=0.0):
    """Train for so many events and leave it there, as a killed process does."""
    checkpointer = Checkpointer(prepared.checkpointer.run, seconds)
    for _, event in zip(range(events), prepared.training, strict=False):
        checkpointer(prepared.training, event)


def contents(run):
    """The bytes of everything that a training comes to."""
    files = [run / "model.safetensors", run / "rounds.jsonl"]
    files.append(max((run / "checkpoint").iterdir()))
    return {file.name: file.read_bytes() for file in files}


def newest(run):
    return max((run / "checkpoint").iterdir())


def flip(path, place=-1):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def halve(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
