"""What a shell offers as the value of an option."""

from collections.abc import Callable, Iterable
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AfterValidator
from pydantic.fields import FieldInfo

from ..training.settings import OneOf

Completer = Callable[[str], list[str]]


def words(*known: str) -> Completer:
    """Complete a value to known words; in a list with commas, its last item.

    >>> words("upper_bound", "log_loss_beam")("u"), words("1", "2")("1,")
    (['upper_bound'], ['1,1', '1,2'])
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + word for word in known if word.startswith(last)]

    return complete


def known_values(field: FieldInfo) -> list[str]:
    """The values of a setting that have names.

    >>> from ..training.settings import Learning
    >>> known_values(Learning.model_fields["reduction"])
    ['sum', 'mean']
    """
    named = [*names_in(field.annotation), *names_of(field.metadata)]
    return list(dict.fromkeys([*named, *map(str, field.examples or ())]))


def names_in(annotation: Any) -> Iterable[str]:
    """The names that a type consists of."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        yield from parts
    elif origin is Annotated:
        yield from names_in(parts[0])
        yield from names_of(parts[1:])
    elif origin in (Union, UnionType):
        for part in parts:
            yield from names_in(part)


def names_of(metadata: Iterable[Any]) -> Iterable[str]:
    """The names that a validator accepts."""
    for one in metadata:
        if isinstance(one, AfterValidator) and isinstance(one.func, OneOf):
            yield from one.func.known
