"""What samples without replacement cost beside a beam search, and what their weights are worth.

The overhead is that of the whole search on the tagging problem of `synthetic`. The variance is that
of the estimated cost of what a small transducer would write, which learned to spell digits for one
or three epochs: k different outputs with their weights against the mean of k ordinary samples.
"""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from measure import Row, interleave, print_table, report
from synthetic import BATCH, Recurrent, sentences
from torch import Tensor

from beamlearn import BeamTransducer, SearchSpace, beam_search, stochastic_beam_search
from beamlearn.tasks.loading import load

WIDTHS = (4, 16)
REPEATS, SOURCES = 100, 20
SETTINGS: dict[str, Any] = {
    "batch_size": 10,
    "learning_rate": 0.02,
    "size": 48,
    "dropout": 0.0,
    "length_extra": 10,
    "algorithm": "log_likelihood",
}
DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def overhead() -> list[Row]:
    torch.manual_seed(0)
    space, scorer = sentences(BATCH), Recurrent().eval()
    scorer.normalize = "log_softmax"
    rows: list[Row] = []
    for width in WIDTHS:
        variants: dict[str, Callable[[], object]] = {
            "beam search": partial(beam_search, space, scorer, width),
            "sample": partial(stochastic_beam_search, space, scorer, width, seeds=range(BATCH)),
        }
        found = interleave(variants)
        rows.append({"width": width, "sample / beam search": found["sample"].ratio})
    return rows


def trained(epochs: int) -> tuple[Any, list[str], list[str]]:
    """A transducer that spells digits, and what it is tested on."""
    draw = random.Random(0)
    numbers = [str(draw.randrange(100, 1000)) for _ in range(400)]
    words = ["".join(DIGITS[int(digit)] for digit in number) for number in numbers]
    transducer = BeamTransducer(**SETTINGS, epochs=epochs)
    transducer.fit(numbers[:300], words[:300], numbers[300:350], words[300:350])
    with TemporaryDirectory() as folder:
        transducer.save(Path(folder) / "run")
        model, _ = load(Path(folder) / "run")
    return model, numbers[-SOURCES:], words[-SOURCES:]


def costs_of(space: SearchSpace[Any], outputs: list[list[Any]]) -> Tensor:
    """The cost of each output of each example; 0 where there is none."""
    most = max(map(len, outputs))
    rows = [
        [*(float(space.cost(example, y) or 0.0) for y in ways), *[0.0] * (most - len(ways))]
        for example, ways in enumerate(outputs)
    ]
    return torch.tensor(rows, dtype=torch.float64)


@torch.no_grad()
def estimates(model: Any, sources: list[str], right: list[str], k: int) -> Row:
    """The variances of three estimates, as shares of that of ordinary samples."""
    batch = [
        model.encode(source, [text])
        for source, text in zip(sources, right, strict=True)
        for _ in range(REPEATS)
    ]
    space, scorer = model.space(batch), model.scorer.eval()
    generator = torch.Generator().manual_seed(k)
    sample = stochastic_beam_search(space, scorer, k, generator=generator)
    costs = costs_of(space, [[way.output for way in ways] for ways in sample.nbest])
    ordinary = []
    for _ in range(k):
        alone = stochastic_beam_search(space, scorer, 1, generator=generator)
        ordinary.append(costs_of(space, [[output] for output in alone.outputs])[:, 0])
    found = {
        "ordinary": torch.stack(ordinary).mean(dim=0),
        "weighted": (sample.weights * costs).sum(dim=-1),
        "normalized": (sample.normalized_weights * costs).sum(dim=-1),
    }
    truth = found["ordinary"].view(SOURCES, REPEATS).mean(dim=-1)
    spread = {name: variance(values) for name, values in found.items()}
    return {
        "k": k,
        "mean cost": float(truth.mean()),
        "weighted mean": float(found["weighted"].mean()),
        "normalized mean": float(found["normalized"].mean()),
        "standard deviation": spread["ordinary"] ** 0.5,
        "weighted / ordinary": spread["weighted"] / spread["ordinary"],
        "normalized / ordinary": spread["normalized"] / spread["ordinary"],
    }


def variance(values: Tensor) -> float:
    """The variance between repeats, averaged over the sources."""
    return float(values.view(SOURCES, REPEATS).var(dim=-1).mean())


def main() -> None:
    times = overhead()
    print_table(times)
    rows: list[Row] = []
    for epochs in (1, 3):
        made = trained(epochs)
        rows += [{"epochs": epochs, **estimates(*made, k)} for k in WIDTHS]
    report("stochastic_beams", rows, overhead=times)


if __name__ == "__main__":
    main()
