"""ItemIndex: a catalogue of items as the trie of their ids."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, final

import torch
from jaxtyping import Int
from torch import Tensor

from ..check import UsageError
from ..data.sealed import DamagedError, seal, unseal
from ..data.text import unreadable, write_bytes
from .catalogue import Catalogue, CatalogueError
from .trie import Trie
from .trie_constraint import AllowedTokens, TrieConstraint, ending_token
from .trie_paths import TriePaths

NOTE = "item index 1"
"""What the file of an index says that it is."""


@final
class ItemIndex:
    """Item i has the id `ids[i]`: tokens, which are whole numbers from 0 on.

    Several items may share an id. No id may be a prefix of another one, unless an `end` is given:
    a token that no id has, and that is added to every id.

    >>> index = ItemIndex([(1, 5), (1, 7), (2, 5), (1, 7)])
    >>> print(index)
    <ItemIndex: 4 items, 6 nodes, depth 2>
    >>> index.items_at(index.find([(1, 7), (3, 1)]))
    [[1, 3], []]
    """

    def __init__(self, ids: Iterable[Any], *, end: int | None = None) -> None:
        self.end = end
        self.trie, self.leaves = Catalogue.read(ids, end).trie()
        self._check_prefixes()

    @classmethod
    def _of(cls, trie: Trie, leaves: Int[Tensor, " items"], end: int | None) -> "ItemIndex":
        """The index of ids that were checked already."""
        found = cls.__new__(cls)
        found.trie, found.leaves, found.end = trie, leaves, end
        return found

    def __len__(self) -> int:
        return len(self.leaves)

    def __repr__(self) -> str:
        nodes = self.trie.nodes
        return f"<ItemIndex: {len(self):,} items, {nodes:,} nodes, depth {self.depth}>"

    @cached_property
    def depth(self) -> int:
        """The length of the longest id, with its `end`."""
        return sum(1 for _ in self.trie.ancestors(self.leaves))

    @cached_property
    def _items(self) -> tuple[list[int], list[int]]:
        """The items in the order of their nodes, and where those of each node begin."""
        counts = torch.bincount(self.leaves, minlength=self.trie.nodes)
        starts = torch.nn.functional.pad(counts.cumsum(dim=0), (1, 0))
        return self.leaves.argsort(stable=True).tolist(), starts.tolist()

    def to(self, device: torch.device | str) -> "ItemIndex":
        """The same on another device."""
        return self._of(self.trie.to(device), self.leaves.to(device), self.end)

    def find(self, ids: Iterable[Sequence[int]]) -> Int[Tensor, " some"]:
        """The node of each id or prefix; -1 where there is none."""
        device = self.trie.device
        found = [
            self.trie.walk(torch.tensor([*one], dtype=torch.long, device=device)) for one in ids
        ]
        return torch.stack(found) if found else torch.zeros(0, dtype=torch.long, device=device)

    def items_at(self, nodes: Int[Tensor, " some"]) -> list[list[int]]:
        """The items that end at each node, in the order of the catalogue; none at -1."""
        items, starts = self._items
        return [
            [] if node < 0 else items[starts[node] : starts[node + 1]] for node in nodes.tolist()
        ]

    def save(self, path: str | Path) -> None:
        """Write a safetensors file with a digest, whole or not at all."""
        trie, end = self.trie, [] if self.end is None else [self.end]
        tensors = {"offsets": trie.offsets, "tokens": trie.tokens, "leaves": self.leaves}
        data = seal({**tensors, "end": torch.tensor(end, dtype=torch.long)}, NOTE)
        write_bytes(Path(path), data)

    @classmethod
    def load(cls, path: str | Path, device: torch.device | str = "cpu") -> "ItemIndex":
        """Read what `save` wrote; refuse any other file, and one that was changed."""
        try:
            tensors, note = unseal(Path(path))
        except OSError as error:
            raise unreadable(str(path), error) from error
        except DamagedError as error:
            raise CatalogueError(
                f"{path}: The file of an item index was expected, but {error}; save it again."
            ) from error
        if note != NOTE:
            raise CatalogueError(
                f"{path}: The file of an item index was expected, got one of something else; give "
                "one that `ItemIndex.save` wrote."
            )
        end = tensors["end"].tolist()
        trie = Trie(tensors["offsets"], tensors["tokens"])
        return cls._of(trie, tensors["leaves"], end[0] if end else None).to(device)

    def constraint(self, actions: int | None = None, end: int | None = None) -> TriePaths:
        """The ids as a constraint, for spaces whose actions are tokens.

        `actions` is how many the space has; by default one more than the largest token. `end` is
        the action after a complete id; the index may have it already. Without any, an output
        ends with the last token of its id.
        """
        extra = None if self.end is not None and ending_token(self.end, end) == self.end else end
        least = max(self.trie.vocabulary, 0 if extra is None else extra + 1)
        if actions is not None and actions < least:
            raise UsageError(
                f"`actions` must be at least {least}, so that all tokens are among them, got "
                f"{actions}; give the number of actions of the space."
            )
        return TriePaths(self.trie, least if actions is None else actions, extra)

    def logits_processor(self, end: int | None = None, *, prompt_length: int = 1) -> TrieConstraint:
        """What keeps `generate` of transformers to this catalogue, as a logits processor.

        `end` is the token after a complete id; the index may have it already. `prompt_length` is
        how many tokens come before the id: 1 for most encoder-decoders.
        """
        return TrieConstraint(self.trie, ending_token(self.end, end), prompt_length)

    def prefix_allowed_tokens_fn(
        self, end: int | None = None, *, prompt_length: int = 1
    ) -> AllowedTokens:
        """The same as a `prefix_allowed_tokens_fn`, one hypothesis at a time and so slower."""
        return AllowedTokens(self.trie, ending_token(self.end, end), prompt_length)

    def _check_prefixes(self) -> None:
        """Refuse an item whose node has children: its id is a prefix of another one."""
        inner = self.trie.inner[self.leaves]
        if not bool(inner.any()):
            return
        item = int(inner.nonzero()[0, 0])
        node = int(self.leaves[item])
        below = self.trie.first_leaf(node)
        other = int((self.leaves == below).nonzero()[0, 0])
        raise CatalogueError(
            f"No id may be a prefix of another one, but item {item} has {self.trie.prefix(node)} "
            f"and item {other} has {self.trie.prefix(below)}; give an `end`, a token that is added "
            "to every id, or change one of them."
        )
