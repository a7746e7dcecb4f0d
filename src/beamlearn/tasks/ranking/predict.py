"""What `predict` writes for rankers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from ...data.json_lists import parse_lists
from ...data.text import DataError
from ...data.windows import Window
from ..decoding import json_lines
from ..footprint import Searched, affordable
from ..task import Answering, PredictionRequest
from .decode import RankedItem, items_of, needed, ranked
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
        return predictions(model, read(window, model.ids), window.name, request)


def answering(opening: Window) -> RankingAnswering:
    """How to read an input that begins like this: a JSON object begins with a brace."""
    return RankingAnswering(not "".join(opening.shown()).lstrip("\ufeff \t\r\n").startswith("{"))


def predictions(ranker: Ranker, given: Histories, name: str, request: PredictionRequest) -> str:
    """What is written for some users of a file."""
    examples = [ranker.ahead(items) for items in given.items]
    needs = [needed(ranker, one, request.width) for one in examples]
    fits = affordable(needs, (history_of(user, name) for user in given.users), request)
    lists = ranked(ranker, [examples[i] for i in fits], request.width, numbers=fits)
    found = request.progress(lists, len(fits), "ranking")
    answers = {number: items_of(ranker, one, request.nbest) for number, one in found}
    rows = [(user, answers.get(number, [])) for number, user in enumerate(given.users)]
    if request.as_json:
        return json_lines(record(*row) for row in rows)
    return "".join(line for row in rows for line in lines(*row, listing=request.listing))


def history_of(user: str, name: str) -> Searched:
    """What a search is for, which is not on a line of its own."""
    return Searched(name, f"the history of the user {user!r}", "leave out its oldest items")


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
    """What a ranker says of a user, as JSON has it; nothing: there was not enough memory."""
    best = found[0] if found else None
    return {
        "user": user,
        "item": best and best.item,
        "confidence": best and best.probability,
        "nbest": [vars(one) for one in found],
    }


def lines(user: str, found: Sequence[RankedItem], *, listing: bool) -> Iterator[str]:
    """User, tab and item; in a list also the score and the probability of each.

    A user that there was not enough memory for stands alone, without a tab.
    """
    if not found:
        yield f"{user}\n"
    for one in found:
        numbers = [f"{one.score:.6f}", f"{one.probability:.6f}"] if listing else []
        yield "\t".join([user, one.item, *numbers]) + "\n"
