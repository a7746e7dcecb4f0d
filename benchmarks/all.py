"""Every benchmark of speed with short settings, in one table of ratios, so that a slowdown shows.

    python benchmarks/all.py [DATA] [--minutes 20]

DATA is a folder with `train.conllu.gz` and `dev.conllu.gz` of a UD treebank; without it, what needs
sentences is left out. So are peers that are not installed. All ratios are of times on one thread,
taken in turns, and those that are not at their aim are marked. No part begins after the limit.
For numbers to quote, run the scripts themselves: `selection.py`, `search_overhead.py`,
`training_round.py`, `tagging_speed.py`, `parsing_speed.py`, and those of transducers, which need a
trained model (`transduction_speed.py`, `transduction_round.py`).
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import parsing_speed
import search_overhead
import selection
import synthetic
import tagging_speed
import torch
import training_round
from measure import Timing, interleave, report

from beamlearn.tasks.parsing.sentences import read_sentences as read_trees

SENTENCES, PARSED = 1200, 200
"""How many sentences are trained on, and decoded."""
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--minutes", type=float, default=20.0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    began, rows = perf_counter(), list[Row]()
    for name, part in parts(given.data).items():
        if perf_counter() - began > 60 * given.minutes:
            print(f"{name}: left out, {given.minutes:g} minutes are over")
            continue
        try:
            rows += part()
        except ImportError as missing:
            print(f"{name}: left out, {missing}")
        print(f"{name}: done after {perf_counter() - began:.0f} s", flush=True)
    report("all", rows, minutes=(perf_counter() - began) / 60)


def parts(data: Path | None) -> Mapping[str, Callable[[], list[Row]]]:
    """What is measured, the cheapest first."""
    found: dict[str, Callable[[], list[Row]]] = {
        "selection": lambda: list(choosing()),
        "search": lambda: list(searching()),
        "rounds": lambda: list(rounds()),
    }
    if data is None:
        print("tagging, parsing: left out, no DATA is given")
        return found
    return found | {
        "tagging with a stream": partial(streaming, data),
        "tagging": partial(tagging, data),
        "parsing": partial(parsing, data),
    }


def row(work: str, against: str, ratio: float, aim: float | None = None) -> Row:
    """The time of some work, as a multiple of that of other work."""
    missed = "" if aim is None or ratio <= aim else "missed"
    return {"work": work, "time / that of": against, "ratio": ratio, "aim": aim or "", "": missed}


def choosing() -> Iterator[Row]:
    """The next beam, against `torch.topk`."""
    for actions, aim in ((200, 1.1), (32_000, 0.2)):
        found = selection.row(8, actions, None)
        yield row(f"select 8 of 8 x {actions:,}", "torch.topk", found["ours/plain"], aim)


def searching() -> Iterator[Row]:
    """A whole search against its scorer."""
    torch.manual_seed(0)
    space, scorer = synthetic.sentences(), synthetic.Recurrent()
    for width, aim in ((1, None), (8, 1.3)):
        moves = search_overhead.recorded_moves(space, scorer, width)
        found = search_overhead.row(space, scorer, width, moves)
        yield row(f"search, width {width}", "its scorer", found["search/scorer"], aim)


def rounds() -> Iterator[Row]:
    """A round of `learn` against cross-entropy, step by step."""
    for width in (1, 8):
        found = training_round.row(width)
        name = f"a round, width {width}, step by step"
        yield row(name, "cross-entropy", found["learn/likelihood"])
        yield row(name, "cross-entropy on as many rows", found["learn/rows"], 1.3)


def compared(found: Mapping[str, Timing], pairs: Mapping[tuple[str, str], float]) -> list[Row]:
    """The ratio of each pair that was timed."""
    return [
        row(one, other, found[one].seconds / found[other].seconds, aim)
        for (one, other), aim in pairs.items()
        if one in found and other in found
    ]


def streaming(data: Path) -> list[Row]:
    """Rounds of a streaming tagger against likelihood, and that against one fused layer."""
    train, _ = (some.take(range(SENTENCES)) for some in tagging_speed.read(data, "supertag"))
    tagger, batches = tagging_speed.trained(tagging_speed.STREAMING, train, 8)
    few = batches[:12]
    variants: dict[str, Callable[[], object]] = {
        "a round by likelihood, tagging": tagging_speed.training(tagger, few, "log_likelihood", 1),
        "a round at width 8, tagging": tagging_speed.training(tagger, few, "continue", 8),
        "one fused nn.LSTM": tagging_speed.teacher_forced(tagger, few),
    }
    likelihood, beam, fused = variants
    return compared(interleave(variants), {(likelihood, fused): 1.2, (beam, likelihood): 2.0})


def tagging(data: Path) -> list[Row]:
    """Tagging from words to tags, beside peers."""
    train, dev = tagging_speed.read(data, "upos")
    train, dev = train.take(range(SENTENCES)), dev.take(range(PARSED))
    own, _ = tagging_speed.trained(tagging_speed.SENTENCE, train, 4)
    plain = tagging_speed.SENTENCE.model_copy(update={"model": "linear"})
    linear, _ = tagging_speed.trained(plain, train, 1)
    variants: dict[str, Callable[[], object]] = {
        "tagging, greedy": tagging_speed.tagging(own, dev, 1),
        "tagging, width 8": tagging_speed.tagging(own, dev, 8),
        "linear tagging, width 8": tagging_speed.tagging(linear, dev, 8),
    }
    greedy, beam, hashed = variants
    for peer in (tagging_speed.crfsuite, tagging_speed.spacy_tagger):
        try:
            variants |= peer(train, dev)
        except ImportError as missing:
            print(f"{peer.__name__}: left out, {missing}")
    aims = {(beam, greedy): 1.5, (beam, "spaCy"): 1.0, (hashed, "CRFsuite"): 2.0}
    return compared(interleave(variants), aims)


def parsing(data: Path) -> list[Row]:
    """Parsing from words to trees, beside spaCy's beam."""
    train, dev = (read_trees(str(data / f"{s}.conllu.gz"), "none") for s in ("train", "dev"))
    train, dev = train.take(range(SENTENCES)), dev.take(range(PARSED))
    systems: dict[str, Any] = {"ours": parsing_speed.Ours(train, 1)}
    try:
        systems["spaCy"] = parsing_speed.Theirs(train, 1)
    except ImportError as missing:
        print(f"spaCy: left out, {missing}")
    for system in systems.values():
        system.learn(system.batches(0))
    variants: dict[str, Callable[[], object]] = {
        f"parsing, width {width}{'' if name == 'ours' else ', spaCy'}": partial(
            system.parse, dev.words, width
        )
        for name, system in systems.items()
        for width in (1, 8)
    }
    aims = {
        ("parsing, width 8", "parsing, width 1"): 1.3,
        ("parsing, width 8", "parsing, width 8, spaCy"): 0.4,
    }
    return compared(interleave(variants), aims)


if __name__ == "__main__":
    main()
