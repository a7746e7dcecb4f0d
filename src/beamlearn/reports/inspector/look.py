"""Look: one input, what one model did with it, and what is to be said of that."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import torch

from ...evaluation.evaluate import evaluating
from ...learning.collect import beam_trajectory
from ...search.beam_search import beam_search
from ...search.history import TOLERANCE, Dropped, History
from ...strategies import Oracle
from ...tasks.task import Kind, Model, Subject
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

    @property
    def verdict(self) -> str:
        """What is to be said of it, where costs are known."""
        if self.cost is not None and self.cost <= TOLERANCE:
            return "right"
        return "best possible" if self.best else "wrong"


@final
@dataclass(frozen=True)
class Drop:
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
                f"It was complete and ranked {self.dropped.rank}, but only the best-scored "
                "neighbor ends this search."
            )
        return (
            f"It ranked {self.dropped.rank} with a score of {shown(lost.score)}; the last that was "
            f"kept has {shown(rival.score)}."
        )


@final
@dataclass(frozen=True)
class Look:
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
            return f"The output costs {shown(cost)}: no output that can be built costs less."
        if not self.history.drops:
            return (
                f"The output costs {shown(regret)} more than the first estimate of the best "
                "possible one; no step lost that."
            )
        step = self.history.drops[0].step
        return (
            f"The output costs {shown(regret)} more than the best possible one, which left the "
            f"beam at step {step}{behind(self.heading(step))}."
        )

    @property
    def fault(self) -> str | None:
        """Whose error it is, the search's or the model's."""
        if not self.regret or self.regret < 0 or self.reachable is None:
            return None
        own, best = self.answers[0].score, self.reachable
        scores = f"the model gives a best possible output {shown(best)} and its own {shown(own)}"
        if best > own:
            return f"A search error: {scores}, but the beam lost it; a wider one may keep it."
        return f"A model error: {scores}; a wider beam need not help."

    @cached_property
    def drops(self) -> list[Drop]:
        """What was dropped, in its order."""
        found, last = [], len(self.history.beams) - 1
        for drop in self.history.drops:
            lost = self.history.path(drop.step, drop.node)
            rival = self.history.path(drop.step, drop.rival)
            same = alike(lost, rival)
            heading = self.heading(drop.step)
            complete = drop.rank <= self.width and drop.step < last
            found.append(Drop(drop, heading, lost[:same], lost[same:], rival[same:], complete))
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


def look(
    kind: Kind[Any, Any, Any], model: Model, subject: Subject, width: int, number: int = 0
) -> Look:
    """Search one input; `number` is that of the example, by which a mixture draws its iterate."""
    if model.mixture is None:
        return searched(kind, model, subject, width)
    with model.mixture.using(model.mixture.place_of(number)):
        return searched(kind, model, subject, width)


@torch.no_grad()
def searched(kind: Kind[Any, Any, Any], model: Model, subject: Subject, width: int) -> Look:
    """The same with the weights that the scorer has."""
    space, scorer = model.space([subject.example]), model.scorer
    with evaluating(scorer):
        result = beam_search(space, scorer, width)
        told, reachable = result.history(), None
        if subject.right is not None:
            told = beam_trajectory(space, scorer, width).history()
            best = beam_trajectory(space, scorer, 1, strategy=Oracle())
            reachable = float(best.final_scores[0])
    answers = [
        Answer(
            kind.spell(model, way.output),
            way.score,
            way.probability,
            node.cost,
            told.can_be_best(node),
        )
        for way, node in zip(result.nbest[0], told.beams[-1], strict=True)
    ]
    return Look(subject, width, told, tuple(answers), reachable)


def difference(looks: Mapping[str, Look]) -> str:
    """Where the outputs of two models, by the names of their runs, part."""
    one, two = (each.path for each in looks.values())
    same = alike(one, two)
    if same == len(one) == len(two):
        return "Both come to the same output, by the same steps."
    taken = [repr(path[same]) if same < len(path) else "the end" for path in (one, two)]
    heading = next(iter(looks.values())).heading(same + 1)
    told = [f"{name} takes {action}" for name, action in zip(looks, taken, strict=True)]
    return f"At step {same + 1}{behind(heading)} they part: {', '.join(told)}."


def alike(one: list[str], two: list[str]) -> int:
    """How many names two paths begin with alike."""
    places = (place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    return next(places, min(len(one), len(two)))


def behind(heading: str) -> str:
    """A heading where a step was named.

    >>> behind("dog"), behind("")
    (" ('dog')", '')
    """
    return f" ({heading!r})" if heading else ""
