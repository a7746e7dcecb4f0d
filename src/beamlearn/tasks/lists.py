"""Data in Python lists, checked word by word."""
# ruff: noqa: N803 (X is scikit-learn's name)

from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any

from ..data.text import DataError
from .data import Data, hold_out

Lists = Iterable[Iterable[str]]
"""The words or the labels of each sentence."""


def split(
    pairs_of: Callable[[Any, Any, str, str], Data],
    X: Any,
    y: Any,
    X_dev: Any,
    y_dev: Any,
) -> tuple[Data, Data]:
    """The training set and the validation set, without empty sentences.

    `pairs_of` reads X and y into one data set; its last two arguments are their names in messages.
    """
    data = filled(pairs_of(X, y, "X", "y"))
    if X_dev is not None and y_dev is not None:
        return data, filled(pairs_of(X_dev, y_dev, "X_dev", "y_dev"))
    if X_dev is not None or y_dev is not None:
        given, missing = ("X_dev", "y_dev") if y_dev is None else ("y_dev", "X_dev")
        raise DataError(
            f"`X_dev` and `y_dev` go together, got only `{given}`; give `{missing}` too."
        )
    if len(data) < 2:
        raise DataError(
            "Without `X_dev` and `y_dev`, `X` must have at least 2 sentences with words, got 1; "
            "give more sentences, or `X_dev` and `y_dev`."
        )
    return hold_out(data)


def filled(data: Data) -> Data:
    """The sentences that have words."""
    return data.take([i for i, words in enumerate(data.words) if words])


def check_equally_many(X: Sized, y: Sized, x_name: str, y_name: str) -> None:
    """Refuse sentences without right answers, or the other way round."""
    if len(X) != len(y):
        raise DataError(
            f"`{x_name}` and `{y_name}` must have equally many sentences, got {len(X)} and "
            f"{len(y)}."
        )


def check_words(words: Sequence[Sequence[str]], name: str) -> None:
    """Refuse sentences without a single word."""
    if not any(words):
        found = "only empty sentences" if words else "no sentence"
        raise DataError(f"`{name}` must have at least one word, got {found}.")


def words_of(values: Lists, name: str, unit: str = "word") -> list[list[str]]:
    """Read sentences from any kind of sequences into lists."""
    sentences = sentences_of(values, name, unit)
    for i, sentence in enumerate(sentences):
        for j, value in enumerate(sentence):
            if not isinstance(value, str):
                raise DataError(
                    f"`{name}[{i}][{j}]` must be a {unit} as a string, got {value!r:.60} "
                    f"({type(value).__name__}); convert it with str()."
                )
    return [list(map(str, sentence)) for sentence in sentences]  # numpy's strings become Python's


def sentences_of(values: Iterable[Iterable[Any]], name: str, unit: str) -> list[list[Any]]:
    """Read sentences of any kind of units."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise DataError(
            f"`{name}` must be a list of sentences, each a list of {unit}s, got {values!r:.60}."
        )
    return [sentence_of(part, f"{name}[{i}]", unit) for i, part in enumerate(values)]


def sentence_of(values: Iterable[Any], name: str, unit: str) -> list[Any]:
    """Read one sentence."""
    if isinstance(values, str):
        raise DataError(
            f"`{name}` must be a list of {unit}s, got the string {values[:60]!r}; give a list, as "
            f"in {values[:60].split()!r}."
        )
    if isinstance(values, bytes) or not isinstance(values, Iterable):
        raise DataError(f"`{name}` must be a list of {unit}s, got {values!r:.60}.")
    return list(values)
