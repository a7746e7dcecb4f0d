"""What sampling from a model needs: log-probabilities, and a seed for each example."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Int
from torch import Tensor

from ..check import UsageError
from .beam import Beam
from .perturbation import Perturbation
from .scorer import Scorer

PLAIN = {
    "normalize": "log_softmax",
    "accumulate": True,
    "length_bonus": 0.0,
    "length_power": 0.0,
}
"""How a scorer is set whose scores are the log-probabilities of outputs."""


def perturbed_beam(beam: Beam, scorer: Scorer, seeds: Int[Tensor, " batch"]) -> Beam:
    """Initial beams with their noise; refuse scores that are not log-probabilities."""
    check_log_probabilities(scorer)
    return replace(beam, perturbation=Perturbation.initial(seeds))


def check_log_probabilities(scorer: Scorer) -> None:
    """Refuse a scorer whose scores do not add up to log-probabilities of outputs."""
    for name, needed in PLAIN.items():
        got = getattr(scorer, name)
        if got != needed:
            raise UsageError(
                "Sampling needs a model whose scores are log-probabilities, with "
                f"`{name}` = {needed}, got {got}; train one with this setting."
            )


def drawn_seeds(generator: torch.Generator | None, beam: Beam) -> Int[Tensor, " batch"]:
    """A seed for each example, one after another from the generator."""
    device = beam.examples.device
    source = device if generator is None else generator.device
    shape = beam.examples.shape
    return torch.randint(2**63 - 1, shape, generator=generator, device=source).to(device)


def given_seeds(seeds: Sequence[int] | Int[Tensor, " _"], beam: Beam) -> Int[Tensor, " batch"]:
    """The seeds that are given, one for each example."""
    if len(seeds) != len(beam.examples):
        raise ValueError(
            f"`seeds` must be one number for each example, here {len(beam.examples)}, got "
            f"{len(seeds)}."
        )
    return torch.as_tensor(seeds, dtype=torch.long, device=beam.examples.device)
