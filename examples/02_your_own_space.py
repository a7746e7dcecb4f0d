"""A hiker, a beam, and why the beam has to be there while the hiker learns.

A hiker crosses a country of parallel valleys from top to bottom. Inside a valley, the only way is
down. At every pass the hiker chooses among three valleys and sees only their entrances. The
meadows that look inviting mostly lead to scree and cliffs.

Likelihood training compares the neighbors of one place: three entrances with the same past. It
finds the best rule about entrances. But it never compares a path that has crossed a cliff with one
that has not, so the weight of cliffs stays zero. A beam that is added at test time then does not
know which paths to keep, whether they are ranked by score or by summed log-probability. Training
with the beam compares paths with different pasts, and the same four weights learn the cost of each
terrain.
"""

import random
from collections.abc import Sequence

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

import beamlearn as bl

TABLE_1 = {name: row for name, row in bl.ALGORITHMS.items() if row.table == 1}
COST = {"meadow": 1.0, "forest": 2.0, "scree": 4.0, "cliff": 8.0}
SYMBOL = {"meadow": ".", "forest": ":", "scree": "%", "cliff": "#"}
VALLEYS, LENGTH, PASSES, WIDTH = 9, 4, 5, 8
Country = list[tuple[str, ...]]  # rows of terrain
Place = tuple[int, int, str]  # row, column, terrain: a node of the graph


def random_country(rng: random.Random) -> Country:
    def valley() -> list[str]:
        trap = rng.random() < 0.6
        entrance = "meadow" if rng.random() < (0.8 if trap else 0.2) else "forest"
        middle = rng.choices(["meadow", "forest", "scree"] if trap else ["meadow", "forest"], k=2)
        return [entrance, *middle, rng.choice(["scree", "cliff"] if trap else ["meadow", "forest"])]

    stretches = [[valley() for _ in range(VALLEYS)] for _ in range(PASSES)]
    return [row for valleys in stretches for row in zip(*valleys, strict=True)]


def crossing(country: Country) -> bl.GraphSpace:
    """The search space: the start, the neighbors of a place, and the cost of a step."""

    def neighbors(place: Place) -> list[Place]:
        row, column = place[0] + 1, place[1]
        if row == len(country):
            return []
        reach = 1 if row % LENGTH == 0 else 0  # sideways at passes only
        columns = range(max(0, column - reach), min(VALLEYS, column + reach + 1))
        return [(row, column, country[row][column]) for column in columns]

    start = (-1, VALLEYS // 2, "meadow")
    return bl.GraphSpace(start, neighbors, step_cost=lambda _, place: COST[place[2]])


def new_scorer() -> bl.LinearScorer:
    """Score a path by how often it crossed each kind of terrain; the weights start at zero."""

    def times_crossed(path: Sequence[Place]) -> dict[str, float]:
        return {kind: sum(kind in place for place in path) for kind in COST}

    return bl.LinearScorer(times_crossed, names=list(COST))


def train(name: str, task: bl.GraphTask, data: list[Country], bars: Progress) -> bl.LinearScorer:
    """Train with one algorithm; data, order, learning rate and rounds are the same for all."""
    scorer, row, training, validation = new_scorer(), bl.ALGORITHMS[name], data[:32], data[32:]
    order = torch.Generator().manual_seed(1)
    batches = list(bl.minibatches(training, size=8, epochs=5, generator=order))
    optimizer = torch.optim.SGD(scorer.parameters(), lr=0.1)
    rounds = bl.learn(batches, task, scorer, optimizer, **row.choices)
    best = bl.BestOnValidation(scorer)
    for round in bars.track(rounds, total=len(batches), description=name):
        if round.number % 10 == 0:
            best.offer(bl.evaluate([validation], task, scorer, row.width).cost)
    best.restore()
    return scorer


def draw(country: Country, path: Sequence[Place]) -> Text:
    """The country with its ridges, and the path in brackets."""
    lines = [f"costs {sum(COST[kind] for *_, kind in path[1:]):.0f}"]
    for row, column, _ in path[1:]:
        ridge = "|" if row % LENGTH else " "
        line = list(ridge + ridge.join(SYMBOL[kind] for kind in country[row]) + ridge)
        line[2 * column], line[2 * column + 2] = "[", "]"
        lines.append("".join(line))
    text = Text("\n".join(lines))
    text.highlight_regex(r"\[.\]", "bold reverse")
    return text


def main(seed: int = 1) -> None:
    torch.set_num_threads(1)  # the tensors are small
    rng, task, console = random.Random(seed), bl.GraphTask(crossing), Console(highlight=False)
    data, held_out = ([random_country(rng) for _ in range(n)] for n in (48, 32))
    with Progress(console=console, transient=True) as bars:
        trained = {name: train(name, task, data, bars) for name in TABLE_1}
    greedy, beam = trained["log_likelihood"], trained["continue"]

    weights = Table("terrain", "cost", "weight by likelihood", "weight by training with the beam")
    for (kind, *one), (_, *other) in zip(greedy.weights(), beam.weights(), strict=True):
        numbers = (COST[kind], *(round(weight, 2) + 0.0 for weight in one + other))
        weights.add_row(f"{SYMBOL[kind]} {kind}", *map(str, numbers))

    by_regret = bl.evaluate([held_out], task, greedy, width=1).regrets.argsort(stable=True)
    country = held_out[int(by_regret[len(held_out) // 2])]  # a typical one for greedy search
    space, maps = task.space([country]), Table.grid(padding=(0, 4))
    paths = [bl.beam_search(space, s, width=w).outputs[0] for s, w in ((greedy, 1), (beam, WIDTH))]
    maps.add_row("greedy likelihood", f"trained beam of {WIDTH}")
    maps.add_row(*(draw(country, path) for path in paths))
    console.print(weights, maps, f"The best path costs {space.oracle().initial().item():.0f}.\n")

    table = Table("algorithm", "width", "training", "held out", "increases", "best found")

    def add(name: str, scorer: bl.LinearScorer, width: int, last: bool = False) -> None:
        seen, unseen = (bl.evaluate([part], task, scorer, width) for part in (data[:32], held_out))
        numbers = (seen.cost, unseen.cost, unseen.increases_per_example)
        found = f"{(unseen.regrets == 0).sum()} of {len(unseen)}"
        table.add_row(name, str(width), *(f"{x:.2f}" for x in numbers), found, end_section=last)
        table.title = f"Mean cost of a crossing (best held out: {unseen.optimum:.2f})"

    add("untrained", new_scorer(), 1)
    add("untrained", new_scorer(), WIDTH, last=True)
    for name, row in TABLE_1.items():
        add(name, trained[name], row.width, last=name == "continue")
    add("likelihood, test beam", greedy, WIDTH)
    greedy.accumulate, greedy.normalize = True, "log_softmax"
    add("  by log-probability", greedy, WIDTH)
    table.caption = "increases: how many transitions of a held-out search increase the cost"
    console.print(table)


if __name__ == "__main__":
    main()
