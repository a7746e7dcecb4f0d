"""What `predict` writes for rankers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...data.text import DataError
from ..decoding import json_lines
from ..task import PredictionRequest
from .decode import RankedItem, items_of, ranked
from .histories import Histories, read_histories
from .item_ids import ItemIds
from .model import Ranker


def predictions(ranker: Ranker, request: PredictionRequest) -> Iterator[str]:
    """Lines of user, tab and next item, or JSON lines."""
    given = typed_histories(request.texts, ranker.ids) if request.texts else None
    if given is None:
        given = read_histories(request.input, ranker.ids, fewest=1)
    examples = [ranker.ahead(items) for items in given.items]
    found = request.progress(ranked(ranker, examples, request.width), len(given), "ranking")
    answers = {number: items_of(ranker, one, request.nbest) for number, one in found}
    rows = [(user, answers[number]) for number, user in enumerate(given.users)]
    if request.as_json:
        yield json_lines(record(*row) for row in rows)
        return
    yield "".join(line for row in rows for line in lines(*row, listing=request.listing))


def typed_histories(texts: Sequence[str], ids: ItemIds) -> Histories:
    """Histories as people type them: items with blanks between them; the users are numbers."""
    items = [tuple(text.split()) for text in texts]
    for one in items:
        check_typed(one, ids)
    return Histories([str(number) for number in range(1, len(items) + 1)], items, ids)


def check_typed(items: Sequence[str], ids: ItemIds) -> None:
    """Refuse a typed history that is empty, or that has an item without an id."""
    if not items:
        raise DataError("A history must have at least one item, got none.")
    for item in items:
        if item not in ids.numbers:
            raise DataError(
                f"A history must have items that the model knows, such as {ids.items[0]!r}, got "
                f"{item!r}; separate items by blanks."
            )


def record(user: str, found: Sequence[RankedItem]) -> Mapping[str, Any]:
    """What a ranker says of a user, as JSON has it."""
    return {
        "user": user,
        "item": found[0].item,
        "confidence": found[0].probability,
        "nbest": [vars(one) for one in found],
    }


def lines(user: str, found: Sequence[RankedItem], *, listing: bool) -> Iterator[str]:
    """User, tab and item; in a list also the score and the probability of each."""
    for one in found:
        numbers = [f"{one.score:.6f}", f"{one.probability:.6f}"] if listing else []
        yield "\t".join([user, one.item, *numbers]) + "\n"
