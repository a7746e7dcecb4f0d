"""How good a parser is, at one beam width."""

from collections.abc import Sequence, Sized
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import torch

from ...data.packed import PackedLists
from ...evaluation.calibration import calibration_error
from ...evaluation.error_profile import NO_NUMBERS, ErrorProfile
from ...evaluation.evaluate import Evaluation
from ...evaluation.label_errors import LabelErrors
from ...training.batches import LazyExamples
from ..decoding import BATCH, decoded
from .attachment import Attachment, arcs_of, attachment
from .decode import read_parsings
from .label_errors import label_errors
from .model import Parser
from .sentences import ParsedSentences
from .space import ParsingExample


@dataclass(frozen=True)
class ParsingReport:
    """The results of `evaluate`; rates are fractions."""

    width: int
    attachment: Attachment
    """Compared with the trees in the data, however crossing arcs were learned."""
    cost: float
    """Wrong arcs per sentence, of the trees that are learned."""
    optimum: float
    """The wrong arcs per sentence that cannot be avoided."""
    increases_per_example: float
    """Cost increases per sentence: how often the beam lost its best hypothesis."""
    search_error_rate: float
    """Of the sentences that could be parsed better, the share where the model prefers the better
    parse."""
    calibration_error: float
    """The expected calibration error of the confidences of single arcs."""
    words_per_second: float
    profile: ErrorProfile = field(compare=False, repr=False)
    """Where errors happen; not part of `to_json`."""
    evaluation: Evaluation = field(compare=False, repr=False)
    """Sentence by sentence, in the order of the data; not part of `to_json`."""
    label_errors: LabelErrors = field(compare=False, repr=False)
    """Relation by relation; not part of `to_json`."""

    def to_json(self) -> dict[str, Any]:
        """All numbers, those of the attachment among the others."""
        found = {name: value for name, value in vars(self).items() if name not in NO_NUMBERS}
        return {"width": found.pop("width"), **asdict(found.pop("attachment")), **found}


def report(
    parser: Parser, data: ParsedSentences, width: int = 8, *, batch_size: int = BATCH
) -> ParsingReport:
    """Parse sentences with a beam of `width` and compare with their right trees."""
    examples = examples_of(parser, data)
    found = decoded(parser, examples, width, batch_size, partial(read_parsings, parser))
    parsings, costs = found.answers, found.evaluation
    right: list[bool] = []
    confidence: list[float] = []
    for tree, parsing in zip(data.trees, parsings, strict=True):
        right += map(tuple.__eq__, arcs_of(tree), arcs_of(parsing.tree))
        confidence += parsing.confidence
    sure, correct = torch.tensor(confidence), torch.tensor(right, dtype=torch.bool)
    trees = [parsing.tree for parsing in parsings]
    return ParsingReport(
        width=width,
        attachment=attachment(data.trees, trees),
        cost=costs.cost,
        optimum=costs.optimum,
        increases_per_example=costs.increases_per_example,
        search_error_rate=costs.search_error_rate,
        calibration_error=calibration_error(sure, correct),
        words_per_second=len(right) / found.seconds,
        profile=ErrorProfile.of(width, costs, sure, correct),
        evaluation=costs,
        label_errors=label_errors(data.trees, trees),
    )


def examples_of(parser: Parser, data: ParsedSentences) -> Sequence[Sized]:
    """Sentences in numbers, with their right trees."""

    def encoded(place: int) -> ParsingExample:
        tags = None if data.tags is None else data.tags[place]
        return parser.encode(data.words[place], tags, data.trees[place])

    if isinstance(data.words, PackedLists):
        return LazyExamples(encoded, data.words.lengths.tolist())
    return [encoded(place) for place in range(len(data))]
