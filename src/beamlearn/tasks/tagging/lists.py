"""Sentences that come as Python lists, checked word by word."""
# ruff: noqa: N803 (X is scikit-learn's name)

from collections.abc import Iterable

from ...data.text import DataError
from .sentences import Sentences, hold_out

Lists = Iterable[Iterable[str]]
"""The words or the labels of each sentence."""


def split(
    X: Lists, y: Lists, X_dev: Lists | None, y_dev: Lists | None
) -> tuple[Sentences, Sentences]:
    """The sentences to learn from and those to validate on, without empty ones."""
    sentences = filled(pairs_of(X, y))
    if X_dev is not None and y_dev is not None:
        return sentences, filled(pairs_of(X_dev, y_dev, "X_dev", "y_dev"))
    if X_dev is not None or y_dev is not None:
        given, missing = ("X_dev", "y_dev") if y_dev is None else ("y_dev", "X_dev")
        raise DataError(
            f"`X_dev` and `y_dev` go together, but only `{given}` came; add `{missing}`."
        )
    if len(sentences) < 2:
        raise DataError(
            "Without dev sentences at least 2 sentences with words are needed, but 1 came; give "
            "`X_dev` and `y_dev`."
        )
    return hold_out(sentences)


def filled(sentences: Sentences) -> Sentences:
    """The sentences that have words."""
    return sentences.take([i for i, words in enumerate(sentences.words) if words])


def pairs_of(X: Lists, y: Lists, x_name: str = "X", y_name: str = "y") -> Sentences:
    """Check that every word has a label, and that there is one."""
    words, tags = words_of(X, x_name), words_of(y, y_name, "label")
    if len(words) != len(tags):
        raise DataError(
            f"`{x_name}` and `{y_name}` must have equally many sentences, but {len(words)} and "
            f"{len(tags)} came."
        )
    for i, (sentence, labels) in enumerate(zip(words, tags, strict=True)):
        if len(sentence) != len(labels):
            raise DataError(
                f"`{x_name}[{i}]` and `{y_name}[{i}]` must be equally long, but "
                f"{len(sentence)} and {len(labels)} came: one label for each word."
            )
    if not any(words):
        came = "only empty sentences" if words else "no sentence"
        raise DataError(f"`{x_name}` must have at least one word, but {came} came.")
    return Sentences(words, tags)


def words_of(values: Lists, name: str, unit: str = "word") -> list[list[str]]:
    """Read sentences, whatever kind of sequences they are, into lists."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise DataError(
            f"`{name}` must be a list of sentences, each a list of {unit}s, but "
            f"{values!r:.60} came."
        )
    return [sentence_of(part, f"{name}[{i}]", unit) for i, part in enumerate(values)]


def sentence_of(values: Iterable[str], name: str, unit: str) -> list[str]:
    """Read one sentence."""
    if isinstance(values, str):
        raise DataError(
            f"`{name}` must be a list of {unit}s, but the string {values[:60]!r} came; give a "
            f"list, as in {values[:60].split()!r}."
        )
    if isinstance(values, bytes) or not isinstance(values, Iterable):
        raise DataError(f"`{name}` must be a list of {unit}s, but {values!r:.60} came.")
    sentence = list(values)
    for place, value in enumerate(sentence):
        if not isinstance(value, str):
            raise DataError(
                f"`{name}[{place}]` must be a {unit} as a string, but {value!r:.60} "
                f"({type(value).__name__}) came; convert it with str()."
            )
    return list(map(str, sentence))  # numpy's strings become Python's
