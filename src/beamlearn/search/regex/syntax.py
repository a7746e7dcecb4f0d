"""What a regular expression is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Letter:
    """One letter out of a set, by number."""

    members: frozenset[int]


@dataclass(frozen=True)
class InTurn:
    """One part after another; without parts, nothing."""

    parts: Sequence["Syntax"]


@dataclass(frozen=True)
class OneOf:
    """Any of the parts."""

    parts: Sequence["Syntax"]


@dataclass(frozen=True)
class Repeated:
    """A part again and again."""

    part: "Syntax"
    least: int
    most: int | None
    """None: as often as one likes."""


Syntax = Union[Letter, InTurn, OneOf, Repeated]  # noqa: UP007 (the names are not defined yet)
