"""The search of one input by one model, explained."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import torch

from ...evaluation.evaluate import evaluating
from ...evaluation.marked import Marked
from ...learning.collect import beam_trajectory
from ...search.beam_search import beam_search
from ...search.history import TOLERANCE, Dropped, History
from ...strategies import Oracle
from ...tasks.task import Arcs, Model, Subject, TaskSpec
from ..pages.render import number as shown


@final
@dataclass(frozen=True)
class Answer:
    """A place on the n-best list."""

    text: str
    score: float
    share: float
    """Of the final beam: the confidence."""
    cost: float | None
    best: bool
    """Does no output cost less?"""
    marked: Marked | None = None
    """Its parts, where they are compared with the right ones."""
    arcs: Arcs | None = None
    """Its arcs, if it is a tree."""

    @property
    def verdict(self) -> str:
        """How good it is, where costs are known."""
        if self.cost is not None and self.cost <= TOLERANCE:
            return "right"
        return "best possible" if self.best else "wrong"


@final
@dataclass(frozen=True)
class DroppedPath:
    """A dropped node with the paths that led there."""

    dropped: Dropped
    heading: str
    shared: list[str]
    """The actions that both begin with."""
    lost: list[str]
    """The others of what fell out."""
    rival: list[str]
    """The others of what is in the beam instead."""
    complete: bool
    """Was there room for it, but not for complete outputs (`finish="first"`)?"""

    @property
    def cause(self) -> str:
        """Why it fell."""
        lost, rival = self.dropped.node, self.dropped.rival
        if self.complete:
            return (
                f"It was complete and ranked {self.dropped.rank}, but only the neighbor with the "
                "best score can end this search."
            )
        return (
            f"It ranked {self.dropped.rank} with a score of {shown(lost.score)}; the lowest score "
            f"in the beam is {shown(rival.score)}."
        )


@final
@dataclass(frozen=True)
class InspectedSearch:
    """What a model did with an input."""

    subject: Subject
    width: int
    history: History
    answers: tuple[Answer, ...]
    """The n-best list."""
    reachable: float | None = None
    """The score that the model gives to a best possible output, where there are right answers."""

    @property
    def regret(self) -> float | None:
        """How much more the output costs than the best possible one."""
        cost, least = self.answers[0].cost, self.history.least_cost
        if cost is None or least is None:
            return None
        return 0.0 if abs(cost - least) <= TOLERANCE else cost - least

    @property
    def outcome(self) -> str:
        """How good the output is."""
        cost, regret = self.answers[0].cost, self.regret
        if cost is None or regret is None:
            return "No reference was given, so there are no costs."
        if cost <= TOLERANCE:
            return "The output is right."
        if regret <= 0:
            return f"The output costs {shown(cost)}: no possible output costs less."
        if not self.history.drops:
            return (
                f"The output costs {shown(regret)} more than was first estimated for the best "
                "possible one, but no single step lost it."
            )
        step = self.history.drops[0].step
        return (
            f"The output costs {shown(regret)} more than the best possible one, which left the "
            f"beam at step {step}{behind(self.heading(step))}."
        )

    @property
    def diagnosis(self) -> str | None:
        """Whose error it is, the search's or the model's."""
        if not self.regret or self.regret < 0 or self.reachable is None:
            return None
        own, best = self.answers[0].score, self.reachable
        scores = f"the model scores a best possible output {shown(best)} and its own {shown(own)}"
        if best > own:
            return f"Search error: {scores}, but the beam lost it. A wider beam may keep it."
        return f"Model error: {scores}. A wider beam may not help."

    @cached_property
    def drops(self) -> list[DroppedPath]:
        """What was dropped, in its order."""
        found, last = [], len(self.history.beams) - 1
        for drop in self.history.drops:
            lost = self.history.path(drop.step, drop.node)
            rival = self.history.path(drop.step, drop.rival)
            same = alike(lost, rival)
            heading = self.heading(drop.step)
            complete = drop.rank <= self.width and drop.step < last
            found.append(
                DroppedPath(drop, heading, lost[:same], lost[same:], rival[same:], complete)
            )
        return found

    @property
    def path(self) -> list[str]:
        """The actions of the output."""
        beams = self.history.beams
        return self.history.path(len(beams) - 1, beams[-1][0])

    def heading(self, step: int) -> str:
        """What a step decides on, where that is known."""
        headings = self.subject.headings
        return headings[step - 1] if 0 < step <= len(headings) else ""


def inspect_search(
    task: TaskSpec[Any, Any, Any], model: Model, subject: Subject, width: int, number: int = 0
) -> InspectedSearch:
    """Search one input; a mixture draws its iterate by the `number` of the example."""
    if model.mixture is None:
        return searched(task, model, subject, width)
    with model.mixture.using(model.mixture.place_of(number)):
        return searched(task, model, subject, width)


@torch.no_grad()
def searched(
    task: TaskSpec[Any, Any, Any], model: Model, subject: Subject, width: int
) -> InspectedSearch:
    """The same with the weights that the scorer has."""
    space, scorer = model.space([subject.example]), model.scorer
    with evaluating(scorer):
        result = beam_search(space, scorer, width)
        history, reachable = result.history(), None
        if subject.right is not None:
            history = beam_trajectory(space, scorer, width).history()
            best = beam_trajectory(space, scorer, 1, strategy=Oracle())
            reachable = float(best.final_scores[0])
    answers = []
    for way, node in zip(result.nbest[0], history.beams[-1], strict=True):
        text = task.spell(model, way.output)
        answers.append(
            Answer(
                text,
                way.score,
                way.probability,
                node.cost,
                history.can_be_best(node),
                task.marked(model, subject, text),
                task.arcs(model, way.output),
            )
        )
    return InspectedSearch(subject, width, history, tuple(answers), reachable)


def difference(searches: Mapping[str, InspectedSearch]) -> str:
    """Where the outputs of two models, by the names of their runs, begin to differ."""
    one, two = (each.path for each in searches.values())
    same = alike(one, two)
    if same == len(one) == len(two):
        return "Both reach the same output by the same steps."
    taken = [repr(path[same]) if same < len(path) else "the end" for path in (one, two)]
    heading = next(iter(searches.values())).heading(same + 1)
    steps = [f"{name} takes {action}" for name, action in zip(searches, taken, strict=True)]
    return f"They differ from step {same + 1}{behind(heading)} on: {', '.join(steps)}."


def alike(one: list[str], two: list[str]) -> int:
    """How many names two paths have in common at their beginning."""
    places = (place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    return next(places, min(len(one), len(two)))


def behind(heading: str) -> str:
    """A heading in parentheses, to follow the name of a step.

    >>> behind("dog"), behind("")
    (" ('dog')", '')
    """
    return f" ({heading!r})" if heading else ""
