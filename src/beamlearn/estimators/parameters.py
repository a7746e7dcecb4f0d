"""The parameters of an estimator, and the experiment that they come to."""

from collections.abc import Mapping
from typing import Any, TypeVar

from ..settings import Settings, groups_in, parse
from ..tasks.settings import Experiment

E = TypeVar("E", bound=Experiment)


def experiment_of(kind: type[E], values: Mapping[str, Any]) -> E:
    """The experiment that parameters describe, checked."""

    def chosen(name: str) -> Settings:
        group = groups_in(kind)[name]
        return parse(group, {name: values[name] for name in group.model_fields})

    # Group by group, as messages are to name parameters as they are here, without their groups.
    groups = {name: chosen(name) for name in ("learning", kind.group)}
    return parse(kind, {"data": None, **groups}).resolved()


def parameters_of(experiment: Experiment) -> dict[str, Any]:
    """The parameters that lead to an experiment; what `auto` comes to is `auto` again."""
    learning, settings = experiment.learning, experiment.settings
    fields = type(settings).model_fields
    automatic = {name: "auto" for name, field in fields.items() if field.default == "auto"}
    found = settings.model_copy(update=automatic).resolved(learning)
    settings = settings.model_copy(
        update={n: "auto" for n in automatic if getattr(found, n) == getattr(settings, n)}
    )
    ramps = {"width": number(learning.width, int), "beta": number(learning.beta, float)}
    return {**learning.model_dump(), **settings.model_dump(), **ramps}


def number(text: str | None, kind: type[int] | type[float]) -> float | str | None:
    """A setting that is written as text, as the number it is; `first:last` stays text."""
    return text if text is None or ":" in text else kind(text)
