"""What the site adds to Sphinx: docstrings as this project writes them, and drawings."""

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from .rst import from_docstring


def tidy(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Turn a docstring into reStructuredText, in place."""
    lines[:] = [*from_docstring("\n".join(lines)).splitlines(), ""]


def skip(app: Sphinx, what: str, name: str, found: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator, in its own words."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def inline(drawing: Path) -> nodes.raw:
    """A drawing as a part of the page, so that it has the colors of the page."""
    svg = drawing.read_text(encoding="utf-8")
    return nodes.raw("", f'<figure class="drawn">{svg}</figure>', format="html")


class DrawingDirective(SphinxDirective):
    """`.. drawing:: FILE`, from the root of the sources."""

    required_arguments: ClassVar[int] = 1

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir) / self.arguments[0]
        self.env.note_dependency(str(path))
        return [inline(path)]


def draw_images(app: Sphinx, tree: nodes.document) -> None:
    """Put drawings into the page where Markdown has them as images."""
    for image in list(tree.findall(nodes.image)):
        path = Path(app.srcdir) / image["uri"].lstrip("/")
        if path.parent.name == "figures" and path.suffix == ".svg":
            parent = image.parent
            if isinstance(parent, nodes.paragraph) and len(parent) == 1:
                parent.replace_self(inline(path))
            else:
                image.replace_self(inline(path))


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("autodoc-process-docstring", tidy)
    app.connect("autodoc-skip-member", skip)
    app.connect("doctree-read", draw_images)
    app.add_directive("drawing", DrawingDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
