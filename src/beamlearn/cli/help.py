"""The help of commands: names are never cut, and what is rarely used is left to `--help-all`."""

import re
import shutil
from collections.abc import Collection, Iterator
from textwrap import fill
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

WIDEST, TERMS = 100, 26
"""The longest line, and how long a name may be that has its description beside it."""
HEADING = re.compile(r"\[bold\](.*?)\[/bold\]")
KINDS = {"int": "N", "float": "X", "path": "PATH"}
"""What stands for a value, by a part of the name of its type."""
ALL = "--help-all"
HELP_OPTIONS = ("help", "help_all")


class PlainCommand(TyperCommand):
    """A command whose help lists its options one by one."""

    usual: Collection[str] | None = None
    """The parameters that the short help shows; None: all of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if self.usual is not None and ALL in args and not ctx.resilient_parsing:
            typer.echo(help_text(self, ctx, None), color=ctx.color, nl=False)
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_text(self, ctx, self.usual))


class PlainGroup(TyperGroup):
    """A group of commands with the same kind of help."""

    order: Collection[str] = ()
    """The commands that come first, in this order."""

    def list_commands(self, ctx: Any) -> list[str]:
        found = super().list_commands(ctx)
        first = [name for name in self.order if name in found]
        return [*first, *(name for name in found if name not in first)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:  # typer would leave this to its own help
            typer.echo(ctx.get_help(), color=ctx.color)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        commands = {name: self.commands[name] for name in self.list_commands(ctx)}
        rows = [(name, one.get_short_help_str(limit=200)) for name, one in commands.items()]
        formatter.write(help_text(self, ctx, None, rows))


def with_short_help(usual: Collection[str]) -> type[PlainCommand]:
    """The class of a command whose `--help` shows some of its parameters."""
    return type("ShortCommand", (PlainCommand,), {"usual": (*usual, *HELP_OPTIONS)})


def in_order(*names: str) -> type[PlainGroup]:
    """The class of a group that lists its commands in this order."""
    return type("OrderedGroup", (PlainGroup,), {"order": names})


HelpAll = Annotated[bool, typer.Option(ALL, help="Show all options.")]


def help_text(
    command: Any, ctx: Any, usual: Collection[str] | None, commands: Collection[Any] = ()
) -> str:
    """The help of a command, with the parameters that are usual or, if None, with all."""
    width = min(WIDEST, shutil.get_terminal_size().columns)
    parts = [usage(command, ctx), *described(command.help or "", width)]
    if commands:
        parts.append(section("Commands", commands, width))
    shown = [one for one in command.get_params(ctx) if not getattr(one, "hidden", False)]
    if usual is not None:
        places = {name: place for place, name in enumerate(usual)}
        shown = sorted(
            (one for one in shown if one.name in places), key=lambda one: places[one.name]
        )
    panels: dict[str, list[tuple[str, str]]] = {}
    for one in shown:
        panels.setdefault("Options" if usual is not None else panel(one), []).append(row(one))
    parts += [section(title, rows, width) for title, rows in panels.items()]
    return "\n\n".join(parts) + "\n"


def usage(command: Any, ctx: Any) -> str:
    """How the command is called."""
    named = [row(one)[0] for one in command.get_params(ctx) if one.param_type_name == "argument"]
    rest = ["COMMAND"] if isinstance(command, TyperGroup) else [*named, "[OPTIONS]"]
    return f"{bold('Usage:')} {' '.join([ctx.command_path, *rest])}"


def described(text: str, width: int) -> Iterator[str]:
    """The paragraphs of a docstring; commands under a heading can be copied to a shell."""
    examples: list[str] | None = None
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        words = " ".join(paragraph.split())
        if heading := HEADING.fullmatch(words):
            examples = [bold(f"{heading[1]}:")]
        elif examples is not None:
            examples.append(shell_line(words, width))
        elif words:
            yield fill(words, width, break_on_hyphens=False, break_long_words=False)
    if examples is not None:
        yield "\n".join(examples)


def shell_line(words: str, width: int) -> str:
    """A command, in several lines if it is long."""
    lines = fill(
        words,
        width - 2,
        initial_indent="  ",
        subsequent_indent="      ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    return lines.replace("\n", " \\\n")


def section(title: str, rows: Collection[tuple[str, str]], width: int) -> str:
    """Terms under a title, each with its description."""
    return "\n".join([bold(f"{title}:"), *(entry(*row, width) for row in rows)])


def entry(term: str, description: str, width: int) -> str:
    """A term, and its description beside it or, if the term is long, below it.

    >>> print(entry("--out PATH", "Run folder to write.", 80))
      --out PATH                Run folder to write.
    """
    indent = " " * (TERMS + 2)
    beside = len(term) < TERMS
    text = fill(
        description,
        width,
        initial_indent=f"  {term:<{TERMS}}" if beside else indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    if beside:
        return text
    return f"{name_and_values(term, width)}\n{text}"


def name_and_values(term: str, width: int) -> str:
    """A long term, broken between the values that it lists."""
    spaced = term.replace("|", "| ")
    lines = fill(
        spaced,
        width,
        initial_indent="  ",
        subsequent_indent="      ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    return lines.replace("| ", "|")


def panel(parameter: Any) -> str:
    """The title that a parameter is listed under."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    return getattr(parameter, "rich_help_panel", None) or "Options"


def row(parameter: Any) -> tuple[str, str]:
    """The name of a parameter with its values, and what it is for."""
    if parameter.param_type_name == "argument":
        term = parameter.name.upper()
        term = term if parameter.required else f"[{term}]"
    else:
        term = ", ".join(sorted(parameter.opts, key=len))
        if parameter.secondary_opts:
            term += f"/{', '.join(parameter.secondary_opts)}"
        if not parameter.is_flag:
            term += f" {parameter.metavar or kind(parameter)}"
    notes = "" if not parameter.required else " [required]"
    if default := default_of(parameter):
        notes = f" (default: {default})"
    return term, (parameter.help or "") + notes


def kind(parameter: Any) -> str:
    """What stands for the value of an option."""
    found = getattr(parameter, "type", None)  # typer has renamed it
    name = str(parameter.type_descriptor.annotation if found is None else found.name)
    return next((word for part, word in KINDS.items() if part in name.lower()), "TEXT")


def default_of(parameter: Any) -> str | None:
    """The default as people read it; None if that is not shown."""
    shown, value = parameter.show_default, parameter.default
    if isinstance(shown, str):
        return shown
    if not shown or value is None or isinstance(value, bool) or callable(value):
        return None
    return str(value)


def bold(text: str) -> str:
    """Bold on a terminal; `echo` leaves that out elsewhere."""
    return typer.style(text, bold=True)
