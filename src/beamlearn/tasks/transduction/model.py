"""Transducer: symbols and a scorer, which together make spaces of sources."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, final

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ...learning.iterates import Mixture
from ...search.oracle import Oracle
from ...search.output_cost import Cost
from ...search.rollout import RolloutOracle
from ...search.scorer import Scorer
from .cost_names import PREFIX
from .edit import edit_distance
from .exact_match import exact_match
from .hamming import padded_hamming
from .oracles import numbered, oracle_of
from .recurrent import RecurrentTransducer
from .settings import TransducerSettings
from .space import Distance, TransductionExample, TransductionSpace
from .symbols import Symbols
from .text_costs import cost_of_outputs
from .tokens import read_tokenizer
from .transformer import TransformerTransducer


@final
class Transducer:
    """A transduction model; to `learn` and `evaluate` it is the task."""

    def __init__(
        self,
        settings: TransducerSettings,
        symbols: Symbols,
        scorer: Scorer,
        device: torch.device | str = "cpu",
    ) -> None:
        self.settings, self.symbols, self.scorer = settings, symbols, scorer.to(device)
        self.mixture: Mixture | None = None
        self.device = torch.device(device)

    @classmethod
    def build(
        cls,
        settings: TransducerSettings,
        sources: Sequence[str],
        references: Sequence[Sequence[str]],
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> "Transducer":
        """A new transducer for the pairs of a training set, with random weights."""
        symbols = Symbols.of(
            sources,
            references,
            source=read_tokenizer(settings.source_tokens),
            target=read_tokenizer(settings.target_tokens),
            source_min_count=settings.source_min_count,
            target_min_count=settings.target_min_count,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(settings, symbols, scorer_of(settings, symbols), device)

    def vocabulary(self) -> dict[str, Any]:
        """The symbols, for vocabulary.json."""
        return self.symbols.to_json()

    def encode(self, source: str, references: Sequence[str] = ()) -> TransductionExample:
        """A source in numbers, with its right outputs if they are known."""
        symbols = self.symbols
        return TransductionExample(
            symbols.number_source(symbols.source.cut(source)),
            tuple(symbols.number_target(symbols.target.cut(text)) for text in references),
            tuple(references) if self.settings.rolls_out else (),
        )

    def limit(self, source: TransductionExample) -> int:
        """How many tokens its outputs have at most; the end of a source is none of its symbols."""
        settings = self.settings
        symbols = len(source) - 1
        return int(round(settings.length_factor * symbols, 6)) + settings.length_extra

    def space(self, batch: Sequence[TransductionExample]) -> TransductionSpace:
        """The search space of a batch."""
        return TransductionSpace(
            batch,
            self.symbols.actions,
            [self.limit(example) for example in batch],
            self.costs,
            distance=self.distance,
            finish=self.settings.finish,
            device=self.device,
            names=self.symbols.target_tokens,
        )

    @property
    def longest_source(self) -> int | None:
        """Sources may be of any length."""
        return None

    def longest_output(self, source: TransductionExample) -> int | None:
        """And so may outputs."""
        return None

    @property
    def vectors(self) -> int:
        """How many numbers it keeps for a symbol."""
        return self.settings.size * self.settings.layers

    @property
    def keeps_past(self) -> bool:
        """Does it keep as many for each token of a hypothesis, too?"""
        return self.settings.model == "transformer"

    @property
    def distance(self) -> Distance | None:
        """What an output costs by one reference, where that is a distance."""
        if self.settings.cost == "edit":
            return lambda output, reference: edit_distance(output, reference, *self.edits)
        return {"hamming": padded_hamming, "exact": exact_match}.get(self.settings.cost)

    @property
    def edits(self) -> tuple[float, float, float]:
        """What an insertion, a deletion and a substitution cost."""
        return self.settings.insertion, self.settings.deletion, self.settings.substitution

    def costs(self, space: TransductionSpace) -> Oracle:
        """The completion costs of a space."""
        exact = partial(oracle_of, edits=self.edits, spelling=lambda: self.spelling)
        if not self.settings.rolls_out:
            return exact(self.settings.cost, space)
        return RolloutOracle(self.cost_of_outputs, reference=partial(exact, "edit"))

    @cached_property
    def cost_of_outputs(self) -> Cost:
        """What whole outputs cost, where only that is known."""
        return cost_of_outputs(self.settings.cost.removeprefix(PREFIX), self.text)

    @cached_property
    def spelling(self) -> Int[Tensor, "actions longest"]:
        """The characters of every action in numbers, as `ChrfOracle` takes them."""
        rows = numbered(("", *map(self.letters, self.symbols.target_tokens)))
        tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
        return pad_sequence(tensors, batch_first=True, padding_value=-1)

    def letters(self, token: str) -> str:
        """What a token adds to a text, without white space.

        It is asked for twice, as at the beginning of a text a piece of a word may stay marked.
        """
        join = self.symbols.target.join
        once, twice = ("".join(join([token] * times).split()) for times in (1, 2))
        return twice[len(once) :]

    def text(self, tokens: Sequence[int]) -> str:
        """An output as text."""
        return self.symbols.target.join(self.symbols.spell(tokens))


def scorer_of(settings: TransducerSettings, symbols: Symbols) -> Scorer:
    """The scorer that the settings describe."""
    sizes = {"size": settings.size, "layers": settings.layers}
    scorer: RecurrentTransducer | TransformerTransducer
    if settings.model == "lstm":
        scorer = RecurrentTransducer(
            symbols.source_size, symbols.actions, **sizes, dropout=settings.dropout
        )
    else:
        scorer = TransformerTransducer(
            symbols.source_size,
            symbols.actions,
            **sizes,
            heads=settings.heads,
            feedforward=settings.feedforward,
            dropout=settings.dropout,
        )
    scorer.accumulate, scorer.normalize = settings.accumulate, settings.normalization
    scorer.length_power, scorer.length_bonus = settings.length_power, settings.length_bonus
    return scorer
