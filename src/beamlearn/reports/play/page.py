"""The page: a search tree to touch, whose losses and searches a script of ours computes."""

import json
from importlib import resources
from pathlib import Path

from ...check import UsageError
from ...data import atomic
from ..pages import Markup, render
from .loss_facts import loss_facts

MODEL = ("losses", "search", "state")
"""The scripts that compute; they know nothing of pages."""
SHOWN = (
    *("dom", "tree", "node", "orders", "loss_table", "panels"),
    *("view", "changes", "page"),
)
"""The scripts that draw, and answer to keys and pointers."""
FILE, TITLE = "index.html", "Play with a beam"


def page() -> str:
    """The page, which needs no other file and no server."""
    return str(
        render(
            "play.html",
            title=TITLE,
            presets=data(json.loads(source("presets.json"))),
            facts=data(loss_facts()),
            script=Markup(script(*MODEL, *SHOWN)),
        )
    )


def export(folder: Path) -> Path:
    """Write the page into a folder, which is made if there is none; replace an older one of it."""
    file = folder / FILE
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`export` must be a folder, but {folder} is a file; name another.")
    if file.exists() and f"<title>{TITLE}</title>" not in file.read_text("utf-8", "replace"):
        raise UsageError(
            f"`export` must be a folder without another page, but it has {file}; name another."
        )
    atomic.make_folder(folder)
    atomic.write_bytes(file, page().encode())
    return file


def script(*names: str) -> str:
    """Scripts of the page, one after the other."""
    return "\n".join(source(f"{name}.js") for name in names)


def source(name: str) -> str:
    """A file that the page is made of."""
    return (resources.files("beamlearn.reports.pages") / "play" / name).read_text("utf-8")


def data(value: object) -> Markup:
    r"""A value for a script element: no text in it can end that.

    >>> print(data("</script>"))
    "\u003c/script>"
    """
    return Markup(json.dumps(value, ensure_ascii=False).replace("<", r"\u003c"))
