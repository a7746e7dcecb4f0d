"""A short form of `benchmarks/endurance.py`: every hardship a few times."""

import random
import time
from functools import partial

import pytest
from hardship import damage, disks, kills, readers, requests, rivals, victims
from hardship.breakage import BREAKS, bomb
from hardship.sentences import fault
from hardship.small_runs import small_tasks
from hardship.workshop import Outcome, Workshop

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")


@pytest.fixture(scope="module")
def workshop():
    with Workshop() as made:
        yield made


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    return small_tasks(tmp_path_factory.mktemp("data"), 8)


@pytest.fixture(scope="module")
def runs(workshop, tasks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name in ("tag", "proven"):
        assert workshop.run(tasks[name].training(folder / name))[0].status == 0
    return folder


@pytest.fixture
def draw():
    return random.Random(4)


@pytest.fixture
def until():
    return time.monotonic() + 300


@pytest.mark.parametrize("breaking", [*dict.fromkeys(BREAKS), bomb])
def test_breaking_gives_other_bytes(breaking, draw):
    data = b'1\ta\t"b", c = 2\n\n2\td e\n'
    assert any(breaking(data, draw) != data for _ in range(20))


@pytest.mark.parametrize(
    ("status", "said", "fine"),
    [
        (0, "", True),
        (2, "config.json: `width` must be at least 1, got 0.", True),
        (1, "KeyError: 'loss'", False),
        (1, "Traceback (most recent call last):", False),
        (2, "", False),
        (-11, "It fell.", False),
    ],
)
def test_what_counts_as_a_sentence(status, said, fine):
    assert (fault(Outcome(status, 0.1, "", said)) is None) == fine


def test_a_reader_that_works_or_waits_too_long_is_interrupted():
    late = partial(pytest.raises, readers.SlowError)
    with late(match="0.05 seconds of the processor$"), readers.hurried(processor=0.05):
        all(True for _ in iter(int, 1))  # without end
    with late(match="0.05 seconds$"), readers.hurried(clock=0.05):
        time.sleep(60)


@pytest.mark.slow
def test_broken_inputs_are_read_or_refused(runs, draw, until):
    for reader in readers.readers(runs / "tag"):
        found = readers.try_reader(reader, 60, draw, until)
        assert not found.failures
        assert found.refused > 0


@pytest.mark.slow
def test_killed_and_resumed_a_training_comes_to_the_same_end(
    workshop, tasks, tmp_path, draw, until
):
    found = kills.kill_training(workshop, tasks["tag"], tmp_path, 3, draw, until)
    assert not found.failures
    assert found.kills == 3


@pytest.mark.slow
def test_killed_predictions_are_old_or_whole(workshop, tasks, runs, tmp_path, draw, until):
    found = kills.kill_prediction(workshop, tasks["tag"], runs / "tag", tmp_path, 4, draw, until)
    assert not found.failures
    assert found.kills == 4


@pytest.mark.slow
def test_killed_workers_are_replaced(tasks, runs, tmp_path, draw, until):
    plan, _ = victims.PLANS["a worker of predict"]
    found = plan(tasks["tag"], runs / "tag", tmp_path, 2, draw, until)
    assert not found.failures
    assert found.kills == 2


@pytest.mark.slow
def test_only_one_of_two_trainings_begins(workshop, tasks, tmp_path, draw, until):
    found = rivals.rival_trainings(workshop, tasks["tag"], tmp_path, 1, draw, until)
    assert not found.failures
    assert found.refused == 1


@pytest.mark.slow
def test_a_full_disk_and_a_read_only_one(workshop, tasks, runs, tmp_path, draw):
    task = tasks["tag"]
    with disks.small_disk(tmp_path / "disk") as disk:
        if disk is None:
            pytest.skip("only root may mount a small disk")
        filled = disks.fill_training(workshop, task, disk, runs / "tag", 1, draw)
        written = disks.fill_prediction(workshop, task, disk, runs / "tag", 1)
    assert not filled.failures + written.failures
    assert written.met == 1


@pytest.mark.slow
def test_a_folder_that_vanishes(workshop, tasks, runs, tmp_path, draw, until):
    task = tasks["tag"]
    found = disks.remove_folder(workshop, task, tmp_path, runs / "tag", 1, draw, until)
    assert not found.failures


@pytest.mark.slow
def test_damaged_run_folders(workshop, tasks, runs, tmp_path, draw, until, monkeypatch):
    monkeypatch.setattr(damage, "COMMANDS", ("predict", "certify", "resume"))
    trained = {name: tasks[name] for name in ("tag", "proven")}
    found = damage.try_damage(workshop, trained, runs, tmp_path, 24, draw, until)
    assert not found.failures
    assert found.refused > 0


@pytest.mark.slow
def test_hostile_requests(tasks, runs, draw, until):
    found = requests.try_requests(runs / "tag", tasks["tag"].dev, 80, draw, until)
    assert not found.failures
    assert found.statuses["200"] > 0
