"""Reference of the settings: what `train`, its TOML files and the estimators choose from."""

from collections.abc import Iterator
from typing import Any

from pydantic.fields import FieldInfo

from beamlearn.cli.options import kind_of
from beamlearn.tasks.registry import TASKS
from beamlearn.training.settings import Learning, Settings, groups_in

from .rst import escaped, heading, table, toctree

TITLES = {"learning": "How to learn", "data": "Files"}


def default(field: FieldInfo) -> str:
    """What holds if the setting is not given."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return "" if value is None else f"``{shown}``"


def setting_row(name: str, field: FieldInfo) -> tuple[str, str, str]:
    """A setting in a row of a table."""
    kind, choices = kind_of(field.annotation)
    text = " ".join((field.description or "").split())
    if choices and not all(choice in text for choice in choices):
        text += f" One of {', '.join(f'`{choice}`' for choice in choices)}."
    elif kind is bool:
        text += " Yes or no."
    return f"``{name}``", default(field), escaped(text) or "."


def group_table(group: type[Settings]) -> str:
    """All settings of a group."""
    rows = [setting_row(name, field) for name, field in group.model_fields.items()]
    return table(("setting", "default", "meaning"), rows, "22 16 62")


def task_page(name: str, experiment: Any, summary: str) -> str:
    """The settings of a task, apart from those that all have."""
    parts = [heading(f"Settings of {name}"), f"For {summary}."]
    for title, group in groups_in(experiment).items():
        if group is not experiment.model_fields["learning"].annotation:
            parts += [heading(TITLES.get(title, f"The {title}"), "-"), group_table(group)]
    return "\n\n".join(parts)


def pages() -> Iterator[tuple[str, str]]:
    """Every page: its place on the site, and its text."""
    shared = "How to learn, the same for every task but for some defaults."
    yield (
        "reference/settings/learning.rst",
        "\n\n".join([heading("Settings of learning"), shared, group_table(Learning)]),
    )
    for name, entry in TASKS.items():
        page = task_page(name, entry.experiment, entry.summary)
        yield f"reference/settings/{name}.rst", page
    rows = [(":doc:`learning`", shared)]
    rows += [(f":doc:`{name}`", f"For {entry.summary}.") for name, entry in TASKS.items()]
    yield (
        "reference/settings/index.rst",
        "\n\n".join(
            [
                heading("Settings"),
                "Every choice of a training, with one name everywhere: ``--batch-size 8`` on the "
                "command line, ``batch_size = 8`` in a TOML file (in the table of its group), and "
                "``batch_size=8`` for an estimator.",
                table(("page", "what is there"), rows),
                toctree(["learning", *TASKS]),
            ]
        ),
    )
