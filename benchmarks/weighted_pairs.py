"""The loss over all pairs of neighbors: O(n log n) against the double sum.

Both compute Eq. (18) with its gradient. Before anything is timed, value and gradient in double
precision must agree to 1e-9. The fast loss sums in double precision whatever it is given; the
double sum is timed in single precision, which is what a network trains in, and once in double.
"""

import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from measure import interleave, report
from torch import Tensor

from beamlearn.losses import weighted_pairs_all

DTYPES = (torch.float32, torch.float64)
SIZES = (
    *((batch, n, torch.float32) for batch, n in ((1, 64), (8, 64), (1, 512), (8, 512), (1, 4096))),
    (1, 4096, torch.float64),
)
TOLERANCE = 1e-9


def double_sum(scores: Tensor, costs: Tensor) -> Tensor:
    """Eq. (18) as written: every pair is visited."""
    star = costs.argsort(dim=-1, stable=True)
    s, c = scores.gather(-1, star), costs.gather(-1, star)
    hinge = (s[:, None, :] - s[:, :, None] + 1).relu()
    weight = (c[:, None, :] - c[:, :, None]).triu(1)
    return (weight * hinge).sum(dim=(-2, -1))


def fast(scores: Tensor, costs: Tensor) -> Tensor:
    return weighted_pairs_all(scores, costs, width=8)


VARIANTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"fast": fast, "double_sum": double_sum}


def inputs(batch: int, n: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Scores, and costs with the many ties that Hamming and edit distance have."""
    generator = torch.Generator().manual_seed(n)
    scores = 3 * torch.randn(batch, n, generator=generator, dtype=dtype)
    costs = torch.randint(0, 10, (batch, n), generator=generator).to(dtype)
    return scores.requires_grad_(), costs


def forward_and_backward(
    variant: Callable[[Tensor, Tensor], Tensor], scores: Tensor, costs: Tensor
) -> Tensor:
    (gradient,) = torch.autograd.grad(variant(scores, costs).sum(), scores)
    return gradient


def disagreement(batch: int, n: int) -> float:
    """The largest relative difference of values and of gradients."""
    scores, costs = inputs(batch, n, torch.float64)
    differences = []
    for compute in (lambda v: v(scores, costs), lambda v: forward_and_backward(v, scores, costs)):
        own, reference = compute(fast).detach(), compute(double_sum).detach()
        differences.append(float((own - reference).abs().max() / reference.abs().max()))
    return max(differences)


def row(batch: int, n: int, dtype: torch.dtype, megabytes: dict[str, float]) -> dict[str, Any]:
    scores, costs = inputs(batch, n, dtype)
    forward = interleave(
        {name: partial(v, scores, costs) for name, v in VARIANTS.items()}, seconds=1
    )
    both = interleave(
        {name: partial(forward_and_backward, v, scores, costs) for name, v in VARIANTS.items()},
        seconds=1,
    )
    return {
        "batch": batch,
        "n": n,
        "dtype": str(dtype).removeprefix("torch."),
        "fast_ms": 1e3 * both["fast"].seconds,
        "double_sum_ms": 1e3 * both["double_sum"].seconds,
        "speedup": both["double_sum"].ratio,
        "speedup_forward": forward["double_sum"].ratio,
        "disagreement": disagreement(batch, n),
        **megabytes,
    }


def memory(variant: str, batch: int, n: int, dtype: torch.dtype) -> float:
    """What the peak memory of a fresh process grows by, in megabytes."""
    command = [sys.executable, "-W", "ignore", __file__, variant, str(batch), str(n), str(dtype)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(found.stdout)


def print_memory(variant: str, batch: int, n: int, dtype: torch.dtype) -> None:
    """Tell by how much one pass raises the peak of this process, after a tiny pass."""
    torch.set_num_threads(1)
    forward_and_backward(VARIANTS[variant], *inputs(1, 64, dtype))
    scores, costs = inputs(batch, n, dtype)
    before = _peak()
    forward_and_backward(VARIANTS[variant], scores, costs)
    print(_peak() - before)


def _peak() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def main() -> None:
    # Memory first: a new process starts with the peak of the one that started it.
    megabytes = {size: {f"{v}_megabytes": memory(v, *size) for v in VARIANTS} for size in SIZES}
    rows = [row(*size, megabytes[size]) for size in SIZES]
    report("weighted_pairs", rows)
    worst = max(row["disagreement"] for row in rows)
    if worst > TOLERANCE:
        raise SystemExit(f"Value and gradient must agree to {TOLERANCE}, but differ by {worst}.")


if __name__ == "__main__":
    if len(sys.argv) == 5:
        variant, batch, n, dtype = sys.argv[1:]
        print_memory(variant, int(batch), int(n), {str(known): known for known in DTYPES}[dtype])
    else:
        main()
