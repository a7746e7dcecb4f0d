"""How good a transducer is, at one beam width."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeVar

import torch
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from ...evaluation.calibration import calibration_error
from ...evaluation.error_profile import NO_NUMBERS, ErrorProfile
from ...evaluation.evaluate import Evaluation
from ...evaluation.label_errors import LabelErrors
from ...search.beam_search import SearchResult
from ..decoding import decoded
from .decode import Transduction, read_transductions
from .label_errors import label_errors, nearest
from .space import TransductionExample
from .transduction_model import TransductionModel

Found = TypeVar("Found")


@dataclass(frozen=True)
class TransductionReport:
    """The results of `evaluate`; rates are fractions."""

    width: int
    wer: float
    """The share of outputs that are not wholly right."""
    cer: float
    """Token errors (edit distance) per token of the nearest reference: of characters, of phones."""
    bleu: float
    """BLEU of the whole data set, by sacrebleu."""
    chrf: float
    """chrF of the whole data set, by sacrebleu."""
    oracle_wer: float
    """The share of sources for which no output of the final beam is right."""
    cost: float
    """The mean cost of the outputs, which training minimizes."""
    increases_per_example: float
    """Cost increases per source: how often the beam lost its best hypothesis."""
    search_error_rate: float
    """Of the sources with an avoidable cost, the share where the model prefers a right output."""
    calibration_error: float
    """The expected calibration error of the best output's share of the final beam."""
    sources_per_second: float
    words_per_second: float
    """Output tokens per second."""
    profile: ErrorProfile = field(compare=False, repr=False)
    """Where errors happen; not part of `to_json`."""
    evaluation: Evaluation = field(compare=False, repr=False)
    """Source by source, in the order of the data; not part of `to_json`."""
    label_errors: LabelErrors = field(compare=False, repr=False)
    """Token by token, aligned with the nearest references; not part of `to_json`."""

    def to_json(self) -> dict[str, Any]:
        """All numbers."""
        return {name: value for name, value in vars(self).items() if name not in NO_NUMBERS}


def report(
    transducer: TransductionModel,
    sources: Sequence[str],
    references: Sequence[Sequence[str]],
    width: int = 8,
    *,
    batch_size: int = 64,
) -> TransductionReport:
    """Transduce sources with a beam of `width` and compare with their references."""
    examples = (transducer.encode(*pair) for pair in zip(sources, references, strict=True))

    def read(_: Sequence[TransductionExample], result: SearchResult) -> list[Transduction]:
        return read_transductions(transducer, result, width)

    decodings = decoded(transducer, examples, width, batch_size, read)
    found, costs, seconds = decodings.answers, decodings.evaluation, decodings.seconds
    outputs = [one.output for one in found]
    correct = [text in right for text, right in compared(transducer, outputs, references)]
    lists = compared(transducer, [one.nbest for one in found], references)
    listed = [any(way.output in right for way in ways) for ways, right in lists]
    cut = transducer.symbols.target.cut
    best = [one.nbest[0].tokens for one in found]
    right = [[cut(text) for text in several] for several in references]
    sure, certain = torch.tensor([one.confidence for one in found]), torch.tensor(correct)
    return TransductionReport(
        width=width,
        wer=1 - sum(correct) / len(correct),
        cer=token_error_rate(best, right),
        bleu=bleu(outputs, references),
        chrf=chrf(outputs, references),
        oracle_wer=1 - sum(listed) / len(listed),
        cost=costs.cost,
        increases_per_example=costs.increases_per_example,
        search_error_rate=costs.search_error_rate,
        calibration_error=calibration_error(sure, certain),
        sources_per_second=len(outputs) / seconds,
        words_per_second=sum(map(len, best)) / seconds,
        profile=ErrorProfile.of(width, costs, sure, certain),
        evaluation=costs,
        label_errors=label_errors(best, right),
    )


def compared(
    transducer: TransductionModel, found: Sequence[Found], references: Sequence[Sequence[str]]
) -> Iterator[tuple[Found, set[str]]]:
    """Pair what was found with the right texts, cut into tokens and joined again.

    Words lose the number of spaces between them, and subwords what they normalize.
    """
    target = transducer.symbols.target
    for one, several in zip(found, references, strict=True):
        yield one, {target.join(target.cut(text)) for text in several}


def token_error_rate(
    outputs: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]
) -> float:
    """Errors per token, where each output is compared with the reference that is nearest.

    >>> token_error_rate([["a", "b"], ["c"]], [[["a", "x"]], [["c"], ["d"]]])
    0.3333333333333333
    """
    errors = tokens = 0
    for output, several in zip(outputs, references, strict=True):
        right = nearest(output, several)
        errors += Levenshtein.distance(output, right)
        tokens += len(right)
    return errors / max(1, tokens)


def bleu(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """BLEU of a data set as a fraction; `force` keeps it from advice on standard error."""
    return float(BLEU(force=True).corpus_score(list(outputs), _by_rank(references)).score) / 100


def chrf(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """chrF of a data set as a fraction."""
    return float(CHRF().corpus_score(list(outputs), _by_rank(references)).score) / 100


def _by_rank(references: Sequence[Sequence[str]]) -> Any:
    """First references, second ones and so on; None where there are no more."""
    return [list(rank) for rank in zip_longest(*references)]
