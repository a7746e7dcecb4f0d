"""What the page says of the losses, as the library itself says it."""

import re
from dataclasses import asdict, dataclass
from typing import final

from markupsafe import Markup, escape

from ...losses import LOSSES, Loss

EQUATION = re.compile(r"Eq\. \((\d+)\): +(.*(?:\n +.*\S)*)")
WORDS = (
    (r"\bhat\b", "\N{GREEK SMALL LETTER SIGMA}\N{COMBINING CIRCUMFLEX ACCENT}"),
    (r"\bstar\b", "\N{GREEK SMALL LETTER SIGMA}*"),
    (r"\bdelta\b", "δ"),
    (r"\bl\b", "\N{SCRIPT SMALL L}"),
    (r"\bsum(?=_)", "Σ"),
    (r" in ", " ∈ "),
    (r" \* ", " · "),
    (r"&lt;=", "≤"),
    (r"-", "\N{MINUS SIGN}"),
)
INDEX = re.compile(r"\[([^\[\]]+)\]|_\{([^{}]+)\}|\^\{([^{}]+)\}")


@final
@dataclass(frozen=True)
class LossFacts:
    """A loss as the page presents it."""

    name: str
    number: int
    """Of its equation."""
    equation: str
    """In HTML."""
    plain: str
    summary: str
    convex: bool
    bounds: bool
    """Is it at least the transition cost?"""
    needs: str

    @classmethod
    def of(cls, loss: Loss) -> "LossFacts":
        """Read them off its docstring and what it declares."""
        text = (loss.__doc__ or "").strip()
        found = EQUATION.search(text)
        if found is None:
            raise ValueError(f"The docstring of {loss.__name__} must have an equation, got none.")
        lines = [line.strip() for line in found[2].splitlines()]
        return cls(
            loss.__name__,
            int(found[1]),
            str(Markup("<br>").join(map(typeset, lines))),
            "; ".join(lines),
            text.split("\n", 1)[0],
            loss.convex,
            loss.bounds_cost,
            loss.needs,
        )


def loss_facts() -> list[dict[str, object]]:
    """Those of all losses, in the order of their equations."""
    return [asdict(LossFacts.of(loss)) for loss in LOSSES.values()]


def typeset(equation: str) -> Markup:
    """An equation in the code's symbols as HTML, with the paper's.

    >>> print(typeset("max(0, w[i, j]) * 2"))
    max(0, w<sub>i, j</sub>) · 2
    """
    text = str(escape(equation))
    for word, sign in WORDS:
        text = re.sub(word, sign, text)
    while INDEX.search(text):  # indices of indices
        text = INDEX.sub(_raised_or_lowered, text)
    return Markup(text)


def _raised_or_lowered(found: re.Match[str]) -> str:
    if found[3] is not None:
        return f"<sup>{found[3]}</sup>"
    return f"<sub>{found[1] or found[2]}</sub>"
