"""A reliability campaign: kill, fill, damage and attack, and count what was lost.

    python benchmarks/endurance.py --minutes 60

It needs Linux; full and read-only disks are small ones in memory, for which it has to run as root
(otherwise they are left out, and the table says so). What is finished is kept in
`results/endurance.json`, and the same command goes on with the rest: hardships that were not met as
often as they should be, or in which something was lost. `--again` starts over, and `--only WORDS`
is about those with these words in their names. It ends with status 1 if anything was lost.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from hardship import damage, disks, kills, readers, requests, rivals, victims
from hardship.small_runs import SmallTask, small_tasks
from hardship.workshop import Workshop
from measure import RESULTS, machine, print_table

SAVED = RESULTS / "endurance.json"
SENTENCES = 8
Row = dict[str, Any]


@final
@dataclass(frozen=True)
class Campaign:
    """What all hardships share: small runs, a folder, chance, and the time that is left."""

    workshop: Workshop
    tasks: dict[str, SmallTask]
    folder: Path
    draw: random.Random
    until: float

    @property
    def runs(self) -> Path:
        """The folder of small runs, in which all tasks and a comparison are trained."""
        for name in self.tasks:
            self.trained(name)
        self.compared()
        return self.folder / "runs"

    def trained(self, task: str) -> Path:
        """A small run of a task."""
        out = self.folder / "runs" / task
        if not out.exists():
            self.workshop.run(self.tasks[task].training(out))
        return out

    def compared(self) -> Path:
        """A small comparison."""
        out = self.folder / "runs" / "compare"
        if not out.exists():
            self.workshop.run(self.tasks["tag"].comparison(out))
        return out


@final
@dataclass(frozen=True)
class Hardship:
    """Something to survive, and how often."""

    name: str
    times: int
    meet: Callable[[Campaign, int], Row]
    """Meet it so many times; a line of the table, without its name."""


def kill_training(task: str) -> Callable[[Campaign, int], Row]:
    def meet(at: Campaign, times: int) -> Row:
        folder = at.folder / f"kill-{task}"
        given = (at.workshop, at.tasks[task], folder, times, at.draw, at.until)
        held = "--resume; every file byte-identical to an undisturbed run"
        return kill_row(kills.kill_training(*given), held)

    return meet


def kill_prediction(task: str) -> Callable[[Campaign, int], Row]:
    def meet(at: Campaign, times: int) -> Row:
        folder, run = at.folder / f"kill-predict-{task}", at.trained(task)
        given = (at.workshop, at.tasks[task], run, folder, times, at.draw, at.until)
        held = "--resume; the output is the old file or the whole new one"
        return kill_row(kills.kill_prediction(*given), held)

    return meet


def kill_comparison(at: Campaign, times: int) -> Row:
    folder = at.folder / "kill-compare"
    given = (at.workshop, at.tasks["tag"], folder, times, at.draw, at.until)
    return kill_row(
        kills.kill_comparison(*given), "the same command; table and models are identical"
    )


def kill_victims(plan: victims.Plan) -> Callable[[Campaign, int], Row]:
    def meet(at: Campaign, times: int) -> Row:
        folder, run = at.folder / "victims", at.trained("tag")
        given = (at.tasks["tag"], run, folder, times, at.draw, at.until)
        return kill_row(plan(*given), "nobody intervenes; the result is identical to undisturbed")

    return meet


def kill_row(found: kills.Killed, held: str) -> Row:
    return row(found.kills, f"{held}, {found.endings} times", found)


def on_small_disk(
    fill: Callable[[Campaign, disks.Disk, int], disks.Shortage],
) -> Callable[[Campaign, int], Row]:
    def meet(at: Campaign, times: int) -> Row:
        with disks.small_disk(at.folder / "disk") as disk:
            if disk is None:
                return {"times": 0, "lost": 0, "held": "left out: not root", "failures": []}
            return shortage_row(fill(at, disk, times))

    return meet


def fill_training(at: Campaign, disk: disks.Disk, times: int) -> disks.Shortage:
    given = (at.workshop, at.tasks["tag"], disk, at.trained("tag"), times, at.draw)
    return disks.fill_training(*given)


def fill_prediction(at: Campaign, disk: disks.Disk, times: int) -> disks.Shortage:
    return disks.fill_prediction(at.workshop, at.tasks["tag"], disk, at.trained("tag"), times)


def protect(at: Campaign, disk: disks.Disk, _: int) -> disks.Shortage:
    given = (at.workshop, at.tasks["tag"], disk, at.trained("tag"), at.compared())
    return disks.protect_everything(*given)


def fill_comparison(at: Campaign, disk: disks.Disk, times: int) -> disks.Shortage:
    given = (at.workshop, at.tasks["tag"], disk, at.compared(), times, at.draw)
    return disks.fill_comparison(*given)


def remove_folder(at: Campaign, times: int) -> Row:
    folder, whole = at.folder / "vanishing", at.trained("tag")
    given = (at.workshop, at.tasks["tag"], folder, whole, times, at.draw, at.until)
    return shortage_row(disks.remove_folder(*given))


def shortage_row(found: disks.Shortage) -> Row:
    held = f"{found.met} sentences, nothing damaged, went on afterwards"
    return row(found.times, held, found)


def contest(rivalry: Callable[..., rivals.Rivalry]) -> Callable[[Campaign, int], Row]:
    def meet(at: Campaign, times: int) -> Row:
        folder = at.folder / rivalry.__name__
        found = rivalry(at.workshop, at.tasks["tag"], folder, times, at.draw, at.until)
        held = f"identical to undisturbed; {found.refused} times one was refused"
        return row(found.pairs, held, found)

    return meet


def damage_files(at: Campaign, times: int) -> Row:
    scratch = at.folder / "damaged"
    scratch.mkdir(exist_ok=True)
    given = (at.workshop, at.tasks, at.runs, scratch, times, at.draw, at.until)
    found = damage.try_damage(*given)
    held = f"{found.worked} worked, {found.refused} refused, {found.silent} silently wrong models"
    return row(found.cases, held, found)


def misread(name: str) -> Callable[[Campaign, int], Row]:
    def meet(at: Campaign, times: int) -> Row:
        reader = next(one for one in readers.readers(at.trained("tag")) if one.name == name)
        found = readers.try_reader(reader, times, at.draw, at.until)
        held = (
            f"{found.valid} read, {found.refused} refused ({found.with_line} with the line), "
            f"slowest {found.slowest} s, memory + {found.megabytes} MB"
        )
        return row(found.cases, held, found)

    return meet


def attack(task: str) -> Callable[[Campaign, int], Row]:
    def meet(at: Campaign, times: int) -> Row:
        given = (at.trained(task), at.tasks[task].dev, times, at.draw, at.until)
        found = requests.try_requests(*given)
        statuses = ", ".join(f"{status}: {count}" for status, count in found.statuses.items())
        return row(found.requests, f"{statuses}; memory + {found.grown} MB", found)

    return meet


def row(times: int, held: str, found: Any) -> Row:
    """A line of the table."""
    failures = list(found.failures[:20])
    return {"times": times, "lost": len(found.failures), "held": held, "failures": failures}


HARDSHIPS: Sequence[Hardship] = (
    *(Hardship(f"broken input, {name}", 10_000, misread(name)) for name in readers.NAMES),
    Hardship("SIGKILL, train tag", 18, kill_training("tag")),
    Hardship("SIGKILL, train parse", 14, kill_training("parse")),
    Hardship("SIGKILL, train transduce", 14, kill_training("transduce")),
    Hardship("SIGKILL, train tag, online", 10, kill_training("proven")),
    *(
        Hardship(f"SIGKILL, predict {task}", 12, kill_prediction(task))
        for task in ("tag", "parse", "transduce")
    ),
    Hardship("SIGKILL, compare tag", 8, kill_comparison),
    *(
        Hardship(f"SIGKILL, {name}", times, kill_victims(plan))
        for name, (plan, times) in victims.PLANS.items()
    ),
    Hardship("full disk, train", 10, on_small_disk(fill_training)),
    Hardship("full disk, predict", 10, on_small_disk(fill_prediction)),
    Hardship("read-only disk", 7, on_small_disk(protect)),
    Hardship("full disk, compare", 2, on_small_disk(fill_comparison)),
    Hardship("folder vanishes, train", 10, remove_folder),
    Hardship("at the same time, train and train", 8, contest(rivals.rival_trainings)),
    Hardship("at the same time, train --resume twice", 8, contest(rivals.rival_resumptions)),
    Hardship("at the same time, compare and compare", 2, contest(rivals.rival_comparisons)),
    Hardship("damaged file in a run folder", 320, damage_files),
    *(
        Hardship(f"hostile request, inspect {task}", times, attack(task))
        for task, times in {"tag": 4_000, "parse": 3_000, "transduce": 3_000}.items()
    ),
)


def read_saved() -> dict[str, Row]:
    if not SAVED.exists():
        return {}
    found: list[Row] = json.loads(SAVED.read_text())["rows"]
    return {one["hardship"]: one for one in found}


def save(name: str, met: Row) -> None:
    """Write what is finished; the rows of two campaigns at the same time are both kept."""
    merged = {**read_saved(), name: {"hardship": name, **met}}
    ordered = [merged[one.name] for one in HARDSHIPS if one.name in merged]
    unfinished = SAVED.with_suffix(f".{os.getpid()}.part")
    unfinished.write_text(json.dumps({"machine": machine(), "rows": ordered}, indent=1) + "\n")
    os.replace(unfinished, SAVED)


def left(words: str, scale: float) -> list[tuple[Hardship, int]]:
    """What is to be met, and how often."""
    saved, found = read_saved(), []
    for one in HARDSHIPS:
        times = max(1, round(one.times * scale))
        row = saved.get(one.name, {"times": 0, "lost": 0})
        if words in one.name and (row["times"] < times or row["lost"]):
            found.append((one, times))
    return found


def run(hardships: Sequence[tuple[Hardship, int]], minutes: float, seed: int) -> None:
    """Meet hardships until the time is over; one that was cut short says how far it came."""
    until = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder, Workshop() as workshop:
        tasks = small_tasks(Path(folder) / "data", SENTENCES)
        for one, times in hardships:
            if time.monotonic() > until:
                break
            draw = random.Random(f"{seed} {one.name}")
            save(one.name, one.meet(Campaign(workshop, tasks, Path(folder), draw, until), times))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--scale", type=float, default=1.0, help="share of each hardship to meet")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="WORDS")
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    if given.again:
        SAVED.unlink(missing_ok=True)
    run(left(given.only, given.scale), given.minutes, given.seed)
    rows = list(read_saved().values())
    print_table([{name: one[name] for name in ("hardship", "times", "lost")} for one in rows])
    for one in rows:
        for failure in one["failures"]:
            print(f"{one['hardship']}: {failure}", file=sys.stderr)
    return int(any(one["lost"] for one in rows))


if __name__ == "__main__":
    sys.exit(main())
