"""The beams that a search visited, kept as back-pointers and read back on demand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import pad

from .beam import Step
from .space import SearchSpace


@dataclass(frozen=True)
class TransitionRow:
    """One transition of one example, in Python numbers."""

    slots: list[int]
    actions: list[int]
    scores: list[float]
    ranked: list[bool]
    kept: list[bool]
    stays: list[bool]


@dataclass(frozen=True)
class HypothesisPath:
    """The actions of one hypothesis, and what each added to its score."""

    actions: list[int]
    step_scores: list[float]


@dataclass(frozen=True)
class Trace:
    """All transitions of a batch."""

    space: SearchSpace[Any]
    steps: Sequence[Step]

    @cached_property
    def rows(self) -> list[list[TransitionRow]]:
        """The transitions of each example; none where the initial node is terminal."""
        rows: list[list[TransitionRow]] = [[] for _ in range(len(self.space))]
        for step in self.steps:
            fields = (step.slots, step.actions, step.scores, step.ranked, step.kept, step.stays)
            lists = zip(*(field.detach().tolist() for field in fields), strict=True)
            for example, row in zip(step.examples.tolist(), lists, strict=True):
                rows[example].append(TransitionRow(*row))
        return [[] if found and found[0].stays[0] else found for found in rows]

    @cached_property
    def final_actions(self) -> Int[Tensor, "batch k steps"]:
        """The actions of every hypothesis at the end of the search; -1 after the last one.

        A step at which no example takes an action has no place of its own.
        """
        return self.best_actions(max((step.slots.shape[1] for step in self.steps), default=1))

    def best_actions(self, width: int) -> Int[Tensor, "batch width steps"]:
        """The same of the first `width` hypotheses.

        Back-pointers are followed for all examples and slots at once.
        """
        batch = len(self.space)
        device = self.steps[0].slots.device if self.steps else None
        moving = [not bool(step.stays.all()) for step in self.steps]
        place = sum(moving)
        found = torch.full((batch, width, place), -1, device=device)
        at = torch.arange(width, device=device).repeat(batch, 1)
        there = torch.zeros_like(at, dtype=torch.bool)
        for step, moves in zip(reversed(self.steps), reversed(moving), strict=True):
            if step.some_ended:
                ranked = pad(step.ranked, (0, max(0, width - step.ranked.shape[1])))
                there[step.examples[step.ended]] = ranked[step.ended, :width]
            rows = step.examples if len(step.examples) < batch else slice(None)
            slots = at[rows].clamp(max=step.slots.shape[1] - 1)
            at[rows] = step.slots.gather(-1, slots)
            if moves:
                place -= 1
                idle = step.stays.gather(-1, slots) | ~there[rows]
                found[rows, :, place] = step.actions.gather(-1, slots).masked_fill(idle, -1)
        return found

    def best_outputs(self) -> list[Any]:
        """The best output of each example."""
        best = self.best_actions(1)[:, 0].tolist()
        paths = [[action for action in actions if action >= 0] for actions in best]
        return self.space.outputs(range(len(paths)), paths)

    def path(self, example: int, step: int, slot: int) -> HypothesisPath:
        """Follow the back-pointers from a slot after `step` transitions to the start."""
        rows = self.rows[example]
        actions: list[int] = []
        added: list[float] = []
        for place in range(step - 1, -1, -1):
            row, parent = rows[place], rows[place].slots[slot]
            if not row.stays[slot]:
                actions.append(row.actions[slot])
                added.append(row.scores[slot] - (rows[place - 1].scores[parent] if place else 0.0))
            slot = parent
        return HypothesisPath(actions[::-1], added[::-1])

    def last(self, example: int, slot: int) -> HypothesisPath:
        """The path to a slot at the end of the search."""
        return self.path(example, len(self.rows[example]), slot)

    def outputs(self, example: int, paths: Sequence[HypothesisPath]) -> list[Any]:
        """What paths of one example build."""
        return self.space.outputs([example] * len(paths), [path.actions for path in paths])

    @cached_property
    def beams(self) -> list[list[list[Any]]]:
        """Of each example the beams from {v_(0)} on, as outputs so far, each best first."""
        return [
            [self.outputs(example, paths) for paths in self._beam_paths(example)]
            for example in range(len(self.space))
        ]

    def _beam_paths(self, example: int) -> Iterator[list[HypothesisPath]]:
        yield [HypothesisPath([], [])]
        for step, row in enumerate(self.rows[example], 1):
            slots = [slot for slot, kept in enumerate(row.kept) if kept]
            yield [self.path(example, step, slot) for slot in slots]
