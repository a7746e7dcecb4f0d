"""A reliability campaign: kill, fill, damage and attack, and count what was lost.

    python benchmarks/endurance.py --minutes 60

It needs Linux; full and read-only disks are small ones in memory, for which it has to run as root
(otherwise they are left out, and the table says so). Parts that are finished are kept in
`results/endurance.json`, and the same command goes on with the others; `--again` starts over, and
`--only PART` runs one part again. It ends with status 1 if anything was lost.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from hardship import damage, disks, kills, readers, requests, rivals
from hardship.small_runs import SmallTask, small_tasks
from hardship.workshop import Workshop
from measure import RESULTS, machine, print_table

SAVED = RESULTS / "endurance.json"
SENTENCES = 8
Row = dict[str, Any]


@final
@dataclass(frozen=True)
class Campaign:
    """What all parts share: small runs, a folder, chance, and the time that is left."""

    workshop: Workshop
    tasks: dict[str, SmallTask]
    folder: Path
    draw: random.Random
    until: float
    scale: float
    """How much of each part to do; 1 is all of it."""

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def times(self, count: int) -> int:
        return max(1, round(count * self.scale))

    def prepare(self) -> None:
        """Train a small run of every task, and a comparison."""
        for name, task in self.tasks.items():
            self.workshop.run(task.training(self.runs / name))
        self.workshop.run(self.tasks["tag"].comparison(self.runs / "compare"))


def killed(part: Campaign) -> Iterator[Row]:
    for name, count in {"tag": 18, "parse": 14, "transduce": 14, "proven": 10}.items():
        folder = part.folder / f"kill-{name}"
        more = (part.times(count), part.draw, part.until)
        found = kills.kill_training(part.workshop, part.tasks[name], folder, *more)
        yield kill_row(found, "--resume; every file byte-identical to an undisturbed run")
    for name in ("tag", "parse", "transduce"):
        folder = part.folder / f"kill-predict-{name}"
        run, more = part.runs / name, (part.times(12), part.draw, part.until)
        found = kills.kill_prediction(part.workshop, part.tasks[name], run, folder, *more)
        yield kill_row(found, "the output is the old file or the whole new one")
    folder, more = part.folder / "kill-compare", (part.times(8), part.draw, part.until)
    found = kills.kill_comparison(part.workshop, part.tasks["tag"], folder, *more)
    yield kill_row(found, "the same command; table and models are identical")


def kill_row(found: kills.Killed, held: str) -> Row:
    return row(f"SIGKILL, {found.command}", found.kills, f"{held}, {found.endings} times", found)


def starved(part: Campaign) -> Iterator[Row]:
    tag, whole, compared = part.tasks["tag"], part.runs / "tag", part.runs / "compare"
    with disks.small_disk(part.folder / "disk") as disk:
        if disk is None:
            yield {"hardship": "full and read-only disks", "times": 0, "held": "left out: not root"}
        else:
            found = [
                disks.fill_training(part.workshop, tag, disk, whole, part.times(10), part.draw),
                disks.fill_prediction(part.workshop, tag, disk, whole, part.times(10)),
                disks.protect_everything(part.workshop, tag, disk, whole, compared),
                disks.fill_comparison(part.workshop, tag, disk, compared, part.times(2), part.draw),
            ]
            yield from map(shortage_row, found)
    folder = part.folder / "vanishing"
    yield shortage_row(
        disks.remove_folder(
            part.workshop, tag, folder, whole, part.times(10), part.draw, part.until
        )
    )


def shortage_row(found: disks.Shortage) -> Row:
    held = f"{found.met} sentences, nothing damaged, went on afterwards"
    return row(found.hardship, found.times, held, found)


def contested(part: Campaign) -> Iterator[Row]:
    plans: dict[Callable[..., rivals.Rivalry], int] = {
        rivals.rival_trainings: 8,
        rivals.rival_resumptions: 8,
        rivals.rival_comparisons: 2,
    }
    for meet, count in plans.items():
        folder = part.folder / meet.__name__
        more = (part.times(count), part.draw, part.until)
        found = meet(part.workshop, part.tasks["tag"], folder, *more)
        held = f"identical to undisturbed; {found.refused} times one was refused"
        yield row(f"at the same time, {found.commands}", found.pairs, held, found)


def damaged(part: Campaign) -> Iterator[Row]:
    scratch = part.folder / "damaged"
    scratch.mkdir(exist_ok=True)
    found = damage.try_damage(
        *(part.workshop, part.tasks, part.runs, scratch),
        *(part.times(320), part.draw, part.until),
    )
    held = f"{found.worked} worked, {found.refused} refused, {found.silent} silently wrong models"
    yield row("damaged file in a run folder", found.cases, held, found)


def misread(part: Campaign) -> Iterator[Row]:
    for reader in readers.readers(part.runs / "tag"):
        found = readers.try_reader(reader, part.times(10_000), part.draw, part.until)
        held = (
            f"{found.valid} read, {found.refused} refused ({found.with_line} with the line), "
            f"slowest {found.slowest} s"
        )
        yield row(f"broken input, {found.reader}", found.cases, held, found)


def attacked(part: Campaign) -> Iterator[Row]:
    for name, count in {"tag": 4_000, "parse": 3_000, "transduce": 3_000}.items():
        found = requests.try_requests(
            part.runs / name, part.tasks[name].dev, part.times(count), part.draw, part.until
        )
        statuses = ", ".join(f"{status}: {times}" for status, times in found.statuses.items())
        held = f"{statuses}; memory + {found.grown} MB"
        yield row(f"hostile request, inspect {name}", found.requests, held, found)


def row(hardship: str, times: int, held: str, found: Any) -> Row:
    """A line of the table."""
    return {
        "hardship": hardship,
        "times": times,
        "held": held,
        "lost": len(found.failures),
        "failures": list(found.failures[:20]),
    }


PARTS: dict[str, Callable[[Campaign], Iterator[Row]]] = {
    "readers": misread,
    "kills": killed,
    "disks": starved,
    "rivals": contested,
    "damage": damaged,
    "requests": attacked,
}


def read_saved() -> dict[str, list[Row]]:
    saved: dict[str, list[Row]] = json.loads(SAVED.read_text())["parts"] if SAVED.exists() else {}
    return saved


def save(parts: dict[str, list[Row]]) -> None:
    """Write what is finished; the parts of two campaigns at the same time are both kept."""
    merged = {**read_saved(), **parts}
    ordered = {name: merged[name] for name in PARTS if name in merged}
    unfinished = SAVED.with_suffix(".json.part")
    unfinished.write_text(json.dumps({"machine": machine(), "parts": ordered}, indent=1) + "\n")
    os.replace(unfinished, SAVED)


def run(names: Iterable[str], minutes: float, scale: float, seed: int) -> dict[str, list[Row]]:
    """Run parts until the time is over; a part that was cut short says how far it came."""
    done: dict[str, list[Row]] = {}
    until = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder, Workshop() as workshop:
        tasks = small_tasks(Path(folder) / "data", SENTENCES)
        part = Campaign(workshop, tasks, Path(folder), random.Random(seed), until, scale)
        part.prepare()
        for name in names:
            if time.monotonic() > until:
                break
            done[name] = list(PARTS[name](part))
            save({name: done[name]})
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--scale", type=float, default=1.0, help="share of each part to do")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    if given.again:
        SAVED.unlink(missing_ok=True)
    names = given.only or [name for name in PARTS if name not in read_saved()]
    run(names, given.minutes, given.scale, given.seed)
    rows = [one for part in read_saved().values() for one in part]
    print_table(
        [{name: one.get(name, 0) for name in ("hardship", "times", "lost")} for one in rows]
    )
    for one in rows:
        for failure in one.get("failures", ()):
            print(f"{one['hardship']}: {failure}", file=sys.stderr)
    return int(any(one.get("lost") for one in rows))


if __name__ == "__main__":
    sys.exit(main())
