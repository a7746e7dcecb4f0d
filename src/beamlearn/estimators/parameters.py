"""The parameters of an estimator, and the experiment that they come to."""

from collections.abc import Mapping
from typing import Any, TypeVar

from ..learning.ramp import Ramp
from ..tasks.settings import Experiment
from ..training.settings import Settings, groups_in, parse, usual_algorithm

E = TypeVar("E", bound=Experiment)
RUN_ONLY = {"stream", "mixture", "average"}
"""Settings about what a run folder keeps beside its model."""


def experiment_of(kind: type[E], values: Mapping[str, Any]) -> E:
    """The experiment that parameters describe, checked."""

    def chosen(name: str) -> Settings:
        group = groups_in(kind)[name]
        return parse(group, {n: values[n] for n in group.model_fields if n not in RUN_ONLY})

    # Group by group, as messages are to name parameters as they are here, without their groups.
    groups = {name: chosen(name) for name in ("learning", kind.group)}
    return parse(kind, {"data": None, **groups}).resolved()


def parameters_of(experiment: Experiment) -> dict[str, Any]:
    """The parameters that lead to an experiment; what is found out by itself is left open again."""
    open = experiment.left_open()
    learning, settings = open.learning, open.settings
    ramps = {name: number(getattr(learning, name)) for name in ("width", "beta", "beam_weight")}
    chosen = learning.model_dump(exclude=RUN_ONLY)
    if learning.algorithm == usual_algorithm(chosen, learning.default_algorithm):
        chosen["algorithm"] = None
    return {**chosen, **settings.model_dump(), **ramps}


def number(ramp: Ramp | None) -> float | str | None:
    """A ramp as a person would write it: a number, or `first:last`."""
    if ramp is None:
        return None
    return ramp.first if ramp.constant else str(ramp)
