"""Numbers in sentences."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from ..evaluation.metric import Metric

Place = TypeVar("Place")


def percent(share: float) -> str:
    """A share.

    >>> percent(0.2134)
    '21.3 %'
    """
    return f"{100 * share:.1f} %"


def value(metric: Metric, number: float) -> str:
    """A number of a report with its unit.

    >>> value(Metric("las", "LAS"), 0.5)
    '50.00 %'
    """
    return metric.shown(number) + " %" * metric.rate


def better(metric: Metric, new: float, old: float) -> bool:
    """Is a number better than another one?"""
    return new < old if metric.lower else new > old


def beam(width: int) -> str:
    """A width."""
    return f"a beam of {width}"


def p_value(p: float) -> str:
    """A p-value, never shown as 0."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def wider(metric: Metric, narrow: tuple[int, float], wide: tuple[int, float]) -> str:
    """A number with a wider beam and a narrower one, as the end of a sentence.

    >>> wider(Metric("las", "LAS"), (1, 0.5), (8, 0.625))
    'LAS is higher with a beam of 8 than with 1: 62.50 % against 50.00 %'
    """
    (k, before), (most, after) = narrow, wide
    if metric.shown(before) == metric.shown(after):
        return f"{metric.spoken} is the same with {beam(most)} as with {k}: {value(metric, after)}"
    way = "higher" if after > before else "lower"
    return (
        f"{metric.spoken} is {way} with {beam(most)} than with {k}: {value(metric, after)} against "
        f"{value(metric, before)}"
    )


def best_of(metric: Metric, found: Mapping[Place, float]) -> list[Place]:
    """The place of the best number, then all other places that are displayed with the same one.

    >>> best_of(Metric("las", "LAS"), {"a": 0.5, "b": 0.75, "c": 0.75})
    ['b', 'c']
    """
    first = (min if metric.lower else max)(found, key=lambda place: found[place])
    most = metric.shown(found[first])
    return [first, *(at for at in found if at != first and metric.shown(found[at]) == most)]


def alike(count: int) -> str:
    """How many others are as good, to follow the name of one that is best.

    >>> alike(0), alike(1), alike(2)
    ('', ' (1 other is equally good)', ' (2 others are equally good)')
    """
    if count == 0:
        return ""
    return f" ({count} other{'s are' if count > 1 else ' is'} equally good)"


def listed(names: Sequence[str]) -> str:
    """Names one after the other.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def capital(text: str) -> str:
    """The same at the beginning of a sentence."""
    return text[:1].upper() + text[1:]
