"""What `predict` writes for rankers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from ...data.json_lists import parse_lists
from ...data.text import DataError
from ...data.windows import Window
from ..decoding import json_lines
from ..task import Answering, PredictionRequest
from .decode import RankedItem, items_of, ranked
from .histories import Histories, histories_of
from .item_ids import ItemIds
from .model import Ranker


@final
@dataclass(frozen=True)
class RankingAnswering(Answering):
    """Lines of user, tab and next item, or JSON lines."""

    typed: bool
    """Is every line a history, with blanks between its items? Otherwise the input is JSON."""

    def sentences(self, window: Window) -> int:
        return len(window.lines()) if self.typed else 1

    def check(self, window: Window) -> None:
        if not self.typed:
            parse_lists("".join(window.lines()), window.name, "user")

    def answer(self, model: Ranker, window: Window, request: PredictionRequest) -> str:
        read = typed_histories if self.typed else file_histories
        return predictions(model, read(window, model.ids), request)


def answering(opening: Window) -> RankingAnswering:
    """How to read an input that begins like this: a JSON object begins with a brace."""
    return RankingAnswering(not "".join(opening.shown()).lstrip("\ufeff \t\r\n").startswith("{"))


def predictions(ranker: Ranker, given: Histories, request: PredictionRequest) -> str:
    """What is written for some users."""
    examples = [ranker.ahead(items) for items in given.items]
    found = request.progress(ranked(ranker, examples, request.width), len(given), "ranking")
    answers = {number: items_of(ranker, one, request.nbest) for number, one in found}
    rows = [(user, answers[number]) for number, user in enumerate(given.users)]
    if request.as_json:
        return json_lines(record(*row) for row in rows)
    return "".join(line for row in rows for line in lines(*row, listing=request.listing))


def file_histories(window: Window, ids: ItemIds) -> Histories:
    """Histories of a JSON object."""
    found = parse_lists("".join(window.lines()), window.name, "user")
    return histories_of(found, window.name, ids, fewest=1)


def typed_histories(window: Window, ids: ItemIds) -> Histories:
    """Histories as people type them: items with blanks between them; the users are numbers."""
    items = [tuple(line.split()) for line in window.lines()]
    for one in items:
        check_typed(one, ids)
    first = window.start.sentence + 1
    return Histories([str(number) for number in range(first, first + len(items))], items, ids)


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
