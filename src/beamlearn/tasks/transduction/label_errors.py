"""Which tokens a transducer gets wrong: what it substitutes, inserts and deletes."""

from collections.abc import Iterator, Sequence

from rapidfuzz.distance import Levenshtein

from ...evaluation.label_errors import LabelErrors, Pair, confusions_in, label_scores

Tokens = Sequence[str]


def label_errors(outputs: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> LabelErrors:
    """Align each output with its nearest reference, token by token."""
    pairs = [
        pair
        for output, several in zip(outputs, references, strict=True)
        for pair in aligned(nearest(output, several), output)
    ]
    return LabelErrors({"token": label_scores(pairs)}, confusions_in(pairs))


def nearest(output: Tokens, references: Sequence[Tokens]) -> Tokens:
    """The reference that takes the fewest edits; of several, the first."""
    return min(references, key=lambda right: Levenshtein.distance(output, right))


def aligned(right: Tokens, output: Tokens) -> Iterator[Pair]:
    """Pair tokens by fewest edits: None where one was deleted (output) or inserted (right).

    >>> list(aligned(["a", "b", "c"], ["a", "x", "c", "d"]))
    [('a', 'a'), ('b', 'x'), ('c', 'c'), (None, 'd')]
    """
    for step in Levenshtein.opcodes(right, output):
        before = right[step.src_start : step.src_end]
        after = output[step.dest_start : step.dest_end]
        if step.tag == "delete":
            yield from ((token, None) for token in before)
        elif step.tag == "insert":
            yield from ((None, token) for token in after)
        else:
            yield from zip(before, after, strict=True)
