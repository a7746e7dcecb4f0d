"""Transduction on the command line."""

from collections.abc import Iterator, Mapping
from typing import Any, cast, final

from ..check import check_choice
from ..data.pairs import Allowed, Pair, read_sources
from ..data.text import DataError, name_of
from ..tasks.decoding import in_order
from ..tasks.transduction.decode import Transduced, Transduction, transduce
from ..tasks.transduction.model import Transducer
from ..tasks.transduction.pairs import Pairs, read_pairs
from ..tasks.transduction.settings import TransductionExperiment
from ..tasks.transduction.task import TRANSDUCTION
from .task import Asked, Options, TaskCommands, behind_bar, json_lines

READINGS = ("one", "several", "merged")
"""What lines say of references: with `merged`, those with the same source are one example."""


@final
class TransduceCommands(TaskCommands[TransductionExperiment, Pairs, Transducer]):
    """What the commands say and do for transducers."""

    kind = TRANSDUCTION
    help = """Train a transducer: a string for each string, from lines of source, tab and target.

    [bold]Examples[/bold]

    beamlearn train transduce --train words.tsv --dev dev.tsv --target-tokens words --out runs/g2p

    beamlearn train transduce --train names.tsv --model transformer --layers 2 --out runs/names

    beamlearn train transduce --out runs/g2p --resume
    """
    options = frozenset({"references"})
    table: Mapping[str, str] = {
        "wer": "wrong outputs",
        "cer": "token errors",
        "oracle_wer": "no right output in the beam",
        "bleu": "BLEU",
        "chrf": "chrF",
        "increases_per_example": "cost increases / source",
        "search_error_rate": "search errors",
        "calibration_error": "calibration error",
        "sources_per_second": "sources/s",
        "words_per_second": "tokens/s",
    }

    def size(self, model: Transducer, examples: int) -> str:
        symbols = model.symbols
        return (
            f"{examples:,} pairs, source symbols: {len(symbols.source_symbols)}, target tokens: "
            f"{len(symbols.target_tokens)}"
        )

    def score(self, result: Mapping[str, Any]) -> str:
        return f"wrong outputs {result['wer']:.2%}, token errors {result['cer']:.2%}"

    def predict(self, model: Transducer, experiment: TransductionExperiment, asked: Asked) -> str:
        pairs = read_sources(asked.input, "several")
        found = transduce(model, [pair.source for pair in pairs], asked.width, nbest=asked.nbest)
        transductions = in_order(behind_bar(found, len(pairs), "transducing"))
        told = list(zip(pairs, transductions, strict=True))
        if asked.as_json:
            return json_lines(record(pair, transduction) for pair, transduction in told)
        listing, name = asked.listing, name_of(asked.input)
        return "".join(line for one in told for line in lines(*one, listing=listing, name=name))

    def read(
        self, file: str, model: Transducer, experiment: TransductionExperiment, options: Options
    ) -> Pairs:
        pairs = read(file, options.get("references", experiment.references))
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
            f"{where}: An output must have no tabs and line ends to be written on a line, but "
            f"{way.output!r:.60} was found; write JSON lines with --json."
        )
    return way.output


def read(file: str, references: str) -> Pairs:
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
            f"{name}: Target tokens such as {shown(symbols.target_tokens)} were expected, but the "
            f"model knows none of {shown(sorted(found))}; use a file with targets like those of "
            "the training data."
        )


def shown(tokens: list[str] | tuple[str, ...]) -> str:
    """Some tokens, so that one can tell spaces."""
    return ", ".join(map(repr, tokens[:3]))
