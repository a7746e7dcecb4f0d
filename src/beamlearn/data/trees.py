"""Which heads make a tree, and what is wrong with those that do not.

Messages are returned without their end: the caller, who knows where the heads are from, adds what
to do.
"""

from collections.abc import Sequence

from ..check import quoted

SHOWN = 6
"""How many words of a cycle a message lists."""


def possible(head: int, word: int, length: int) -> bool:
    """Can a word have this head in a sentence of `length` words?"""
    return 0 <= head <= length and head != word


def wrong_head(head: object, word: int, length: int) -> str:
    """The beginning of the message for a head that is not `possible`."""
    return (
        f"A head must be the number of another word of the sentence (1 to {length}) or 0 for the "
        f"root, got {quoted(head)} for word {word}"
    )


def cycle(heads: Sequence[int]) -> tuple[int, ...] | None:
    """The words of a cycle, each before its head and the first the leftmost, if there is one.

    Heads are numbers of words, counted from 1, and 0 for the root.

    >>> cycle([2, 4, 0, 5, 2]), cycle([2, 3, 0])
    ((2, 4, 5), None)
    """
    walks = [0] * (len(heads) + 1)  # from which word each word was reached first
    for start in range(1, len(heads) + 1):
        word = start
        while word and not walks[word]:
            walks[word] = start
            word = heads[word - 1]
        if word and walks[word] == start:
            return leftmost_first(around(heads, word))
    return None


def around(heads: Sequence[int], start: int) -> list[int]:
    """The words on the way from a word of a cycle back to it."""
    words = [start]
    while (word := heads[words[-1] - 1]) != start:
        words.append(word)
    return words


def leftmost_first(words: list[int]) -> tuple[int, ...]:
    """The same cycle from its leftmost word on."""
    first = words.index(min(words))
    return (*words[first:], *words[:first])


def fault(heads: Sequence[int]) -> tuple[int, str] | None:
    """Why heads are not a tree with one root: the word it concerns, and a message.

    >>> fault([2, 0, 0])
    (3, 'A tree must have one root, but words 2 and 3 both have head 0')
    """
    roots = [word for word, head in enumerate(heads, 1) if head == 0]
    if heads and not roots:
        return 1, "A tree must have one root, but no word has head 0"
    if len(roots) > 1:
        first, second = roots[:2]
        return second, f"A tree must have one root, but words {first} and {second} both have head 0"
    if words := cycle(heads):
        return words[0], in_a_circle(words)
    return None


def in_a_circle(words: tuple[int, ...]) -> str:
    """The beginning of the message for a cycle."""
    shown = [str(word) for word in words]
    if len(shown) > SHOWN:
        shown[SHOWN:] = ["..."]
    way = " to ".join([*shown, str(words[0])])
    return f"The heads of a tree must lead to the root, but here they lead from {way}"
