"""Refuse sources and targets that are too long for a model, with their file and line."""

from collections.abc import Callable, Iterable

from ...data.pairs import Pair
from ...data.text import DataError
from .pairs import Pairs
from .settings import TransducerSettings
from .space import TransductionExample
from .transduction_model import TransductionModel


def check_lengths(model: TransductionModel, train: Pairs) -> None:
    """Refuse sources that cannot be read, and targets that are longer than an output may be."""
    settings = model.settings
    first, count, more = "", 0, 0
    for place, source, several in zip(train.places, train.sources, train.references, strict=True):
        example = model.encode(source, several)
        check_source(model, example, place)
        longest, limit = max(map(len, example.references)), model.limit(example)
        _check_possible(model, example, longest, place)
        if longest > limit:
            first = first or too_long(settings, place, longest, limit)
            count, more = count + 1, max(more, longest - limit)
    if first:
        others = f" ({count} targets are too long)" if count > 1 else ""
        raise DataError(
            f"{first}{others}; set `length_extra` = {settings.length_extra + more}, or remove it."
        )


def too_long(settings: TransducerSettings, place: str, longest: int, limit: int) -> str:
    """The beginning of the message for a target that has more tokens than the limit."""
    return (
        f"{place}: A target may have {limit} tokens, as length_factor = "
        f"{settings.length_factor:g} and length_extra = {settings.length_extra} allow for its "
        f"source, but it has {longest}"
    )


def _check_possible(
    model: TransductionModel, example: TransductionExample, longest: int, place: str
) -> None:
    """Refuse a target that no setting makes room for."""
    most = model.longest_output(example)
    if most is not None and longest > most:
        raise DataError(
            f"{place}: A target may have {most} tokens, as the model has no places for more after "
            f"this source, but it has {longest}; shorten it, or remove it."
        )


def check_sources(
    model: TransductionModel, examples: Iterable[TransductionExample], places: Iterable[str]
) -> None:
    """Refuse sources that the model cannot read."""
    if model.longest_source is None:
        return
    for example, place in zip(examples, places, strict=True):
        check_source(model, example, place)


def source_lengths(model: TransductionModel, data: Pairs) -> list[int]:
    """How long each source is in numbers; refuse those that the model cannot read."""
    found = []
    for source, place in zip(data.sources, data.places, strict=True):
        example = model.encode(source)
        check_source(model, example, place)
        found.append(len(example))
    return found


def check_source(model: TransductionModel, example: TransductionExample, place: str) -> None:
    """Refuse one source; `place` says where it is from."""
    most = model.longest_source
    if most is not None and len(example) > most:
        raise DataError(
            f"{place}: A source may have {most} tokens, as the model reads no more, but it has "
            f"{len(example)}; shorten it, or remove it."
        )


def readable(
    model: TransductionModel, pair: Pair, name: str, refuse: Callable[[str], None]
) -> bool:
    """Can the model read the source of a pair? If not, `refuse` hears of it."""
    try:
        check_source(model, model.encode(pair.source), f"{name}:{pair.line}")
    except DataError as error:
        refuse(str(error))
        return False
    return True
