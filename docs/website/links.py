"""Links of Markdown: which there are, whether they lead anywhere, and where on the site."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^( *)(```|~~~)")
OUTSIDE = ("http:", "https:", "mailto:")


@dataclass(frozen=True)
class Link:
    """A link to a file of the repository."""

    path: str
    """From the root of the repository; the page itself, if the link names no file."""
    anchor: str


def prose(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of a page, each with whether it is text, and not code.

    >>> [seen for _, seen in prose("a" + chr(10) + "```" + chr(10) + "b" + chr(10) + "```")]
    [True, False, False, False]
    """
    inside = False
    for line in text.splitlines(keepends=True):
        fence = FENCE.match(line) is not None
        yield line, not (inside or fence or line.startswith("    "))
        inside ^= fence


def parse(target: str, page: str) -> Link | None:
    """What a target on a page means; None if it leads to another site."""
    if target.startswith(OUTSIDE):
        return None
    path, _, anchor = target.partition("#")
    where = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    return Link(where, anchor)


def links(text: str, page: str) -> Iterator[Link]:
    """All links of a page to files of the repository; `page` is its path there."""
    for line, readable in prose(text):
        for found in LINK.finditer(line) if readable else ():
            if (link := parse(found[2], page)) is not None:
                yield link


def rewrite(text: str, page: str, place: Callable[[Link], str]) -> str:
    """The page with every link to a file of the repository put where `place` says."""

    def replaced(found: "re.Match[str]") -> str:
        link = parse(found[2], page)
        return found[0] if link is None else f"{found[1]}{place(link)}{found[3]}"

    return "".join(LINK.sub(replaced, line) if readable else line for line, readable in prose(text))


def anchors(text: str) -> set[str]:
    """The names that headings of a page have on code hosts and on the site.

    >>> sorted(anchors("# What is in it?" + chr(10) + "## `a_b`, and c"))
    ['a_b-and-c', 'what-is-in-it']
    """
    headings = (
        line.lstrip("#").strip().lower()
        for line, readable in prose(text)
        if readable and re.match(r"#+ ", line)
    )
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


def dead(root: Path, texts: Mapping[str, str]) -> list[str]:
    """The links of these pages that lead nowhere, as `page: target`."""
    found = []
    for page, text in texts.items():
        for link in links(text, page):
            if not (root / link.path).exists():
                found.append(f"{page}: {link.path}")
            elif link.anchor and link.anchor not in anchors(texts.get(link.path, "")):
                found.append(f"{page}: {link.path}#{link.anchor}")
    return found
