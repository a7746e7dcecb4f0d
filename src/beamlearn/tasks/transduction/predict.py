"""What `predict` writes for transducers, and what they are tested on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast, final

from ...check import check_choice
from ...data.document import like_conllu
from ...data.pairs import Allowed, Pair, parse_sources
from ...data.text import DataError, name_of
from ...data.windows import Window
from ..decoding import json_lines
from ..footprint import fitting
from ..sampling import sampled
from ..task import Answering, Options, PredictionRequest
from .decode import Transduced, Transduction, needed, transduce
from .lengths import check_sources, readable
from .matching import matching, roomy
from .pairs import Pairs, read_pairs
from .settings import TransductionExperiment
from .transduction_model import TransductionModel

READINGS = ("one", "several", "merged")
"""What lines say of references: with `merged`, those with the same source are one example."""


@final
@dataclass(frozen=True)
class TransductionAnswering(Answering):
    """Lines of source, tab and output, or JSON lines."""

    def sentences(self, window: Window) -> int:
        data = window.data
        return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))

    def check(self, window: Window) -> None:
        window.lines()

    def check_opening(self, model: TransductionModel, opening: Window) -> None:
        check_kind(opening.lines(), opening.name)

    def answer(self, model: TransductionModel, window: Window, request: PredictionRequest) -> str:
        name, lines = window.name, window.lines()
        pairs = parse_sources(lines, name, "several", window.start.line)
        return transduced(model, pairs, name, request)


def transduced(
    model: TransductionModel, pairs: Sequence[Pair], name: str, request: PredictionRequest
) -> str:
    """What is written for some lines."""
    constraint = matching(model, request.options.get("pattern"))
    given = [
        pair
        for pair in pairs
        if readable(model, pair, name, request.refuse)
        and roomy(model, constraint, pair, name, request.refuse)
    ]
    needs = [needed(model, pair.source, request.width) for pair in given]
    fits = [given[i] for i in fitting(needs, [pair.line for pair in given], name, request)]
    sources, numbers = [pair.source for pair in fits], [pair.line - 1 for pair in fits]
    if request.sample:
        encoded = map(model.encode, sources)
        spell = partial(spelled, model)
        drawn = sampled(model, encoded, request, numbers, spell, constraint)
        samples = dict(request.progress(drawn, len(fits), "sampling"))
        return json_lines(
            {"source": pair.source, "sample": samples.get(pair.line - 1, [])} for pair in pairs
        )
    found = transduce(
        model, sources, request.width, nbest=request.nbest, numbers=numbers, constraint=constraint
    )
    answers = dict(request.progress(found, len(fits), "transducing"))
    decoded = [(pair, answers.get(pair.line - 1)) for pair in pairs]
    if request.as_json:
        return json_lines(record(*one) for one in decoded)
    listing = request.listing
    return "".join(line for one in decoded for line in lines(*one, listing=listing, name=name))


def spelled(model: TransductionModel, output: Sequence[int]) -> dict[str, str]:
    """A sampled output, as JSON has it."""
    return {"output": model.text(output)}


def check_kind(opening: Sequence[str], name: str) -> None:
    """Refuse a file of annotated words: each of its lines would be a source."""
    if like_conllu(opening):
        raise DataError(
            f"{name}: A transducer reads one source on each line, but this is a CoNLL-U file; give "
            "the texts alone."
        )


def labeled(
    file: str, model: TransductionModel, experiment: TransductionExperiment, options: Options
) -> Pairs:
    """Pairs of which the model knows at least one target token."""
    pairs = read_references(file, options.get("references", experiment.references))
    check_sources(model, map(model.encode, pairs.sources), pairs.places)
    check_targets(model, pairs, name_of(file))
    return pairs


def record(pair: Pair, transduction: Transduction | None) -> dict[str, Any]:
    """What a transducer says of a source, as JSON has it; None: there was not enough memory."""
    nbest = [
        {"output": way.output, "score": way.score, "probability": way.probability}
        for way in (transduction.nbest if transduction else ())
    ]
    return {
        "source": pair.source,
        "output": transduction and transduction.output,
        "confidence": transduction and transduction.confidence,
        "nbest": nbest,
    }


def lines(
    pair: Pair, transduction: Transduction | None, *, listing: bool, name: str
) -> Iterator[str]:
    """Source, tab and output; in a list of outputs also the score and the probability of each.

    A source that there was not enough memory for stands alone, without a tab.
    """
    if transduction is None:
        yield f"{pair.source}\n"
        return
    for way in transduction.nbest:
        fields = [pair.source, written(way, f"{name}:{pair.line}")]
        numbers = [f"{way.score:.6f}", f"{way.probability:.6f}"] if listing else []
        yield "\t".join([*fields, *numbers]) + "\n"


def written(way: Transduced, where: str) -> str:
    """An output as it can be a field of a line."""
    if any(character in way.output for character in "\t\n\r"):
        raise DataError(
            f"{where}: An output must have no tabs and line ends to be written on a line, got "
            f"{way.output!r:.60}; write JSON lines.",
            "json",
        )
    return way.output


def read_references(file: str, references: str) -> Pairs:
    """Read a file with right answers."""
    check_choice(references, READINGS, "way to read references")
    merge = references == "merged"
    return read_pairs(file, "several" if merge else cast(Allowed, references), merge=merge)


def check_targets(model: TransductionModel, pairs: Pairs, name: str) -> None:
    """Refuse targets of which the model knows no token: they are of another kind."""
    symbols = model.symbols
    texts = (text for several in pairs.references for text in several)
    found = {token for text in texts for token in symbols.target.cut(text)}
    if found and not found & symbols.target_numbers.keys():
        raise DataError(
            f"{name}: Expected target tokens such as {shown(symbols.target_tokens)}, got "
            f"{shown(sorted(found))}, of which the model knows none; use a file with targets like "
            "those of the training data."
        )


def shown(tokens: Sequence[str]) -> str:
    """Some tokens, so that one can tell spaces."""
    return ", ".join(map(repr, tokens[:3]))
