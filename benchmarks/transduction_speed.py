"""Decoding speed on equal weights: Hugging Face `generate`, CTranslate2, and this library.

    python benchmarks/transduction_speed.py RUN FILE

RUN is the folder of a trained transformer (`beamlearn train transduce --model transformer`), FILE
has sources. `pool` is `pooled_search`, which finds what `generate` finds, with early stopping at
width 1, where `generate` is greedy; `early` is the same with early stopping at all widths, which
is how CTranslate2 stops; `pad` is the search that training assumes. Outputs have at most 40
tokens, and scores are divided by the length. Ratios are times divided by that of `generate`, turn
by turn, on one thread; `overhead` is the time of `pad` divided by that of its scorer alone.
"""

import argparse
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import torch
from measure import interleave, report
from same_weights import EOS, PAD, action, ctranslate, hugging_face
from torch.nn.utils.rnn import pad_sequence

from beamlearn import beam_search
from beamlearn.data.pairs import read_sources
from beamlearn.search.pooled_search import pooled_search
from beamlearn.tasks.experiment import load
from beamlearn.tasks.transduction.model import Transducer
from beamlearn.tasks.transduction.space import TransductionExample, TransductionSpace
from beamlearn.tasks.transduction.task import TRANSDUCTION
from beamlearn.tasks.transduction.transformer import TransformerTransducer

BATCHES, WIDTHS, LONGEST = (1, 16, 64), (1, 4, 8, 16), 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model, _ = load(TRANSDUCTION, arguments.run)
    sources = [model.encode(pair.source) for pair in read_sources(arguments.file, "several")]
    scorer = model.scorer
    assert isinstance(model, Transducer)
    assert isinstance(scorer, TransformerTransducer)
    scorer.length_power = 1.0
    with TemporaryDirectory() as folder, torch.inference_mode():
        theirs, fast = hugging_face(scorer), ctranslate(scorer, Path(folder))
        rows = [
            measure(model, scorer, theirs, fast, sorted(sources[:batch], key=len), width)
            for batch in BATCHES
            for width in WIDTHS
        ]
    means = {name: exp(mean(log(row[name]) for row in rows)) for name in ("pool", "pad")}
    print({name: f"{1 / ratio:.2f} x generate" for name, ratio in means.items()})
    report("transduction_speed", rows, geometric_means=means)


def measure(
    model: Transducer,
    scorer: TransformerTransducer,
    theirs: Any,
    fast: Any,
    sources: list[TransductionExample],
    width: int,
) -> dict[str, Any]:
    """One cell of the grid."""
    padded = pad_sequence([s.source + 2 for s in sources], batch_first=True, padding_value=PAD)
    texts = [[_symbol(int(number)) for number in s.source] for s in sources]
    found: dict[str, list[list[int]]] = {}

    def space() -> TransductionSpace:
        limits = [LONGEST - 1] * len(sources)
        return TransductionSpace(sources, model.symbols.actions, limits, model.costs)

    def generate() -> None:
        made = theirs.generate(
            input_ids=padded,
            attention_mask=(padded != PAD).long(),
            num_beams=width,
            do_sample=False,
            max_new_tokens=LONGEST,
            length_penalty=1.0,
            early_stopping=False,
        )
        found["generate"] = [
            [action(int(t)) for t in row[1:] if int(t) not in (PAD, EOS)] for row in made
        ]

    def ctranslate2() -> None:
        made = fast.translate_batch(
            texts, beam_size=width, max_decoding_length=LONGEST, length_penalty=1.0
        )
        found["ctranslate2"] = [[int(t[1:]) for t in one.hypotheses[0]] for one in made]

    def ours(name: str, search: Callable[..., Any], **options: Any) -> Callable[[], None]:
        def run() -> None:
            found[name] = search(space(), scorer, width, **options).outputs

        return run

    times = interleave(
        {
            "generate": generate,
            "pool": ours("pool", pooled_search, early_stopping=width == 1),
            "early": ours("early", pooled_search, early_stopping=True),
            "pad": ours("pad", beam_search),
            "ctranslate2": ctranslate2,
        },
        seconds=4.0,
        least=5,
    )
    row: dict[str, Any] = {"batch": len(sources), "width": width}
    row["generate_ms"] = 1e3 * times["generate"].seconds
    row |= {name: times[name].ratio for name in ("pool", "early", "pad", "ctranslate2")}
    row["early/ctranslate2"] = times["early"].seconds / times["ctranslate2"].seconds
    row["overhead"] = median(overhead(space, scorer, width) for _ in range(5))
    for one, two in (("pool", "generate"), ("early", "ctranslate2")):
        equal = sum(map(list.__eq__, map(list, found[one]), found[two]))
        row[f"{one} = {two}"] = f"{equal}/{len(sources)}"
    return row


def overhead(
    space: Callable[[], TransductionSpace], scorer: TransformerTransducer, width: int
) -> float:
    """The time of a search divided by that of the scorer in it."""
    spent = 0.0
    methods = {name: getattr(scorer, name) for name in ("start", "score", "advance")}

    def timed(name: str) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            nonlocal spent
            began = perf_counter()
            result = methods[name](*arguments)
            spent += perf_counter() - began
            return result

        return run

    for name in methods:
        object.__setattr__(scorer, name, timed(name))
    began = perf_counter()
    beam_search(space(), scorer, width)
    total = perf_counter() - began
    for name in methods:
        object.__delattr__(scorer, name)
    return total / spent


def _symbol(number: int) -> str:
    """A source symbol as CTranslate2 has it."""
    return {0: "</s>", 1: "<unk>"}.get(number, f"s{number}")


if __name__ == "__main__":
    main()
