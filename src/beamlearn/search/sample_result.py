"""SampleResult: different outputs of each example, drawn at random, with their weights."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..plural import counted
from .beam_search import SearchResult
from .gumbel import log_inclusion
from .result_table import result_table


@dataclass(frozen=True)
class SampledOutput:
    """One output of a sample without replacement."""

    output: Any
    log_probability: float
    probability: float
    """p, that of the model."""
    perturbed: float
    """G, the log-probability with its noise: what the sample is ordered by."""
    inclusion: float
    """q: how likely the output is in the sample, given the threshold."""
    weight: float
    """p / q."""

    def __str__(self) -> str:
        return f"{self.probability:.1%}  {self.weight:.4f}  {self.output!r}"


@dataclass(frozen=True, repr=False)
class SampleResult:
    """Up to k different outputs of each example, by decreasing perturbed log-probability.

    The first output alone is an ordinary sample from the model. For any function f of outputs, the
    sum of `weights` times f over the sample is an unbiased estimate of its expectation:

        E[sum_{y in sample} p(y) / q(y) f(y)] = sum_y p(y) f(y),  q(y) = P(G(y) > kappa)

    Where there are no more than k outputs, all are in the sample, and the sum is exact.
    """

    search: SearchResult
    """The search that drew them: its beams, and a picture of it."""
    perturbed: Float[Tensor, "batch k"]
    """G of the outputs."""
    thresholds: Float[Tensor, " batch"]
    """kappa: the largest G of all outputs that are not in the sample; -inf if all are."""

    def __len__(self) -> int:
        return len(self.search)

    def __str__(self) -> str:
        def rows(example: int) -> list[tuple[float, float, Any]]:
            return [(s.log_probability, s.probability, s.output) for s in self._nbest(example)]

        return result_table(self.mask.sum(dim=-1).tolist(), rows)

    def __repr__(self) -> str:
        most = self.mask.shape[1]
        return (
            f"<SampleResult: {counted(len(self), 'example')}, up to {counted(most, 'output')} each>"
        )

    @property
    def mask(self) -> Bool[Tensor, "batch k"]:
        """Which places hold an output; the numbers of the others are 0."""
        return self.search.nbest_mask

    @property
    def log_probabilities(self) -> Float[Tensor, "batch k"]:
        """log p of the outputs; with their gradient if that was asked for."""
        return self.search.nbest_scores

    @cached_property
    def log_inclusion(self) -> Float[Tensor, "batch k"]:
        """log q of the outputs, without gradients."""
        phi = self.log_probabilities.detach().double()
        return log_inclusion(phi, self.thresholds[:, None]).masked_fill(~self.mask, 0.0)

    @property
    def inclusion(self) -> Float[Tensor, "batch k"]:
        """q of the outputs."""
        return self.log_inclusion.exp().where(self.mask, 0.0)

    @cached_property
    def weights(self) -> Float[Tensor, "batch k"]:
        """p / q. Their gradient, if there is one, makes that of an expectation unbiased, too."""
        return (self.log_probabilities - self.log_inclusion).exp().where(self.mask, 0.0)

    @property
    def normalized_weights(self) -> Float[Tensor, "batch k"]:
        """Weights that sum to 1: a little bias for less variance."""
        return self.weights / self.weights.sum(dim=-1, keepdim=True)

    @property
    def outputs(self) -> list[Any]:
        """The first output of each example: an ordinary sample."""
        return self.search.outputs

    @cached_property
    def nbest(self) -> list[list[SampledOutput]]:
        """The sample of each example."""
        return [self._nbest(example) for example in range(len(self))]

    def _nbest(self, example: int) -> list[SampledOutput]:
        there = self.mask[example]
        phi = self.log_probabilities.detach().double()
        fields = (phi, phi.exp(), self.perturbed, self.inclusion, self.weights.detach())
        numbers = torch.stack([field[example][there] for field in fields], dim=-1).tolist()
        trace = self.search.trace
        outputs = trace.outputs(example, [trace.last(example, i) for i in range(len(numbers))])
        return [SampledOutput(y, *row) for y, row in zip(outputs, numbers, strict=True)]
