"""A page for each command, from the options that it declares."""

import re
from collections.abc import Iterator
from textwrap import dedent, indent
from typing import Any

import typer

from beamlearn.cli.help import HEADING, PlainGroup, panel, row
from beamlearn.cli.main import app

from .rst import escaped, first_sentence, heading, table, toctree


def commands(found: Any = None, name: str = "beamlearn") -> Iterator[tuple[str, Any]]:
    """Every command with its whole name; groups are left out."""
    found = typer.main.get_command(app()) if found is None else found
    if isinstance(found, PlainGroup):
        context = found.make_context(name, [], resilient_parsing=True)
        for one in found.list_commands(context):
            yield from commands(found.commands[one], f"{name} {one}")
    else:
        yield name, found


def place(name: str) -> str:
    """The name of a command's page."""
    return "_".join(name.split()[1:])


def text_and_examples(text: str) -> tuple[list[str], list[str]]:
    """The paragraphs of a command's help, and its examples."""
    shown: list[str] = []
    examples: list[str] = []
    within = False
    for paragraph in re.split(r"\n\s*\n", dedent(text).strip()):
        words = " ".join(paragraph.split())
        if HEADING.fullmatch(words):
            within = True
        elif words:
            (examples if within else shown).append(words)
    return shown, examples


def command_page(name: str, command: Any) -> str:
    """How a command is called, and all its options."""
    shown, examples = text_and_examples(command.help or "")
    context = command.make_context(name, [], resilient_parsing=True)
    parameters = [one for one in command.get_params(context) if not getattr(one, "hidden", False)]
    arguments = [row(one)[0] for one in parameters if one.param_type_name == "argument"]
    usage = " ".join([name, *arguments, "[OPTIONS]"])
    parts = [heading(name), *map(escaped, shown)]
    parts.append(f".. code-block:: console\n\n   $ {usage}\n")
    if examples:
        lines = "\n".join(f"$ {example}" for example in examples)
        parts += [heading("Examples", "-"), f".. code-block:: console\n\n{indent(lines, '   ')}\n"]
    parts.append(f".. program:: {name}\n")
    panels: dict[str, list[Any]] = {}
    for one in parameters:
        panels.setdefault(panel(one), []).append(one)
    for title, ones in panels.items():
        parts.append(heading(title, "-"))
        parts += [option(*row(one)) for one in ones]
    return "\n\n".join(parts)


def option(term: str, description: str) -> str:
    """An option or argument, and what it means."""
    names, _, values = term.strip("[]").partition(" ")
    while names.endswith(","):
        more, _, values = values.partition(" ")
        names += f" {more}"
    names = names.replace("/", ", ")
    shown = values if len(values) < 60 else "NAME"
    told = indent(escaped(description), "   ")
    lines = f".. option:: {' '.join([names, shown]).strip()}\n\n{told}"
    if shown != values:
        lines += f"\n\n   One of {', '.join(f'``{word}``' for word in values.split('|'))}."
    return lines + "\n"


def pages() -> Iterator[tuple[str, str]]:
    """Every page: its place on the site, and its text."""
    found = dict(commands())
    rows = []
    for name, command in found.items():
        yield f"reference/commands/{place(name)}.rst", command_page(name, command)
        rows.append((f":doc:`{name} <{place(name)}>`", first_sentence(command.help or "")))
    yield (
        "reference/commands/index.rst",
        "\n\n".join(
            [
                heading("Commands"),
                "Every command of ``beamlearn``, with all its options. On the command line, "
                "``--help`` shows the usual ones, and ``--help-all`` all of them.",
                table(("command", "what it does"), rows),
                toctree(map(place, found)),
            ]
        ),
    )
