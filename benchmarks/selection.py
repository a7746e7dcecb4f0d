"""Choosing the next beam: `top_children` against the plain top-k of the flattened sum.

Every variant gets local scores and the scores of the parents, and must return the k best
children. `top_children` also promises their order at ties, which is checked against a stable
sort, on inputs with and without ties. `read` is the limit: the maximum of the local scores,
that is one look at every number.

Where beamgrad is installed, its compiled step takes part.
"""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from measure import Timing, interleave, report
from torch import Tensor

from beamlearn.search.ranking import top_children

WIDTH = 8
BATCHES = (8, 32)
ACTIONS = (50, 200, 1000, 5000, 32000)
Choice = tuple[Tensor, Tensor]


def plain(local: Tensor, offset: Tensor) -> Choice:
    """Accumulate, flatten, top-k: values are right, the order of ties is not promised."""
    best = (local + offset[..., None]).flatten(1).topk(WIDTH, dim=-1)
    return best.values, best.indices


def ours(local: Tensor, offset: Tensor) -> Choice:
    return top_children(local, offset, WIDTH)


def beamgrad_step() -> Callable[[Tensor, Tensor], Choice] | None:
    """One step of beamgrad's kernel, or None where the package is not installed."""
    try:
        importlib.import_module("beamgrad")
    except ImportError as missing:
        print(f"Without beamgrad: {missing}. To compare, pip install it beside this torch.")
        return None
    return _beamgrad


def _beamgrad(local: Tensor, offset: Tensor) -> Choice:
    """Call the kernel as `beamgrad.beam_search` does: no end of sequence, nothing banned."""
    batch, slots, actions = local.shape
    lengths = torch.zeros(batch, slots, dtype=torch.int32)
    finished = torch.zeros(batch, slots, dtype=torch.uint8)
    prefixes = torch.empty(batch, slots, 0, dtype=torch.int32)
    action, slot, _, _, total, *_ = torch.ops.beamgrad.decode_step(
        local, offset, lengths, finished, prefixes, -1, 0, 0.0, None, 0, 1.0, False, []
    )
    return total, slot.long() * actions + action.long()


def inputs(batch: int, actions: int, tied: bool = False) -> Choice:
    """Local scores and offsets; with ties, a few whole numbers and parents that are equal."""
    generator = torch.Generator().manual_seed(actions)
    local = torch.randn(batch, WIDTH, actions, generator=generator)
    offset = torch.randn(batch, WIDTH, generator=generator)
    return (local.round(), offset.round()) if tied else (local, offset)


def check(choose: Callable[[Tensor, Tensor], Choice], batch: int, actions: int) -> None:
    """Compare with a stable sort, values and order."""
    for tied in (False, True):
        local, offset = inputs(batch, actions, tied)
        ordered = (local + offset[..., None]).flatten(1).sort(dim=-1, descending=True, stable=True)
        for found, right in zip(choose(local, offset), ordered, strict=True):
            if not torch.equal(found, right[:, :WIDTH]):
                raise SystemExit(f"{choose.__name__} is wrong: {batch=} {actions=} {tied=}")


def row(batch: int, actions: int, kernel: Callable[[Tensor, Tensor], Choice] | None) -> Any:
    exact = {"ours": ours} | ({} if kernel is None else {"beamgrad": kernel})
    for choose in exact.values():
        check(choose, batch, actions)
    local, offset = inputs(batch, actions)
    variants = {"plain": plain, **exact}
    runs = {name: partial(choose, local, offset) for name, choose in variants.items()}
    times = interleave({**runs, "read": local.amax})
    tied = inputs(batch, actions, tied=True)
    worst = interleave({"plain": partial(plain, *tied), "ours": partial(ours, *tied)}, seconds=1)
    return {
        "batch": batch,
        "actions": actions,
        "plain_us": 1e6 * times["plain"].seconds,
        **{f"{name}_us": _microseconds(times.get(name)) for name in ("ours", "beamgrad", "read")},
        "ours/plain": times["ours"].ratio,
        "beamgrad/plain": times["beamgrad"].ratio if "beamgrad" in times else "-",
        "ours/plain, all tied": worst["ours"].ratio,
    }


def _microseconds(timing: Timing | None) -> float | str:
    return "-" if timing is None else 1e6 * timing.seconds


def main() -> None:
    kernel = beamgrad_step()
    rows = [row(batch, actions, kernel) for batch in BATCHES for actions in ACTIONS]
    report("selection", rows, slots=WIDTH, width=WIDTH)


if __name__ == "__main__":
    main()
