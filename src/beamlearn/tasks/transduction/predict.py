"""What `predict` writes for transducers, and what they are tested on."""

from collections.abc import Iterator
from typing import Any, cast

from ...check import check_choice
from ...data.pairs import Allowed, Pair, read_sources
from ...data.text import DataError, name_of
from ..decoding import in_order, json_lines
from ..task import Options, PredictionRequest
from .decode import Transduced, Transduction, transduce
from .model import Transducer
from .pairs import Pairs, read_pairs
from .settings import TransductionExperiment

READINGS = ("one", "several", "merged")
"""What lines say of references: with `merged`, those with the same source are one example."""


def predictions(model: Transducer, request: PredictionRequest) -> str:
    """Lines of source, tab and output, or JSON lines."""
    pairs = read_sources(request.input, "several")
    sources = [pair.source for pair in pairs]
    found = transduce(model, sources, request.width, nbest=request.nbest)
    transductions = in_order(request.progress(found, len(pairs), "transducing"))
    decoded = list(zip(pairs, transductions, strict=True))
    if request.as_json:
        return json_lines(record(pair, transduction) for pair, transduction in decoded)
    listing, name = request.listing, name_of(request.input)
    return "".join(line for one in decoded for line in lines(*one, listing=listing, name=name))


def labeled(
    file: str, model: Transducer, experiment: TransductionExperiment, options: Options
) -> Pairs:
    """Pairs of which the model knows at least one target token."""
    pairs = read_references(file, options.get("references", experiment.references))
    check_targets(model, pairs, name_of(file))
    return pairs


def record(pair: Pair, transduction: Transduction) -> dict[str, Any]:
    """What a transducer says of a source, as JSON has it."""
    nbest = [
        {"output": way.output, "score": way.score, "probability": way.probability}
        for way in transduction.nbest
    ]
    return {
        "source": pair.source,
        "output": transduction.output,
        "confidence": transduction.confidence,
        "nbest": nbest,
    }


def lines(pair: Pair, transduction: Transduction, *, listing: bool, name: str) -> Iterator[str]:
    """Source, tab and output; in a list of outputs also the score and the probability of each."""
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


def check_targets(model: Transducer, pairs: Pairs, name: str) -> None:
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


def shown(tokens: list[str] | tuple[str, ...]) -> str:
    """Some tokens, so that one can tell spaces."""
    return ", ".join(map(repr, tokens[:3]))
