import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from shared_trainings import losses_and_strategies, trained

from beamlearn.learning.ranks import Ranks

HERE = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def processes(count, folder, *parts):
    """What so many processes find together."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    launch += [f"--nproc-per-node={count}", str(HERE / "shared_trainings.py"), str(folder), *parts]
    paths = [str(HERE), str(HERE.parent / "src")]
    more = {"PYTHONPATH": os.pathsep.join(paths), "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        launch, env={**os.environ, **more}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def alone(folder):
    """What one process finds by itself, in JSON as others print it."""
    found = {"trained": trained(folder, Ranks()), "learned": losses_and_strategies(None)}
    return json.loads(json.dumps(found))


@pytest.fixture(scope="module")
def two(alone, folder):
    return processes(2, folder, "trained", "learned", "refused")


def test_two_processes_come_to_the_same_bytes(alone, two):
    for name, files in alone["trained"].items():
        assert {"config.json", "model.safetensors", "rounds.jsonl"} <= files.keys()
        assert two["trained"][name] == files, name
    assert {"average.safetensors", "mixture.safetensors"} <= alone["trained"]["tag"].keys()


def test_three_processes_learn_the_same_with_every_loss_and_strategy(alone, two, folder):
    three = processes(3, folder, "learned")
    for name, outcome in alone["learned"].items():
        assert two["learned"][name] == three["learned"][name] == outcome, name


def test_a_mistake_of_one_process_is_told_by_all(two):
    for name, sentences in two["refused"].items():
        assert len(sentences) == 2, name
        assert all("must" in one or "out of order" in one for one in sentences), sentences
    words = {name: sentences[0] for name, sentences in two["refused"].items()}
    assert "same weights in all processes, got others in process 1; " in words["weights"]
    assert "same batches, got one of 6 examples in process 1 and of 7" in words["batches"]
    assert "same batches, but process 1 has no more of them" in words["fewer"]
    assert words["loss"] == "UsageError: This loss is out of order."
    assert "`shards` must be a multiple of the number of processes" in words["shards"]
    assert "same weights in all processes" in words["normalized"]
    assert "must be the same in all processes, got others" in words["data"]
    assert words["crash"] == (
        "RankError: Process 1 of the training failed: KeyError: 'out of order'"
    )
