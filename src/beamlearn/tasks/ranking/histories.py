"""Histories: what users chose, in order; and how they are split into what came before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from ...data.json_lists import read_lists, texts_of
from ...data.text import DataError, name_of
from .item_ids import ItemIds

FEWEST = 3
"""Items of a user: one to begin with, one to validate on and one to test on."""


@dataclass(frozen=True)
class Histories:
    """The items of each user, oldest first; the last one is to be found, or every one."""

    users: list[str]
    items: list[tuple[str, ...]]
    ids: ItemIds
    every: bool = False
    """Is every item but the first a target? Otherwise the last one is."""

    def __len__(self) -> int:
        return len(self.users)

    @property
    def words(self) -> list[tuple[str, ...]]:
        """The items of each user."""
        return self.items

    @property
    def digest(self) -> str:
        """A fingerprint."""
        return sha256(repr((self.items, self.every, self.ids.digest)).encode()).hexdigest()

    def take(self, places: Sequence[int]) -> "Histories":
        """The users at these places."""
        users = [self.users[i] for i in places]
        return replace(self, users=users, items=[self.items[i] for i in places])

    def split(self) -> tuple["Histories", "Histories"]:
        """Leave one out: train on all but the last two items, validate on the last but one.

        The last item is for the test. A user with three items has none to train on.
        """
        train = replace(self, items=[items[:-2] for items in self.items], every=True)
        train = train.take([i for i, items in enumerate(train.items) if len(items) > 1])
        return train, replace(self, items=[items[:-1] for items in self.items])


def read_histories(path: str, ids: ItemIds, fewest: int = FEWEST) -> Histories:
    """Read a JSON object with the items of each user, who must have at least `fewest`."""
    return histories_of(read_lists(path, "user"), name_of(path), ids, fewest)


def histories_of(found: Mapping[str, list[Any]], name: str, ids: ItemIds, fewest: int) -> Histories:
    """The histories of a JSON object; `name` is that of its file."""
    items = [texts_of(one, f"{name}: The user {user!r}") for user, one in found.items()]
    for user, one in zip(found, items, strict=True):
        if len(one) < fewest:
            raise DataError(
                f"{name}: Each user must have at least {fewest} items, got {len(one)} for the user "
                f"{user!r}; leave out this user."
            )
        if unknown := next((item for item in one if item not in ids.numbers), None):
            raise DataError(
                f"{name}: The user {user!r} has the item {unknown!r}, which has no id; add it to "
                "the ids, or leave it out."
            )
    return Histories(list(found), items, ids)
