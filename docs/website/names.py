"""Reference pages of the public names, one page for each room of the library."""

import ast
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc, isclass, isfunction

from .repository import ROOT
from .rst import first_sentence, heading, table, toctree

ROOMS = {
    "search": ("Search", "Spaces, scorers and the search itself."),
    "learning": ("Learning", "Trajectories, rounds, and what becomes of the iterates."),
    "strategies": ("Strategies", "Which beams training visits."),
    "algorithms": ("Algorithms", "Published algorithms as values."),
    "losses": ("Making losses", "What a loss declares, and losses made from others."),
    "evaluation": ("Evaluation", "How good the outputs are."),
    "estimators": ("Estimators", "fit and predict, as in scikit-learn."),
    "theory": ("Theory", "What training proves."),
}
"""The rooms with public names, each with a title and a sentence."""
MODULES = {"losses": "losses", "strategies": "strategies", "baselines": "losses"}
"""Names that are modules, and the room whose page tells what is in them."""
VALUES = ("ALGORITHMS", "JOINT", "Finish")
Name = tuple[str, str]
"""The module and the name in it."""


def public(stub: str) -> dict[str, str]:
    """The names that a package re-exports as themselves, each with the module it comes from."""
    text = (ROOT / "src" / "beamlearn" / stub).read_text(encoding="utf-8")
    return {
        alias.asname: node.module or alias.asname
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
        if alias.asname is not None
    }


def rooms() -> dict[str, list[Name]]:
    """The public names of every room; an error if there is one whose room has no page."""
    found: dict[str, list[Name]] = {room: [] for room in ROOMS}
    for name, module in public("__init__.pyi").items():
        if name not in MODULES:
            found[module.split(".")[0]].append(("beamlearn", name))
    strategies = import_module("beamlearn.strategies")
    found["strategies"] = [
        ("beamlearn.strategies", name)
        for name, value in vars(strategies).items()
        if getattr(value, "__module__", "") == strategies.__name__
        and not name.startswith("_")
        and (isclass(value) or isfunction(value))
    ]
    twelve = import_module("beamlearn.losses").LOSSES
    found["losses"] += [
        ("beamlearn.losses", name)
        for name in public("losses/__init__.py")
        if name not in twelve and name not in ("LOSSES", "SURROGATES")
    ]
    baselines = import_module("beamlearn.losses.baselines")
    found["losses"] += [("beamlearn.losses.baselines", name) for name in baselines.BASELINE_LOSSES]
    return found


def hugging_face() -> list[Name]:
    """The public names of `beamlearn.hf`."""
    return [("beamlearn.hf", name) for name in public("hf/__init__.py")]


def value_of(name: Name) -> object:
    """What the name stands for."""
    return getattr(import_module(name[0]), name[1])


def documented(name: Name) -> str:
    """The directive that shows the docstring of a name."""
    value = value_of(name)
    path = ".".join(name)
    if isclass(value):
        return f".. autoclass:: {path}\n   :members:\n   :member-order: bysource\n"
    if isfunction(value) or hasattr(value, "__wrapped__"):
        return f".. autofunction:: {path}\n"
    return f".. autodata:: {path}\n   :no-value:\n"


def told(name: Name) -> str:
    """A name in one sentence."""
    value = value_of(name)
    if name[1] in VALUES or not (isclass(value) or isfunction(value)):
        return "A value; see below."
    return first_sentence(getdoc(value) or "")


def room_page(title: str, sentence: str, names: list[Name]) -> str:
    """The names of a room: first a table, then each with all that it says of itself."""
    rows = [(f":py:obj:`{name[1]} <{'.'.join(name)}>`", told(name)) for name in names]
    parts = [heading(title), sentence, table(("name", "what it is"), rows), ""]
    return "\n\n".join([*parts, *map(documented, names)])


def pages() -> Iterator[tuple[str, str]]:
    """Every page: its place on the site, and its text."""
    found = rooms()
    for room, (title, sentence) in ROOMS.items():
        yield f"reference/{room}.rst", room_page(title, sentence, found[room])
    yield (
        "reference/hf.rst",
        room_page(
            "beamlearn.hf",
            "Models of the package transformers, searched and trained with this library's beams.",
            hugging_face(),
        ),
    )
    titles = {**ROOMS, "hf": ("beamlearn.hf", "Models of the package transformers.")}
    rows = [(f":doc:`{title} <{room}>`", words) for room, (title, words) in titles.items()]
    yield (
        "reference/index.rst",
        "\n\n".join(
            [
                heading("Python"),
                "Every public name, from its docstring. ``import beamlearn as bl`` is enough for "
                "all of them but those of ``beamlearn.hf``; the losses have "
                ":doc:`pages of their own <losses/index>`.",
                table(("page", "what is there"), rows),
                toctree(titles),
            ]
        ),
    )
