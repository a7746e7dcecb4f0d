"""Mark what is wrong in an output."""

from collections.abc import Sequence
from dataclasses import replace

from ...evaluation.marked import Marked, Part, unmarked
from .label_errors import aligned, nearest


def marked(output: str, references: Sequence[str], *, letters: bool) -> Marked:
    """Align an output with its nearest reference, by letters or else by words.

    The other references come after it, as they are.

    >>> found = marked("k a d", ["x", "k a t"], letters=False)
    >>> [(part.text, part.same) for part in found.right]
    [('k', True), ('a', True), ('t', False), ('| x', True)]
    """
    if not references:
        return unmarked(None, [output])
    cut = {text: list(text) if letters else text.split() for text in (output, *references)}
    right = nearest(cut[output], [cut[text] for text in references])
    found = Marked.of(aligned(right, cut[output]), gap="" if letters else " ")
    others = [text for text in references if cut[text] != right]
    more = tuple(Part(f"{' ' * letters}| {text}") for text in others)
    return replace(found, right=(*found.right, *more))
