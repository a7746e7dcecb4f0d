"""Data collection: which beams a training trajectory visits (Section 4.2)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, final

import torch
from jaxtyping import Bool
from torch import Tensor

from .check import by_name, check_choice
from .search.beam import Beam, Selection, oracle_policy, ordered, sampled_policy, where
from .search.neighbors import Neighbors
from .search.sampling import drawn_seeds, perturbed_beam
from .search.scorer import Scorer
from .search.space import Finish


@dataclass(frozen=True)
class Proposal:
    """A visited beam's neighbors, and the transition that the learned policy proposes."""

    neighbors: Neighbors
    learned: Selection
    increased: Bool[Tensor, " batch"]
    """Does the learned transition raise the cost?"""
    width: int
    final_width: int
    """The width of a terminal beam."""
    finish: Finish
    round: int
    """t of the paper, from 1 on."""
    generator: torch.Generator | None

    def oracle(self, k: int) -> Selection:
        """POLICY(G, b, k, -c*)."""
        return oracle_policy(self.neighbors, k, self.finish, self.final_width)

    @property
    def reference(self) -> Selection:
        """The transition of the oracle, or of the reference where costs are estimated."""
        return oracle_policy(self.neighbors.by_reference, self.width, self.finish, self.final_width)


class Strategy(ABC):
    """How training beams are chosen."""

    reduction: ClassVar[Literal["max"] | None] = None
    """How losses along its trajectories are put together, if the strategy says so."""

    def start(self, beam: Beam, scorer: Scorer, generator: torch.Generator | None) -> Beam:
        """The initial beams, with noise if the strategy needs some; by default as they are."""
        return beam

    @abstractmethod
    def next_beam(self, proposal: Proposal) -> Selection:
        """The beam to visit next."""


@final
@dataclass(frozen=True)
class Oracle(Strategy):
    """Follow the oracle: at each step the k neighbors that can still become cheapest.

    Paper note: neighbors of equal cost, usually many, are ranked by their score, so that the
    model is compared with its own strongest competitors.

    With a `RolloutOracle` that has a reference, the reference is followed, as in LOLS: whatever
    the roll-outs say of its actions.
    """

    def next_beam(self, proposal: Proposal) -> Selection:
        return proposal.reference


@final
@dataclass(frozen=True)
class Stop(Strategy):
    """Follow the learned policy; end the trajectory at the first cost increase.

    Paper note: the beam in which the increase ends belongs to the trajectory, as the text of
    Section 4.2 says. Algorithm 2 breaks one line too early and would drop the only loss that
    early update has.
    """

    def next_beam(self, proposal: Proposal) -> Selection:
        return proposal.learned.end(where=proposal.increased)


@final
@dataclass(frozen=True)
class Reset(Strategy):
    """Follow the learned policy; at a cost increase put the best neighbor back.

    `to="best"` restarts from the best neighbor alone, and the beam grows back (Algorithm 2);
    `to="oracle_beam"` takes the oracle's k neighbors; `to="keep"` keeps the learned beam but
    for its last element, which gives its slot to the best neighbor.

    Paper note: Section 4.2 writes BEST(b, 1, -c*), a node of the *current* beam, from which
    the same failure could repeat forever; Algorithm 2 writes POLICY(G, b, 1, -c*).
    """

    to: Literal["best", "oracle_beam", "keep"] = "best"

    def __post_init__(self) -> None:
        check_choice(self.to, ("best", "oracle_beam", "keep"), "target of a reset")

    def next_beam(self, proposal: Proposal) -> Selection:
        if not bool(proposal.increased.any()):
            return proposal.learned
        back = proposal.oracle(proposal.width if self.to == "oracle_beam" else 1)
        if self.to == "keep":
            back = _replace_last(proposal, back)
        return where(proposal.increased, back, proposal.learned)


def _replace_last(proposal: Proposal, best: Selection) -> Selection:
    """The learned beam with `best` in its last slot; into a terminal beam, `best` alone."""
    learned = proposal.learned
    slot = torch.arange(learned.index.shape[1], device=learned.index.device)
    last = slot == learned.kept.sum(dim=-1, keepdim=True) - 1
    index = torch.where(last, best.index, learned.index)
    kept = replace(learned, index=index, terminal=best.terminal)
    return where(best.terminal, best, ordered(proposal.neighbors, kept))


@final
@dataclass(frozen=True)
class MaxViolation(Strategy):
    """Follow the learned policy, with the right path beside it; learn at the worst beam alone.

    Huang, Fayong and Guo 2012: of all beams of a trajectory, the one with the largest loss counts.
    With `perceptron_first` that is where the score of the right path is farthest below the best.

    Differs from the original: the right path has the last slot of the beam, where it has fallen
    out; there it is compared with the beam from outside.
    """

    reduction: ClassVar[Literal["max"] | None] = "max"

    def next_beam(self, proposal: Proposal) -> Selection:
        return Reset("keep").next_beam(proposal)


@final
@dataclass(frozen=True)
class Continue(Strategy):
    """Follow the learned policy through its own mistakes, as DAgger does."""

    def next_beam(self, proposal: Proposal) -> Selection:
        return proposal.learned


Schedule = Callable[[int], float]
"""From the round t = 1, 2, ... to a probability."""


@final
@dataclass(frozen=True)
class Interpolate(Strategy):
    """At each step, follow the oracle with probability beta, else the learned policy.

    Appendix E.3:  pi' = (1 - beta) pi(., theta) + beta pi*(., c*)

    `beta` is a number, or a schedule: a function of the round, such as `linear(0.9, 0.0, 100)`.
    The coins come from the generator that is given to `beam_trajectory` or `learn`.
    """

    beta: float | Schedule

    def __post_init__(self) -> None:
        if not callable(self.beta):
            check_probability(self.beta, "beta")

    def at(self, round: int) -> float:
        """beta_t."""
        beta = self.beta(round) if callable(self.beta) else self.beta
        check_probability(beta, f"beta in round {round}")
        return beta

    def next_beam(self, proposal: Proposal) -> Selection:
        batch, device = proposal.increased.shape[0], proposal.increased.device
        generator = proposal.generator
        source = device if generator is None else generator.device
        coins = torch.rand(batch, generator=generator, device=source).to(device)
        follow = coins < self.at(proposal.round)
        if not bool(follow.any()):
            return proposal.learned
        return where(follow, proposal.reference, proposal.learned)


@final
@dataclass(frozen=True)
class Sample(Strategy):
    """Sample beams from the model's distribution without replacement (stochastic beams).

    Like `Continue`, but by perturbed log-probabilities in place of scores: the k hypotheses of a
    beam are the beginnings of k or more outputs that are drawn at random, and the last beam is such
    an output. The scorer must give log-probabilities. A transition is on policy where the sample is
    the learned policy's own beam. Seeds come from the generator that is given to `beam_trajectory`
    or `learn`.
    """

    def start(self, beam: Beam, scorer: Scorer, generator: torch.Generator | None) -> Beam:
        return perturbed_beam(beam, scorer, drawn_seeds(generator, beam))

    def next_beam(self, proposal: Proposal) -> Selection:
        sampled = sampled_policy(proposal.neighbors, proposal.width, proposal.finish)
        return ordered(proposal.neighbors, sampled.final_beam(proposal.final_width))


def check_probability(value: float, name: str) -> None:
    """Refuse a value that is not a probability."""
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be a probability between 0 and 1, got {value}.")


def constant(value: float) -> Schedule:
    """beta_t = value."""
    return lambda _: value


def linear(start: float, end: float, rounds: int) -> Schedule:
    """From `start` in round 1 to `end` in round `rounds` and after, in a straight line."""
    return lambda t: start + (end - start) * min(1.0, (t - 1) / max(1, rounds - 1))


def exponential(start: float, rate: float) -> Schedule:
    """beta_t = start * rate^(t - 1)."""
    return lambda t: start * rate ** (t - 1)


def cutoff(t0: int) -> Schedule:
    """beta_t = 1 for t <= t0, then 0: the oracle first, the learned policy afterwards."""
    return lambda t: 1.0 if t <= t0 else 0.0


STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "oracle": Oracle,
    "stop": Stop,
    "reset": Reset,
    "continue": Continue,
    "interpolate": Interpolate,
    "max_violation": MaxViolation,
    "sample": Sample,
}
"""Every strategy by its name."""


def as_strategy(strategy: Strategy | str | None) -> Strategy:
    """A strategy, or the one of that name; None is `Continue`."""
    if strategy is None:
        return Continue()
    if isinstance(strategy, Strategy):
        return strategy
    chosen = by_name(STRATEGIES, strategy, "strategy")
    if chosen is Interpolate:
        raise ValueError(
            "The strategy 'interpolate' needs a probability, got only its name; pass "
            "`Interpolate(beta)`."
        )
    return chosen()
