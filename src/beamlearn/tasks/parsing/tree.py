"""Dependency trees: heads and relations, and which arcs cross."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...data.trees import cycle, in_a_circle, possible, wrong_head


@dataclass(frozen=True)
class Tree:
    """The head and the relation of each word.

    Heads are numbers of words, counted from 1; 0 is the root, which stands before the first
    word. There is no cycle, but several words may have head 0: `fault` finds them.
    """

    heads: tuple[int, ...]
    relations: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.heads) != len(self.relations):
            raise ValueError(
                "A tree must have a head and a relation for each word, got "
                f"{len(self.heads)} heads and {len(self.relations)} relations."
            )
        for word, head in enumerate(self.heads, 1):
            if not possible(head, word, len(self)):
                raise ValueError(f"{wrong_head(head, word, len(self))}; count words from 1.")
        if words := cycle(self.heads):
            raise ValueError(f"{in_a_circle(words)}; attach one of these words elsewhere.")

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def roots(self) -> tuple[int, ...]:
        """The words whose head is 0."""
        return tuple(word for word, head in enumerate(self.heads, 1) if head == 0)

    @property
    def is_projective(self) -> bool:
        """Does no arc cross another, those from the root included?"""
        return not self.non_projective

    @property
    def non_projective(self) -> tuple[int, ...]:
        """The words with a word between them and their head that is not below that head."""
        return tuple(non_projective(self.heads))


def non_projective(heads: Sequence[int]) -> list[int]:
    """The words whose incoming arc is not projective (Nivre and Nilsson, 2005).

    Around each head lie words that are all below it, from `left[head]` to `right[head]`, and the
    arcs to these are projective. Such a stretch is made of the stretches of words in it, each of
    which is taken up once: time is linear.
    """
    length = len(heads)
    first, last = visits(heads)
    left, right = list(range(length + 1)), list(range(length + 1))
    for head in reversed(range(length + 1)):
        while right[head] < length and first[head] <= first[right[head] + 1] <= last[head]:
            right[head] = right[right[head] + 1]
    for head in range(length + 1):
        while left[head] > 0 and first[head] <= first[left[head] - 1] <= last[head]:
            left[head] = left[left[head] - 1]
    return [word for word, head in enumerate(heads, 1) if not left[head] <= word <= right[head]]


def visits(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """When a walk down the tree comes to each word, and when to the last word below it.

    The root is at index 0. Between these times the walk comes to the words below, and to no other.
    """
    dependents = dependents_of(heads)
    order: list[int] = []
    waiting = [0]
    while waiting:
        order.append(waiting.pop())
        waiting.extend(dependents[order[-1]])
    first = [0] * len(dependents)
    for time, word in enumerate(order):
        first[word] = time
    last = list(first)
    for word in reversed(order):
        for dependent in dependents[word]:
            last[word] = max(last[word], last[dependent])
    return first, last


def dependents_of(heads: Sequence[int]) -> list[list[int]]:
    """The dependents of the root and of each word, from left to right."""
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, 1):
        dependents[head].append(word)
    return dependents
