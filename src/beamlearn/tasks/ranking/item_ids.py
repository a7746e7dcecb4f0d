"""Item ids: which tokens name each item of a catalogue, and their numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, final

import torch
from jaxtyping import Int
from pydantic import TypeAdapter
from torch import Tensor

from ...data.json_lists import read_lists, texts_of
from ...data.text import DataError, name_of
from ...search.item_index import ItemIndex


@final
@dataclass(frozen=True)
class ItemIds:
    """The items of a catalogue with their ids, all of the same length; several may share one."""

    items: tuple[str, ...]
    ids: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, path: str) -> "ItemIds":
        """Read a JSON object with the tokens of each item."""
        name = name_of(path)
        found = {
            item: texts_of(tokens, f"{name}: The item {item!r}")
            for item, tokens in read_lists(path, "item").items()
        }
        first = next(iter(found))
        for item, tokens in found.items():
            if not tokens or len(tokens) != len(found[first]):
                raise DataError(
                    f"{name}: All ids must have equally many tokens, at least one, but the item "
                    f"{first!r} has {len(found[first])} and {item!r} has {len(tokens)}."
                )
        return cls(tuple(found), tuple(found.values()))

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "ItemIds":
        """Read what `to_json` wrote; ValueError if it is anything else."""
        found = TypeAdapter(dict[str, tuple[str, ...]]).validate_python(facts["items"])
        return cls(tuple(found), tuple(found.values()))

    def to_json(self) -> dict[str, Any]:
        """Everything, as a value for a JSON file."""
        return {"items": dict(zip(self.items, self.ids, strict=True))}

    def __len__(self) -> int:
        return len(self.items)

    @property
    def length(self) -> int:
        """How many tokens an id has."""
        return len(self.ids[0])

    @property
    def digest(self) -> str:
        """A fingerprint."""
        return sha256(repr((self.items, self.ids)).encode()).hexdigest()

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each item."""
        return {item: number for number, item in enumerate(self.items)}

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The different tokens at each position: a token is known by its place among them."""
        return tuple(tuple(sorted(set(column))) for column in zip(*self.ids, strict=True))

    @cached_property
    def paths(self) -> Int[Tensor, "items length"]:
        """The ids in numbers."""
        places = [{token: n for n, token in enumerate(known)} for known in self.names]
        rows = [[p[t] for p, t in zip(places, one, strict=True)] for one in self.ids]
        return torch.tensor(rows)

    @cached_property
    def index(self) -> ItemIndex:
        """The trie of the ids."""
        return ItemIndex(self.paths.tolist())

    def spell(self, tokens: Iterable[int]) -> str:
        """The tokens of an id, or of its beginning, as people read them."""
        return " ".join(known[token] for known, token in zip(self.names, tokens, strict=False))
