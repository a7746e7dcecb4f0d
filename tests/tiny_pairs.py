"""Transducers and pairs so small that a training takes a fraction of a second."""

import random
from functools import partial

from beamlearn.tasks import experiment as experiments
from beamlearn.tasks.transduction.model import Transducer
from beamlearn.tasks.transduction.pairs import Pairs
from beamlearn.tasks.transduction.settings import (
    TransducerSettings,
    TransductionExperiment,
    TransductionFiles,
)
from beamlearn.tasks.transduction.task import TRANSDUCTION
from beamlearn.training.settings import Learning

SOUNDS = {"a": "a", "b": "b", "c": "k", "d": "d"}
NETWORK = {"size": 8, "dropout": 0.2, "length_extra": 4}
TRANSFORMER = {"heads": 2, "feedforward": 16}
MODELS = ("lstm", "transformer")
begin, resume, load = (
    partial(function, TRANSDUCTION)
    for function in (experiments.begin, experiments.resume, experiments.load)
)


def spoken(source):
    """How a source sounds, as words: double letters are long, a last d is a t."""
    phones = []
    for place, letter in enumerate(source):
        if place and source[place - 1] == letter:
            phones[-1] = phones[-1].rstrip(":") + ":"
        else:
            phones.append(SOUNDS[letter])
    return " ".join([*phones[:-1], phones[-1].replace("d", "t")] if phones else [])


def sources(count, seed=0, longest=5):
    draw = random.Random(seed)
    return ["".join(draw.choices("abcd", k=draw.randint(1, longest))) for _ in range(count)]


def pairs(count, seed=0, several=False):
    """Random letters and their sounds; with several references, the letters are right as well."""
    found = sources(count, seed)
    references = [(spoken(source), " ".join(source))[: 1 + several] for source in found]
    return Pairs(found, references, [f"pairs:{number}" for number in range(1, count + 1)])


def tsv(data):
    """Pairs as lines."""
    return "".join(
        "\t".join([source, *several]) + "\n"
        for source, several in zip(data.sources, data.references, strict=True)
    )


def settings_of(**chosen):
    """The settings of a small network of the kind that is chosen."""
    more = TRANSFORMER if chosen.get("model") == "transformer" else {}
    return TransducerSettings(**{**NETWORK, **more, "target_tokens": "words", **chosen})


def small(data=None, seed=0, **settings):
    """A transducer of words with random weights, in evaluation mode."""
    chosen = settings_of(**{"normalize": "log_softmax", **settings})
    data = pairs(12) if data is None else data
    transducer = Transducer.build(chosen, data.sources, data.references, seed=seed)
    transducer.scorer.eval()
    return transducer


def experiment(folder, train=12, network=(), warm_start=None, text=None, **learning):
    """An experiment with its file, which is written to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train.tsv"
    path.write_text(tsv(pairs(train)) if text is None else text, encoding="utf-8")
    chosen = {"width": 3, "batch_size": 4, "epochs": 2, "learning_rate": 0.03, **learning}
    return TransductionExperiment(
        data=TransductionFiles(train=str(path)),
        transducer=settings_of(**dict(network)),
        learning=Learning(**chosen),
        warm_start=None if warm_start is None else str(warm_start),
    )
