"""Pieces of reStructuredText, and docstrings turned into it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from inspect import cleandoc
from textwrap import indent

CODE = re.compile(r"(`[^`]+`)")
NOTE = re.compile(r"^(Paper note|Differs from the original|Note): ", re.MULTILINE)


def heading(title: str, line: str = "=") -> str:
    """A heading with its line below."""
    return f"{title}\n{line * max(4, len(title))}\n"


def escaped(text: str) -> str:
    r"""A text that means nothing but itself, apart from `code`.

    >>> print(escaped("the cost c* of `a*b`, and theta_"))
    the cost c\* of ``a*b``, and theta\_
    """
    parts = CODE.split(text)
    return "".join(
        f"`{part}`" if CODE.fullmatch(part) else re.sub(r"([\\*_|`])", r"\\\1", part)
        for part in parts
    )


def literal(text: str) -> str:
    """A block that is shown as it is."""
    return f"::\n\n{indent(text, '   ')}\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], widths: str = "auto") -> str:
    """A table; cells are reStructuredText on one line."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        "   :align: left",
        f"   :widths: {widths}",
        "",
    ]
    for row in (head, *rows):
        lines += [f"   {'* -' if not at else '  -'} {cell}" for at, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def toctree(names: Iterable[str]) -> str:
    """Pages that stand below this one in the sidebar."""
    return ".. toctree::\n   :hidden:\n\n" + "".join(f"   {name}\n" for name in names)


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a docstring."""
    yield from (part for part in re.split(r"\n\s*\n", cleandoc(text)) if part.strip())


def is_equation(paragraph: str) -> bool:
    """Is a paragraph an equation, or otherwise laid out by hand?"""
    first, *rest = paragraph.splitlines()
    if first.startswith(("Eq. (", "Eqs. (", "  ")):
        return True
    listed = first.lstrip().startswith("- ")
    return not listed and any(line.startswith("    ") for line in rest)


def from_docstring(text: str) -> str:
    r"""A docstring as reStructuredText: equations stay as they are, and notes stand out.

    >>> print(from_docstring("Bound it.\n\nEq. (1): a*b\n\nPaper note: `c*` differs."))
    Bound it.
    <BLANKLINE>
    ::
    <BLANKLINE>
       Eq. (1): a*b
    <BLANKLINE>
    **Paper note:** ``c*`` differs.
    """
    parts = []
    for paragraph in paragraphs(text):
        if paragraph.startswith(">>>"):
            parts.append(paragraph)
        elif is_equation(paragraph):
            parts.append(literal(paragraph).rstrip())
        else:
            parts.append(NOTE.sub(r"\n\n**\1:** ", escaped(paragraph)).strip())
    return "\n\n".join(parts)


def first_sentence(text: str) -> str:
    """What a docstring says first, on one line, as reStructuredText."""
    words = " ".join(next(paragraphs(text), "").split())
    return escaped(re.split(r"(?<=[.:?]) (?=[A-Z`])", words)[0].rstrip(":"))
