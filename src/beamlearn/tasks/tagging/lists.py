"""Sentences and tags in Python lists."""
# ruff: noqa: N803 (X is scikit-learn's name)

from ...data.text import DataError
from ..lists import Lists, check_equally_many, check_words, words_of
from .sentences import TaggedSentences


def pairs_of(X: Lists, y: Lists, x_name: str = "X", y_name: str = "y") -> TaggedSentences:
    """Check that every word has a label, and that there is a word."""
    words, tags = words_of(X, x_name), words_of(y, y_name, "label")
    check_equally_many(words, tags, x_name, y_name)
    for i, (sentence, labels) in enumerate(zip(words, tags, strict=True)):
        if len(sentence) != len(labels):
            raise DataError(
                f"`{x_name}[{i}]` and `{y_name}[{i}]` must be equally long, got {len(sentence)} "
                f"and {len(labels)}; give one label for each word."
            )
    check_words(words, x_name)
    return TaggedSentences(words, tags)
