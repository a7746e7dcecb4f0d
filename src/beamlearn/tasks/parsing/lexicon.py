"""Lexicon: the words, tags and relations of a training set, and their numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import torch
from jaxtyping import Int
from torch import Tensor

from ...data.text import DataError
from ..vocabulary import Vocabulary, count_words, numbered
from .projective import MARK, encode, lift, plain
from .sentences import ParsedSentences
from .settings import ParserSettings
from .tree import Tree


@final
@dataclass(frozen=True, kw_only=True)
class ParsingLexicon(Vocabulary):
    """What is known from training."""

    relations: tuple[str, ...]
    """Of words to words."""
    root_relations: tuple[str, ...]
    tags: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, settings: ParserSettings, data: ParsedSentences, **options: Any
    ) -> "ParsingLexicon":
        """Count a training set; the options are those of `count_words`."""
        found: Counter[str] = Counter()
        seen = [] if settings.tags == "none" or data.tags is None else data.tags
        roots = {relation for tree in data.trees for relation in ends(tree)}
        for tree in data.trees:
            learned = projected(settings, tree)
            pairs = zip(learned.heads, learned.relations, strict=True)
            found.update(relation for head, relation in pairs if head)
        if not found:
            raise DataError(
                "A parser learns from arcs between words, but every sentence of the training data "
                "has only one word; add longer sentences."
            )
        relations = set(found)
        if settings.encodes:
            relations = {r for r in found if MARK not in r or found[r] >= settings.mark_count}
            relations.update(map(plain, found))  # what other marks fall back to
        return cls(
            **count_words(
                data.words,
                min_count=settings.min_count,
                affix_length=settings.affix_length,
                max_characters=settings.max_characters,
                **options,
            ),
            relations=tuple(sorted(relations)),
            root_relations=tuple(sorted(roots)),
            tags=tuple(sorted({tag for tags in seen for tag in tags})),
        )

    @cached_property
    def plain_relations(self) -> list[str]:
        """All relations, without marks and sorted."""
        return sorted({plain(relation) for relation in self.relations + self.root_relations})

    @cached_property
    def tag_numbers(self) -> dict[str, int]:
        """Numbers of the tags."""
        return numbered(self.tags)

    def number(
        self, words: Sequence[str], tags: Sequence[str] | None = None
    ) -> Int[Tensor, "words f"]:
        """The words of a sentence in numbers; the last one is that of the tag, if there are."""
        found = self.number_words(words)
        if not self.tags:
            return found
        if tags is None:
            raise ValueError("This parser needs a tag for each word, got none; give `tags`.")
        column = torch.tensor([self.tag_numbers.get(tag, 0) for tag in tags], dtype=torch.long)
        return torch.cat([found, column[:, None]], dim=1)


def projected(settings: ParserSettings, tree: Tree) -> Tree:
    """The tree that is learned instead of one with crossing arcs."""
    if settings.keeps:
        return tree
    return encode(tree) if settings.encodes else lift(tree)


def ends(tree: Tree) -> set[str]:
    """The relations to the root."""
    return {r for head, r in zip(tree.heads, tree.relations, strict=True) if head == 0}
