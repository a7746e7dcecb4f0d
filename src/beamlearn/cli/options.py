"""Options of a command, one for every setting, made from the settings themselves."""

import inspect
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from ..learning.ramp import Ramp
from ..training.settings import Settings
from .completion import known_values, words

Given = Mapping[str, Mapping[str, Any]]
"""The settings that came, by group and name."""


def with_settings(**groups: type[Settings]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for every setting in `groups`; it gets them as `given`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        def run(**values: Any) -> None:
            given = {
                group: {
                    name: value
                    for name in model.model_fields
                    if (value := values.pop(name)) is not None
                }
                for group, model in groups.items()
            }
            command(**values, given=given)

        own = [p for p in inspect.signature(command).parameters.values() if p.name != "given"]
        added = [
            option(name, field, panel=group)
            for group, model in groups.items()
            for name, field in model.model_fields.items()
        ]
        parameters = [*own, *added]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer asks
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        run.__doc__, run.__name__ = command.__doc__, command.__name__
        return run

    return decorate


def option(name: str, field: FieldInfo, panel: str) -> inspect.Parameter:
    """The option of one setting; None if it is not given."""
    kind, choices = kind_of(field.annotation)
    description = field.description or name.replace("_", " ").capitalize() + "."
    if not field.is_required() and field.default is not None:
        description += f" (default: {str(field.default).lower()})"
    flag = "--" + name.replace("_", "-")
    declared = typer.Option(
        f"{flag}/--no-{flag[2:]}" if kind is bool else flag,
        help=description,
        metavar="|".join(choices) or None,
        autocompletion=words(*known_values(field)),
        show_default=False,
        rich_help_panel=panel.capitalize(),
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, declared],
    )


def kind_of(annotation: Any) -> tuple[type, tuple[str, ...]]:
    """What a shell has to give for a setting of this type, and among which words.

    >>> kind_of(int | None), kind_of(Literal["a", "b"]), kind_of(object)
    ((<class 'int'>, ()), (<class 'str'>, ('a', 'b')), (<class 'str'>, ()))
    >>> kind_of(int | Literal["all"])
    (<class 'str'>, ('N', 'all'))
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        return kind_of(get_args(annotation)[0])
    if origin in (Union, UnionType):
        parts = [part for part in get_args(annotation) if part is not NoneType]
        if int in parts and len(parts) > 1:  # a number, or words in its place
            others = (kind_of(part)[1] for part in parts if part is not int)
            return str, ("N", *(word for words in others for word in words))
        return kind_of(parts[0])
    if origin is Literal:
        return str, get_args(annotation)
    if annotation is Ramp:
        return str, ("N[:M]",)
    return annotation if annotation in (bool, int, float) else str, ()  # settings read text
