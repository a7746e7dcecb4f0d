import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from tiny import (
    begin,
    contents,
    experiment,
    finish,
    flip,
    halve,
    load,
    newest,
    part,
    resume,
    training,
)

from beamlearn.evaluation.evaluate import Evaluation
from beamlearn.learning.learn import Round
from beamlearn.training import trainer as module
from beamlearn.training.run import BusyError, Run, RunError
from beamlearn.training.trainer import Validation, fit

pytestmark = pytest.mark.usefixtures("no_shape_checks")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An experiment, and the folder of its uninterrupted training."""
    folder = tmp_path_factory.mktemp("whole")
    chosen = experiment(folder, dev=4)
    finish(begin(chosen, folder / "run"))
    return chosen, folder / "run"


# --- fit ----------------------------------------------------------------------------------------


def test_fit_shows_every_event_to_every_watcher_and_ends_with_the_best(monkeypatch):
    costs = iter([torch.tensor([cost]) for cost in (2.0, 1.0, 3.0)])
    none = torch.tensor([0])

    def found(cost):
        return Evaluation(cost, none.float(), none)

    monkeypatch.setattr(module, "evaluate_together", lambda *_, **__: found(next(costs)))
    steps, seen, states = training(epochs=3), ([], []), []

    def first(watched, event):
        assert watched is steps
        seen[0].append(event)
        states.append(steps.state()[0])

    fit(steps, first, lambda _, event: seen[1].append(event))
    assert seen[0] == seen[1]
    kinds = [type(event) for event in seen[0]]
    assert kinds == [Round, Round, Round, Validation] * 3
    assert [e.best for e in seen[0] if isinstance(e, Validation)] == [True, True, False]
    final = steps.scorer.state_dict()
    assert all(torch.equal(tensor, states[7][f"model.{name}"]) for name, tensor in final.items())
    assert any(not torch.equal(t, states[11][f"model.{name}"]) for name, t in final.items())


def test_a_second_fit_changes_nothing():
    steps = training(epochs=1)
    fit(steps)
    weights = {name: tensor.clone() for name, tensor in steps.scorer.state_dict().items()}
    fit(steps, lambda *_: pytest.fail("an event after the end"))
    assert all(torch.equal(weights[n], t) for n, t in steps.scorer.state_dict().items())


# --- Checkpointer ---------------------------------------------------------------------------------


def test_every_round_and_validation_is_logged(whole):
    records = list(Run.open(whole[1]).rounds())
    rounds = [record for record in records if "loss" in record]
    found = [record for record in records if "epoch" in record]
    assert [record["round"] for record in rounds] == list(range(1, 10))
    assert [(record["epoch"], record["round"]) for record in found] == [(1, 3), (2, 6), (3, 9)]
    assert set(rounds[0]) == {
        *("round", "width", "examples", "loss", "cost", "increases", "on_policy"),
        *("gradient_norm", "likelihood_loss", "beam_weight"),
    }
    assert {record["width"] for record in rounds} == {3}
    assert sum(record["examples"] for record in rounds) == 3 * 12
    assert set(found[0]) == {
        *("epoch", "round", "best"),
        *("validation_loss", "validation_cost", "validation_increases"),
    }


def test_the_model_is_the_best_one(whole):
    chosen, folder = whole
    tagger, kept = load(folder)
    assert kept == chosen.resolved()
    prepared = resume(folder)
    assert prepared.training.stopped
    fit(prepared.training)
    for name, tensor in tagger.scorer.state_dict().items():
        assert torch.equal(tensor, prepared.model.scorer.state_dict()[name])


@pytest.mark.parametrize(("seconds", "rounds"), [(0.0, 1), (1e9, 0)])
def test_checkpoints_by_time_and_at_the_end_of_an_epoch(tmp_path, seconds, rounds):
    prepared = begin(experiment(tmp_path), tmp_path / "run")
    part(prepared, 1, seconds)
    assert int(newest(tmp_path / "run").stem.removeprefix("round-")) == rounds
    part(prepared, 3, seconds)
    assert int(newest(tmp_path / "run").stem.removeprefix("round-")) == 3


def test_a_better_model_is_kept_and_a_worse_one_is_not(tmp_path):
    prepared = begin(experiment(tmp_path, epochs=1), tmp_path / "run")
    training, run = prepared.training, prepared.checkpointer.run
    *_, found = list(training)
    found.__dict__["best"] = False
    prepared.checkpointer(training, found)
    assert not (tmp_path / "run" / "model.safetensors").exists()
    found.__dict__["best"] = True
    prepared.checkpointer(training, found)
    assert run.load_model().keys() == training.scorer.state_dict().keys()


# --- going on -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_left_after_any_event_it_ends_in_the_same_bytes(whole, tmp_path, seconds):
    chosen, folder = whole
    for events in (0, 2, 3, 4, 12):
        run = tmp_path / str(events)
        part(begin(chosen, run), events, seconds)
        finish(resume(run), seconds)
        assert contents(run) == contents(folder), events


def test_left_after_every_event_it_ends_in_the_same_bytes(whole, tmp_path):
    chosen, folder = whole
    begin(chosen, tmp_path / "run")
    for _ in range(12):
        part(resume(tmp_path / "run"), 1)
    finish(resume(tmp_path / "run"))
    assert contents(tmp_path / "run") == contents(folder)


def test_left_before_the_first_checkpoint_it_ends_in_the_same_bytes(whole, tmp_path):
    chosen, folder = whole
    begin(chosen, tmp_path / "run")
    newest(tmp_path / "run").unlink()
    finish(resume(tmp_path / "run"))
    assert contents(tmp_path / "run") == contents(folder)


def test_going_on_after_the_end_changes_nothing(whole):
    before = contents(whole[1])
    finish(resume(whole[1]))
    assert contents(whole[1]) == before


def test_lines_and_models_after_the_checkpoint_are_taken_back(whole, tmp_path):
    chosen, folder = whole
    run = tmp_path / "run"
    part(begin(chosen, run), 4)
    model = (run / "model.safetensors").read_bytes()
    with (run / "rounds.jsonl").open("a") as file:
        file.write('{"round": 4, "loss": 1.0}\n{"round": 3, "epoch": 2}\n{"round": 5, "lo')
    (run / "model.safetensors").write_bytes(b"of a later epoch, whose checkpoint was not written")
    prepared = resume(run)
    records = [json.loads(line) for line in (run / "rounds.jsonl").read_text().splitlines()]
    assert [record["round"] for record in records] == [1, 2, 3, 3]
    assert (run / "model.safetensors").read_bytes() == model
    finish(prepared)
    assert contents(run) == contents(folder)


KILLS = textwrap.dedent(
    """
    import os, random, signal, sys, time
    from pathlib import Path
    import torch
    from beamlearn.training.checkpointer import Checkpointer
    from beamlearn.training.trainer import fit
    from beamlearn.tasks.experiment import begin, resume
    from beamlearn.tasks.tagging.settings import TaggingExperiment
    from beamlearn.tasks.tagging.task import TAGGING

    torch.set_num_threads(1)
    experiment = TaggingExperiment.model_validate_json(sys.argv[1])
    whole, killed = Path(sys.argv[2]), Path(sys.argv[3])
    draw = random.Random()

    def train(folder):
        there = (folder / "config.json").exists()
        prepared = resume(TAGGING, folder) if there else begin(TAGGING, experiment, folder)
        with prepared.checkpointer.run.lock():
            fit(prepared.training, Checkpointer(prepared.checkpointer.run, seconds=0.05))

    def start(folder):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                train(folder)
                code = 0
            finally:
                sys.stdout.flush()
                os._exit(code)
        return child

    def logged(folder):
        path = folder / "rounds.jsonl"
        return path.stat().st_size if path.exists() else 0

    train(whole)  # here, so that what is imported on first use is there for all children
    for goal in sorted(draw.uniform(0, 0.85 * logged(whole)) for _ in range(5)):
        child = start(killed)
        deadline = time.monotonic() + 60
        while logged(killed) < goal and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(draw.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        print("killed" if os.WIFSIGNALED(status) else f"ended with {status}")
    assert os.waitpid(start(killed), 0)[1] == 0
    """
)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="the test forks its trainings")
def test_killed_five_times_it_ends_in_the_same_bytes(tmp_path):
    chosen = experiment(tmp_path, train=40, dev=5, epochs=4, patience=None)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    arguments = [chosen.model_dump_json(), str(whole), str(killed)]
    done = subprocess.run(
        [sys.executable, "-c", KILLS, *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["killed"] * 5
    assert contents(killed) == contents(whole)
    assert not list(killed.rglob(".*.tmp"))


# --- damage -------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [halve, flip, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize("events", [7, 12])
def test_a_damaged_newest_checkpoint_is_passed_over(whole, tmp_path, damage, events):
    chosen, folder = whole
    run = tmp_path / "run"
    part(begin(chosen, run), events)
    damaged = newest(run)
    damage(damaged)
    told = []
    finish(resume(run, report=told.append))
    assert len(told) == 1
    assert told[0].startswith(f"{damaged} cannot be used (")
    assert "; going back to round " in told[0]
    assert contents(run) == contents(folder)


def test_all_checkpoints_damaged(whole, tmp_path):
    run = tmp_path / "run"
    part(begin(whole[0], run), 6)
    for path in (run / "checkpoint").iterdir():
        halve(path)
    log = (run / "rounds.jsonl").read_bytes()
    with pytest.raises(RunError, match="^No checkpoint in .*checkpoint can be used, not even"):
        resume(run, report=lambda _: None)
    assert (run / "rounds.jsonl").read_bytes() == log


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        ("tagger", "history_size", 9),
        ("tagger", "history", "gru"),
        ("tagger", "model", "linear"),
        ("tagger", "word_size", 5),
        ("learning", "batch_size", 2),
        ("learning", "epochs", 1),
    ],
)
def test_a_changed_config_does_not_fit_the_checkpoint(whole, tmp_path, group, name, value):
    run = tmp_path / "run"
    part(begin(whole[0], run), 9)
    config = json.loads((run / "config.json").read_text())
    config[group][name] = value
    (run / "config.json").write_text(json.dumps(config))
    log = (run / "rounds.jsonl").read_bytes()
    with pytest.raises(RunError, match="^The checkpoint of round 7 in .* does not fit its config"):
        resume(run)
    assert (run / "rounds.jsonl").read_bytes() == log


def test_nobody_goes_back_under_a_running_training(whole, tmp_path):
    run = tmp_path / "run"
    prepared = begin(whole[0], run)
    with prepared.checkpointer.run.lock():
        part(prepared, 6)
        before = {path: path.read_bytes() for path in Path(run).rglob("*") if path.is_file()}
        with pytest.raises(RunError, match="Another process is training in"):
            resume(run)
        after = {path: path.read_bytes() for path in Path(run).rglob("*") if path.is_file()}
        assert before == after


def test_nobody_goes_on_from_what_another_process_has_left_behind(whole, tmp_path):
    """Two read the same folder; one trains, and is killed or not."""
    run = tmp_path / "run"
    first = begin(whole[0], run)
    second = resume(run)
    with first.checkpointer.held():
        part(first, 2, seconds=60.0)  # in the log, and in no checkpoint
    with pytest.raises(BusyError, match="has gone on with the training in .*resume it"):
        finish_held(second)
    third = resume(run)
    finish_held(third)
    assert contents(run) == contents(whole[1])
    with pytest.raises(BusyError), first.checkpointer.held():
        pass


def finish_held(prepared):
    with prepared.checkpointer.held():
        fit(prepared.training, prepared.checkpointer)


def test_who_is_slow_to_begin_does_not_replace_what_another_has_begun(whole, tmp_path, monkeypatch):
    """Between the folder and its first checkpoint, another process trains to the end."""
    run, create = tmp_path / "run", Run.create

    def slowly(*arguments):
        made = create(*arguments)
        finish_held(resume(run))
        return made

    monkeypatch.setattr(Run, "create", slowly)
    with pytest.raises(BusyError):
        begin(whole[0], run)
    assert contents(run) == contents(whole[1])
