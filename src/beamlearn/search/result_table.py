"""What a search found, as a table that fits on a screen."""

from collections.abc import Callable, Sequence
from typing import Any

from ..plural import counted

EXAMPLES, OUTPUTS, CHARACTERS = 8, 5, 60
"""How much of a result is shown: examples, outputs of each, characters of each output."""

Row = tuple[float, float, Any]
"""Score, probability and output."""


def result_table(counts: Sequence[int], rows_of: Callable[[int], Sequence[Row]]) -> str:
    """The best outputs of each example, best first; `counts` says how many there are.

    >>> print(result_table([2, 1], lambda example: [(1.5, 0.75, "ab"), (0.4, 0.25, "b")]))
    example        score  probability  output
          0       1.5000        75.0%  'ab'
                  0.4000        25.0%  'b'
          1       1.5000        75.0%  'ab'
    """
    lines = ["example        score  probability  output"]
    for example, count in enumerate(counts[:EXAMPLES]):
        shown = rows_of(example)[: min(count, OUTPUTS)]
        for place, (score, probability, output) in enumerate(shown):
            number = "" if place else str(example)
            lines.append(f"{number:>7} {score:>12.4f} {probability:>12.1%}  {short(output)}")
        lines += more(count - len(shown), "output")
    return "\n".join(lines + more(len(counts) - EXAMPLES, "example"))


def short(output: Any) -> str:
    """An output as Python writes it, cut where it is long."""
    text = repr(output)
    return text if len(text) <= CHARACTERS else text[: CHARACTERS - 3] + "..."


def more(count: int, what: str) -> list[str]:
    """A line about what is left out, if anything is."""
    return [f"    ... {counted(count, f'more {what}')}"] if count > 0 else []
