"""Parser: a lexicon and a scorer, which together make spaces of sentences."""

from collections.abc import Sequence
from typing import Any, final

import torch
from jaxtyping import Int
from torch import Tensor

from ...learning.iterates import Mixture
from ...nn.context import Bidirectional, Convolution
from ...nn.incremental import Incremental
from ...search.scorer import Scorer
from ..words import read_pretrained, word_vectors
from .actions import LOST, Actions
from .arc_eager import ArcEager
from .arc_hybrid import ArcHybrid
from .arc_standard import ArcStandard
from .covington import Covington
from .lexicon import ParsingLexicon, projected
from .network import NeuralParser, Sight
from .projective import MARK, plain
from .sentences import ParsedSentences
from .settings import ParserSettings
from .space import ParsingExample, ParsingSpace
from .system import AnySystem
from .tree import Tree

SYSTEMS: dict[str, AnySystem] = {
    "arc-hybrid": ArcHybrid(),
    "arc-eager": ArcEager(),
    "arc-standard": ArcStandard(),
    "covington": Covington(),
}
"""Every transition system by its name."""


@final
class Parser:
    """A parsing model; to `learn` and `evaluate` it is the task."""

    def __init__(
        self,
        settings: ParserSettings,
        lexicon: ParsingLexicon,
        scorer: Scorer,
        device: torch.device | str = "cpu",
    ) -> None:
        self.settings, self.lexicon, self.scorer = settings, lexicon, scorer.to(device)
        self.mixture: Mixture | None = None
        self.device = torch.device(device)
        self.system = SYSTEMS[settings.system]
        self.actions = actions_of(settings, lexicon, device)
        self.marks = torch.tensor(
            [settings.encodes and MARK in name for name in self.actions.names], device=device
        )
        """Which actions mark a lifted word."""

    @classmethod
    def build(
        cls,
        settings: ParserSettings,
        data: ParsedSentences,
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> "Parser":
        """A new parser for a training set, with random weights."""
        names, table = read_pretrained(settings.vectors)
        size = 0 if table is None else table.shape[1]
        lexicon = ParsingLexicon.of(settings, data, vectors=names, vector_size=size)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(settings, lexicon, scorer_of(settings, lexicon, table), device)

    def vocabulary(self) -> dict[str, Any]:
        """Its words, tags and relations, for vocabulary.json."""
        return self.lexicon.to_json()

    def encode(
        self, words: Sequence[str], tags: Sequence[str] | None = None, tree: Tree | None = None
    ) -> ParsingExample:
        """A sentence in numbers, with its right tree if that is known."""
        features = self.lexicon.number(words, tags)
        if tree is None:
            return ParsingExample(features, words=tuple(words))
        learned = projected(self.settings, tree)
        heads, relations = list(learned.heads), []
        for place, (head, relation) in enumerate(zip(heads, learned.relations, strict=True)):
            number = self.actions.number(relation, head == 0)
            if number == LOST:
                number = self.actions.number(plain(relation), head == 0)
            if number == LOST and self.settings.cost == "labeled":
                heads[place] = LOST
            relations.append(max(number, 0))
        projective = len(tree.roots) == 1 and (not self.settings.keeps or tree.is_projective)
        return ParsingExample(
            features, numbers(heads), numbers(relations), projective, words=tuple(words)
        )

    def space(self, batch: Sequence[ParsingExample]) -> ParsingSpace:
        """The search space of a batch."""
        return ParsingSpace(batch, self.system, self.actions, self.settings.cost, self.device)


def numbers(values: Sequence[int]) -> Int[Tensor, " words"]:
    """A number for each word, also where there are none."""
    return torch.tensor(values, dtype=torch.long)


def actions_of(
    settings: ParserSettings, lexicon: ParsingLexicon, device: torch.device | str = "cpu"
) -> Actions:
    """The actions of the system with the relations of the training data."""
    kinds = SYSTEMS[settings.system].kinds
    return Actions(kinds, lexicon.relations, lexicon.root_relations, device)


def scorer_of(
    settings: ParserSettings, lexicon: ParsingLexicon, pretrained: Tensor | None = None
) -> Scorer:
    """The scorer that the settings describe; pretrained vectors to be loaded later are zeros."""
    sight = Sight(
        word_vectors(settings, lexicon, pretrained),
        characters=len(lexicon.characters) + 2,
        max_characters=settings.max_characters,
        character_size=settings.character_size,
        tags=len(lexicon.tags) + 1 if lexicon.tags else 0,
        tag_size=settings.tag_size,
        word_dropout=settings.word_dropout,
    )
    return NeuralParser(
        sight,
        encoder_of(settings, sight.size),
        SYSTEMS[settings.system],
        len(actions_of(settings, lexicon)),
        size=settings.hidden_size,
        history=None if settings.history == "none" else settings.history,
        history_size=settings.history_size,
        action_size=settings.action_size,
        dropout=settings.dropout,
        accumulate=settings.accumulate,
        normalize=settings.normalization,
    )


def encoder_of(settings: ParserSettings, size: int) -> Bidirectional | Convolution | Incremental:
    """The encoder of words of a size."""
    hidden, layers, dropout = settings.encoder_size, settings.encoder_layers, settings.dropout
    if settings.encoder == "convolution":
        return Convolution(size, hidden, layers, dropout)
    if settings.lookahead == "all":
        return Bidirectional(size, hidden, layers, dropout)
    return Incremental(size, hidden, settings.lookahead, layers, dropout)
