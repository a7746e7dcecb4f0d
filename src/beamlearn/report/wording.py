"""Numbers in sentences."""

from collections.abc import Sequence

from ..comparison.metric import Metric


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


def surely(p: float) -> str:
    """A p-value; never as 0."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def wider(metric: Metric, narrow: tuple[int, float], wide: tuple[int, float]) -> str:
    """What a wider beam does to a number, as the end of a sentence.

    >>> wider(Metric("las", "LAS"), (1, 0.5), (8, 0.625))
    'a beam of 8 in place of 1 helps: LAS goes from 50.00 % to 62.50 %'
    """
    (k, before), (most, after) = narrow, wide
    if metric.shown(before) == metric.shown(after):
        same = f"{metric.label} stays {value(metric, after)}"
        return f"{beam(most)} in place of {k} changes nothing: {same}"
    does = "helps" if better(metric, after, before) else "hurts"
    return (
        f"{beam(most)} in place of {k} {does}: {metric.label} goes from {value(metric, before)} to "
        f"{value(metric, after)}"
    )


def listed(names: Sequence[str]) -> str:
    """Names one after the other.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def capital(text: str) -> str:
    """The same at the beginning of a sentence."""
    return text[:1].upper() + text[1:]
