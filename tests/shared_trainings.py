"""Trainings that several processes share, or that one does alone: what each of them comes to.

`torchrun ... shared_trainings.py FOLDER PARTS` prints it as JSON.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path

import tiny
import tiny_pairs
import tiny_trees
import torch
import torch.distributed as dist
from spaces import HammingTask, TableScorer

import beamlearn as bl
from beamlearn.learning.ranks import Ranks
from beamlearn.strategies import Interpolate
from beamlearn.tasks.experiment import begin, fingerprints, read_data
from beamlearn.tasks.parsing.task import PARSING
from beamlearn.tasks.sharing import follow, lead, training_alike
from beamlearn.tasks.tagging.task import TAGGING
from beamlearn.tasks.transduction.task import TRANSDUCTION
from beamlearn.training.checkpointer import Checkpointer
from beamlearn.training.run import Run
from beamlearn.training.trainer import fit

GOLD = [[2, 3, 1], [2, 1, 3], [0, 1, 2], [3, 3, 1], [1, 2, 3], [0, 0, 1], [1, 1, 1]]
ONLINE = {"algorithm": "continue", "learning_rate": 0.5, "stream": True}


def experiments(folder):
    """Trainings of all tasks; 13 examples are batches of 4 and one of 1."""
    tag, parse, transduce = tiny.experiment, tiny_trees.experiment, tiny_pairs.experiment
    once, kept = {"epochs": 1, "shards": 6}, {"mixture": 2, "average": True}
    coins, phases = {"strategy": "interpolate", "beta": 0.5}, {"beam_start": 0.5, "beam_restart": 1}
    return {
        "tag": (TAGGING, tag(folder / "tag", 13, dev=6, shards=6, epochs=2, **kept)),
        "coins": (TAGGING, tag(folder / "coins", 13, **coins, **once)),
        "list": (TAGGING, tag(folder / "list", 13, final_width=2, algorithm="bso", **once)),
        "online": (TAGGING, tag(folder / "online", 13, optimizer="gradient", **ONLINE, **once)),
        "leader": (TAGGING, tag(folder / "leader", 13, optimizer="leader", **ONLINE, **once)),
        "warm": (TAGGING, tag(folder / "tag", 13, dev=6, warm_start=folder / "tag-1", **once)),
        "parse": (PARSING, parse(folder / "parse", 13, **once)),
        "transduce": (TRANSDUCTION, transduce(folder / "transduce", 13, **phases, **once)),
        "transformer": (
            TRANSDUCTION,
            transduce(folder / "transformer", 13, {"model": "transformer"}, **once),
        ),
    }


def contents(run):
    """A digest of everything that a training comes to."""
    files = [*run.glob("*.safetensors"), *run.glob("*.json*"), *run.glob("checkpoint/*")]
    return {str(f.relative_to(run)): sha256(f.read_bytes()).hexdigest() for f in sorted(files)}


def trained(folder, ranks):
    """Train all of them in folders of their own."""
    found = {}
    chosen_ones = experiments(folder) if ranks.number == 0 else {}
    ranks.gather(b"")  # the first one has written the data files
    for name, (task, chosen) in (chosen_ones or experiments(folder / "copy")).items():
        if ranks.number > 0:
            fit(follow(task, ranks, "cpu"))
            continue
        out = folder / f"{name}-{ranks.count}"
        prepared = lead(ranks, lambda t=task, e=chosen, o=out: begin(t, e, o))
        with prepared.checkpointer.run.lock():
            fit(prepared.training, Checkpointer(prepared.checkpointer.run))
        found[name] = contents(out)
    return found


def learned(loss, strategy, group, batches=(GOLD, GOLD[:1], GOLD), **options):
    """The weights and the rounds of a small `learn`."""
    scorer = TableScorer(torch.nn.Parameter(torch.zeros(3, 5, 4)))
    optimizer = torch.optim.Adam([scorer.table], lr=0.1)
    rounds = bl.learn(
        batches,
        HammingTask(4),
        scorer,
        optimizer,
        loss=loss,
        strategy=strategy,
        width=2,
        shards=6,
        group=group,
        generator=torch.Generator(),
        **options,
    )
    return [str(round) for round in rounds], scorer.table.tolist()


def losses_and_strategies(group):
    """Every loss with the learned policy, and every strategy with one loss."""
    pairs = [(loss, "continue") for loss in bl.losses.LOSSES]
    some = ["oracle", "stop", "reset", Interpolate(0.5)]
    pairs += [("log_loss_neighbors", strategy) for strategy in some]
    return {f"{loss} {strategy}": learned(loss, strategy, group) for loss, strategy in pairs}


def refusals(folder, group):
    """What each process says of mistakes that only one of them makes."""
    ranks = Ranks(group)
    odd = ranks.number == 1
    wrong = {
        "weights": lambda: other_weights(odd, group),
        "batches": lambda: learned("upper_bound", "stop", group, batches=[GOLD[odd:]]),
        "fewer": lambda: learned("upper_bound", "stop", group, batches=[GOLD] * (3 - odd)),
        "loss": lambda: learned(failing if odd else "upper_bound", "continue", group),
        "shards": lambda: learned_with(4 * ranks.count + 1, group),
        "normalized": lambda: normalized(group),
        "data": lambda: other_data(folder, ranks),
        "crash": lambda: crash(ranks),
    }
    found = {}
    for name, mistake in wrong.items():
        try:
            mistake()
            found[name] = ranks.gather(b"nothing")
        except Exception as error:
            found[name] = ranks.gather(f"{type(error).__name__}: {error}".encode())
    return {name: [one.decode() for one in all] for name, all in found.items()}


def failing(scores, costs, width, mask=None):
    raise ValueError("This loss is out of order.")


def other_weights(odd, group):
    scorer = TableScorer(torch.nn.Parameter(torch.full((3, 5, 4), float(odd))))
    optimizer = torch.optim.SGD([scorer.table], lr=0.1)
    options = {"loss": "upper_bound", "shards": 6, "group": group}
    list(bl.learn([GOLD], HammingTask(4), scorer, optimizer, **options))


def learned_with(shards, group):
    scorer = TableScorer(torch.nn.Parameter(torch.zeros(3, 5, 4)))
    optimizer = torch.optim.SGD([scorer.table], lr=0.1)
    options = {"loss": "upper_bound", "shards": shards, "group": group}
    list(bl.learn([GOLD], HammingTask(4), scorer, optimizer, **options))


def normalized(group):
    """A part of the model changes with the examples that a process sees."""
    training = tiny.training(train=13, shards=6, epochs=1)
    training.scorer.register_buffer("seen", torch.zeros(1))
    training.scorer.register_forward_pre_hook(lambda *_: None)
    begun = training.task.space
    training.join(group)

    def space(batch):
        if training.scorer.training:
            training.scorer.seen += len(batch)
        return begun(batch)

    training.task.space = space
    fit(training)


def other_data(folder, ranks):
    chosen = tiny.experiment(folder / f"data{ranks.number}", 13 + ranks.number, shards=6)
    first = tiny.experiment(folder / "data0", 13, shards=6)
    marks = fingerprints(*read_data(TAGGING, first))
    config = {**chosen.resolved().model_dump(mode="json"), **marks}
    vocabulary = Run.open(folder / "tag-1").vocabulary
    with ranks.agreeing():
        training_alike(TAGGING, config, vocabulary, "cpu")


def crash(ranks):
    with ranks.agreeing():
        if ranks.number == ranks.count - 1:
            raise KeyError("out of order")


def main(folder, *parts):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    group = dist.group.WORLD
    found = {}
    if "trained" in parts:
        found["trained"] = trained(folder, Ranks(group))
    if "learned" in parts:
        found["learned"] = losses_and_strategies(group)
    if "refused" in parts:
        found["refused"] = refusals(folder, group)
    if dist.get_rank() == 0:
        print(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
