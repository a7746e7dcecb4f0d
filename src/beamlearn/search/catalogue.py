"""Catalogue: the ids of all items, read into flat arrays and checked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..check import UsageError
from .trie import Trie

Numbers = npt.NDArray[np.int64]
LARGEST = 1 << 31
"""Tokens are smaller than this."""


class CatalogueError(UsageError):
    """Ids that are no catalogue; the message names the item."""


@dataclass(frozen=True)
class Catalogue:
    """The tokens of all ids, one after another, and the length of each."""

    tokens: Numbers
    lengths: Numbers

    @classmethod
    def read(cls, ids: Iterable[Any], end: int | None = None) -> "Catalogue":
        """Read the ids of items; refuse what cannot be one, by the number of the item.

        With an `end`, that token is added to every id.
        """
        listed = [_tokens(one, item) for item, one in enumerate(_listed(ids))]
        if not listed:
            raise CatalogueError("A catalogue must have at least one item, got none.")
        lengths = np.fromiter(map(len, listed), dtype=np.int64, count=len(listed))
        if not lengths.all():
            item = int((lengths == 0).argmax())
            raise CatalogueError(f"Item {item} must have an id of at least one token, got none.")
        tokens = _checked(list(chain.from_iterable(listed)), lengths)
        return cls(tokens, lengths) if end is None else _ended(cls(tokens, lengths), end)

    def item_of(self, place: int) -> int:
        """The item that a token belongs to."""
        return _owner(place, self.lengths)

    def trie(self) -> tuple[Trie, torch.Tensor]:
        """The trie of the ids, and the node at which each item ends.

        Level by level, items are grouped by the node they are at and their next token; sorted,
        these pairs are the nodes of the next level. Nothing loops over items.
        """
        base, starts = int(self.tokens.max()) + 1, np.cumsum(self.lengths) - self.lengths
        at = np.zeros(len(self.lengths), dtype=np.int64)
        parents, tokens, begin, nodes = [], [], 0, 1
        for depth in range(int(self.lengths.max())):
            going = np.flatnonzero(self.lengths > depth)
            pairs = (at[going] - begin) * base + self.tokens[starts[going] + depth]
            level, place = np.unique(pairs, return_inverse=True)
            at[going] = nodes + place
            parents.append(begin + level // base)
            tokens.append(level % base)
            begin, nodes = nodes, nodes + len(level)
        counts = np.bincount(np.concatenate(parents), minlength=nodes)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        trie = Trie(torch.from_numpy(offsets), torch.from_numpy(np.concatenate(tokens)))
        return trie, torch.from_numpy(at)


def _listed(value: Any) -> Any:
    """Lists in place of an array or a tensor; anything else as it is."""
    return value.tolist() if isinstance(value, np.ndarray | torch.Tensor) else value


def _tokens(one: Any, item: int) -> Sequence[Any]:
    """The tokens of one id; refuse what is no sequence."""
    one = _listed(one)
    if isinstance(one, str | bytes) or not isinstance(one, Sequence):
        raise CatalogueError(
            f"Item {item} must have a sequence of tokens as its id, got {one!r:.60}."
        )
    return one


def _checked(tokens: list[Any], lengths: Numbers) -> Numbers:
    """Tokens as an array; refuse what is no whole number from 0 on."""
    found = np.array(tokens)
    whole = found.dtype.kind in "iu" and found.ndim == 1
    if whole and int(found.min()) >= 0 and int(found.max()) < LARGEST:
        return found.astype(np.int64)
    place = next(place for place, token in enumerate(tokens) if not _is_token(token))
    raise CatalogueError(
        f"Item {_owner(place, lengths)} must have tokens that are whole numbers from 0 to 2**31 "
        f"- 1, got {tokens[place]!r:.60}; number the tokens."
    )


def _is_token(token: Any) -> bool:
    whole = isinstance(token, int | np.integer) and not isinstance(token, bool)
    return whole and 0 <= token < LARGEST


def _owner(place: int, lengths: Numbers) -> int:
    return int(np.searchsorted(np.cumsum(lengths), place, side="right"))


def _ended(found: Catalogue, end: int) -> Catalogue:
    """The same with one more token at the end of every id."""
    if not _is_token(end):
        raise CatalogueError(f"`end` must be a whole number from 0 to 2**31 - 1, got {end!r:.60}.")
    if (found.tokens == end).any():
        item = found.item_of(int((found.tokens == end).argmax()))
        raise CatalogueError(
            f"`end` must be a token that no id has, got {end}, which is in that of item {item}; "
            "choose another one."
        )
    after = np.cumsum(found.lengths)
    return Catalogue(np.insert(found.tokens, after, end), found.lengths + 1)
