"""Tagger: a lexicon and a scorer, which together make spaces of sentences."""

from collections.abc import Sequence
from typing import Any, final

import torch
from torch import Tensor

from ...learning.iterates import Mixture
from ...search.scorer import Scorer
from ..words import read_pretrained, word_vectors
from .bio import check_scheme, is_bio, legal_pairs
from .lexicon import TaggingLexicon
from .linear import LinearTagger, hashed_features
from .network import NeuralTagger
from .settings import TaggerSettings
from .space import TaggingExample, TaggingSpace


@final
class Tagger:
    """A tagging model; to `learn` and `evaluate` it is the task."""

    def __init__(
        self,
        settings: TaggerSettings,
        lexicon: TaggingLexicon,
        scorer: Scorer,
        device: torch.device | str = "cpu",
    ) -> None:
        self.settings, self.lexicon, self.scorer = settings, lexicon, scorer.to(device)
        self.mixture: Mixture | None = None
        self.device = torch.device(device)
        self.pairs, self.first = None, None
        if settings.constrained:
            if not is_bio(lexicon.tags):
                raise ValueError(
                    "`constrained` needs BIO tags (O, B-... and I-...), but the training data has "
                    f"{', '.join(lexicon.tags[:5])}; leave `constrained` off."
                )
            pairs, first = legal_pairs(lexicon.tags)
            self.pairs, self.first = pairs.to(device), first.to(device)

    @classmethod
    def build(
        cls,
        settings: TaggerSettings,
        words: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]],
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> "Tagger":
        """A new tagger for the words and tags of a training set, with random weights."""
        if settings.constrained:
            check_scheme(tags)
        neural = settings.model == "neural"
        names, table = read_pretrained(settings.vectors if neural else None)
        lexicon = TaggingLexicon.of(
            words,
            tags,
            vectors=names,
            vector_size=0 if table is None else table.shape[1],
            min_count=settings.min_count,
            affix_length=settings.affix_length,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(settings, lexicon, scorer_of(settings, lexicon, table), device)

    def vocabulary(self) -> dict[str, Any]:
        """The lexicon, for vocabulary.json."""
        return self.lexicon.to_json()

    def encode(self, words: Sequence[str], tags: Sequence[str] | None = None) -> TaggingExample:
        """A sentence in numbers, with its right tags if they are known."""
        numbers = None if tags is None else self.lexicon.number_tags(tags)
        if self.settings.model == "neural":
            return TaggingExample(self.lexicon.number_words(words), numbers)
        ahead = self.settings.ahead
        return TaggingExample(hashed_features(words, 2, 2 if ahead is None else ahead), numbers)

    def space(self, batch: Sequence[TaggingExample]) -> TaggingSpace:
        """The search space of a batch."""
        tags = self.lexicon.tags
        return TaggingSpace(batch, len(tags), self.pairs, self.first, self.device, tags)


def scorer_of(
    settings: TaggerSettings, lexicon: TaggingLexicon, pretrained: Tensor | None = None
) -> Scorer:
    """The scorer that the settings describe; pretrained vectors to be loaded later are zeros."""
    tags = len(lexicon.tags)
    if settings.model == "linear":
        return LinearTagger(tags, settings.buckets, settings.accumulate, settings.normalization)
    return NeuralTagger(
        word_vectors(settings, lexicon, pretrained),
        tags,
        context="sentence" if settings.ahead is None else "streaming",
        lookahead=settings.ahead or 0,
        encoder=settings.encoder,
        encoder_size=settings.encoder_size,
        encoder_layers=settings.encoder_layers,
        history=settings.history,
        history_size=settings.history_size,
        tag_size=settings.tag_size,
        dropout=settings.dropout,
        accumulate=settings.accumulate,
        normalize=settings.normalization,
    )
