"""The sources of the site in one folder: pages of the repository, and those made from code."""

import ast
import json
import os
import shutil
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from . import commands, loss_pages, names, setting_pages
from .links import Link, rewrite
from .repository import ROOT, SHORT, navigation, pages, relative

ADDRESS = "BEAMLEARN_REPOSITORY"
"""Where the repository can be seen, such as https://example.org/beamlearn; the site then links
there what it does not show. Without it, such files are pages of the site."""
MARK = "<!-- the sidebar -->"


class Sources:
    """The folder while it is filled."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address.rstrip("/")
        self.pages = pages()
        self.shown: set[str] = set()

    def write(self, place: str, text: str) -> None:
        """Write a file."""
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def linked(self, page: str) -> Callable[[Link], str]:
        """Where links lead on the site, from a page that is at this place there."""

        def target(link: Link) -> str:
            anchor = f"#{link.anchor}" if link.anchor else ""
            if link.path in self.pages:
                place = self.pages[link.path]
                return anchor if place == page and anchor else relative(place, page) + anchor
            path = ROOT / link.path
            if not path.exists():
                raise ValueError(f"{page} links to {link.path}, which is not in the repository.")
            if self.address and link.path.startswith("docs/"):
                return relative(link.path.removeprefix("docs/"), page)
            if self.address:
                kind = "tree" if path.is_dir() else "blob"
                return f"{self.address}/{kind}/main/{link.path}{anchor}"
            if path.suffix == ".py":
                self.shown.add(link.path)
                return relative(source_place(link.path), page)
            if path.is_dir():
                raise ValueError(f"{page} links to {link.path}, a folder; link to a file in it.")
            if link.path.startswith("docs/"):
                return relative(link.path.removeprefix("docs/"), page)
            self.copy(link.path, f"_repository/{link.path}")
            return relative(f"_repository/{link.path}", page)

        return target

    def copy(self, path: str, place: str) -> None:
        """Copy a file of the repository."""
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, self.folder / place)

    def add(self, path: str, place: str) -> None:
        """A page of the repository, with its links put right."""
        text = (ROOT / path).read_text(encoding="utf-8")
        if path.endswith(".ipynb"):
            notebook = json.loads(text)
            for cell in notebook["cells"]:
                if cell["cell_type"] == "markdown":
                    cell["source"] = rewrite("".join(cell["source"]), path, self.linked(place))
            text = json.dumps(notebook)
        else:
            text = rewrite(text, path, self.linked(place))
        self.write(place, text)


def source_place(path: str) -> str:
    """The page that shows a file of code."""
    return f"_repository/{path.removesuffix('.py')}.md"


def source_page(path: str) -> str:
    """A file of code as a page."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return f"---\norphan: true\n---\n# {path}\n\n````python\n{text}````\n"


def examples_page(sources: Sources) -> str:
    """All examples in a table, each with what it says of itself first."""
    rows = []
    for path in sorted((ROOT / "examples").glob("*.py")):
        told = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n")[0]
        link = sources.linked("examples.md")(Link(f"examples/{path.name}", ""))
        rows.append(f"| [{path.name}]({link}) | {told} |")
    return "\n".join(
        [
            "# Examples",
            "",
            "Complete programs that run in seconds, with data inside. The tests run them all.",
            "",
            "| program | what it shows |",
            "| --- | --- |",
            *rows,
            "",
        ]
    )


def sidebar(bar: dict[str, list[str]]) -> str:
    """The sidebar as MyST writes it."""
    entries = {
        title: "\n".join(f"{SHORT[name]} <{name}>" if name in SHORT else name for name in group)
        for title, group in bar.items()
    }
    return "\n".join(
        f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{names}\n```\n"
        for title, names in entries.items()
        if names
    )


def assemble(folder: Path, address: str | None = None) -> None:
    """Fill the folder; what was there is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    sources = Sources(folder, os.environ.get(ADDRESS, "") if address is None else address)
    made = chain(names.pages(), loss_pages.pages(), commands.pages(), setting_pages.pages())
    for place, text in made:
        sources.write(place, text)
    sources.write("examples.md", examples_page(sources))
    for path, place in sources.pages.items():
        if place != "index.md":
            sources.add(path, place)
    sources.add("docs/index.md", "index.md")
    for path in sorted(sources.shown):
        sources.write(source_place(path), source_page(path))
    for kind in ("*.svg", "*.png", "comparisons/*.html", "figures/*.svg"):
        for figure in (ROOT / "docs").glob(kind):
            place = figure.relative_to(ROOT / "docs").as_posix()
            sources.copy(f"docs/{place}", place)
    found = {
        place.relative_to(folder).with_suffix("").as_posix()
        for place in folder.rglob("*")
        if place.suffix in (".md", ".rst", ".ipynb") and "_repository" not in place.parts
    }
    index = folder / "index.md"
    text = index.read_text(encoding="utf-8")
    index.write_text(text.replace(MARK, sidebar(navigation(found))), encoding="utf-8")
