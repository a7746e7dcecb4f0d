import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tiny
from shared_trainings import contents

from beamlearn.cli.jobs.processes import check_store
from beamlearn.cli.jobs.train import check_overwriting, check_shareable, goes_on
from beamlearn.cli.main import run
from beamlearn.cli.torchrun import Launch

SOURCES = Path(__file__).parents[2] / "src"
FOUND = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "1"}


def test_without_torchrun_there_is_one_process():
    assert Launch.of({}) == Launch()
    assert Launch.of({"WORLD_SIZE": "4"}) == Launch()  # of something else


def test_what_torchrun_says():
    elastic = {
        "LOCAL_RANK": "1",
        "GROUP_WORLD_SIZE": "3",
        "TORCHELASTIC_RESTART_COUNT": "2",
        "TORCHELASTIC_MAX_RESTARTS": "5",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }
    launch = Launch.of({**FOUND, **elastic})
    assert launch == Launch(2, 1, 1, 3, "localhost", 1, 2, 5, True)
    assert not launch.speaks


def test_only_the_first_process_tells_what_is_wrong(monkeypatch, capfd):
    for name, value in FOUND.items():
        monkeypatch.setenv(name, value)
    wrong = ["train", "tag", "--train", "x", "--out", "y"]
    assert run([*wrong, "--width", "0"]) == run([*wrong, "--nonsense"]) == 2
    assert capfd.readouterr() == ("", "")
    monkeypatch.setenv("RANK", "0")
    assert run([*wrong, "--width", "0"]) == 2
    assert "--width must be" in capfd.readouterr().err


def test_a_training_without_shards_cannot_be_shared(tmp_path):
    chosen = tiny.experiment(tmp_path)
    check_shareable(chosen, Launch())
    with pytest.raises(ValueError, match="number of processes, which is 2, got 1; .*`shards=2`"):
        check_shareable(chosen, Launch(processes=2))
    data = chosen.data.model_copy(update={"train": "-"})
    learning = chosen.learning.model_copy(update={"shards": 2})
    piped = chosen.model_copy(update={"data": data, "learning": learning})
    with pytest.raises(ValueError, match="must be files if 2 processes read them, got standard"):
        check_shareable(piped, Launch(processes=2))


def test_a_restart_goes_on_with_what_there_is(tmp_path):
    values = {"data": {"train": "x"}}
    assert not goes_on(tmp_path, values, Launch(restarts=1), resuming=False)
    assert not goes_on(tmp_path / "none", values, Launch(), resuming=True)
    (tmp_path / "config.json").touch()
    assert goes_on(tmp_path, values, Launch(restarts=1), resuming=False)
    assert not goes_on(tmp_path, values, Launch(), resuming=False)


def test_what_restarts_would_break_is_refused(tmp_path):
    chosen = {"resuming": False, "overwrite": True}
    check_overwriting(tmp_path, {}, Launch(), **chosen)
    with pytest.raises(ValueError, match="`overwrite` must be left out if torchrun may restart"):
        check_overwriting(tmp_path, {}, Launch(max_restarts=1), **chosen)
    kept = {"keeps_store": True, "max_restarts": 1}
    check_store(Launch(processes=2, **kept))
    with pytest.raises(ValueError, match="TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 in its environment"):
        check_store(Launch(processes=2, machines=2, **kept))


# --- real processes -----------------------------------------------------------------------------


def options(folder, epochs, **more):
    """A small training of a tagger with dropout and coins."""
    data = tiny.conllu(folder / "train.conllu", tiny.sentences(40))
    chosen = {
        "train": data,
        "epochs": epochs,
        "patience": 0,
        "batch-size": 8,
        "min-count": 1,
        "word-size": 4,
        "history-size": 8,
        "strategy": "interpolate",
        "beta": 0.5,
        "shards": 4,
        **more,
    }
    return ["train", "tag", *(f"--{name}={value}" for name, value in chosen.items())]


def torchrun(processes, *command, restarts=0):
    """Start processes that share a training."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    launch += [f"--nproc-per-node={processes}", f"--max-restarts={restarts}", "-m", "beamlearn"]
    more = {"PYTHONPATH": str(SOURCES), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*launch, *command], env={**os.environ, **more}, stderr=subprocess.PIPE, text=True
    )


def pid_of(launcher, rank):
    """The process of a rank, found by what torchrun set in its environment."""
    for child in Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split():
        if f"\0RANK={rank}\0".encode() in b"\0" + Path(f"/proc/{child}/environ").read_bytes():
            return int(child)
    raise LookupError(f"There is no process of rank {rank}.")


def wait_for_lines(log, lines, seconds=100):
    for _ in range(seconds * 50):
        if log.exists() and log.read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.02)
    raise TimeoutError(f"{log} has no {lines} lines.")


def result(out):
    return {name: digest for name, digest in contents(out).items() if name != "metrics.json"}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs the folder /proc")
def test_killed_restarted_and_resumed_alone_it_comes_to_the_same_bytes(tmp_path):
    command = options(tmp_path, epochs=8)
    assert run([*command, f"--out={tmp_path / 'alone'}", "--quiet"]) == 0
    out = tmp_path / "killed"
    launcher = torchrun(2, *command, f"--out={out}", restarts=3)
    try:
        for rank, lines in ((1, 8), (0, 20)):
            wait_for_lines(out / "rounds.jsonl", lines)
            os.kill(pid_of(launcher, rank), signal.SIGKILL)
        wait_for_lines(out / "rounds.jsonl", 32)
        launcher.terminate()
        _, told = launcher.communicate(timeout=100)
    finally:
        launcher.kill()
    assert not (out / "metrics.json").exists(), told
    assert run(["train", "tag", f"--out={out}", "--resume", "--quiet"]) == 0
    assert result(out) == result(tmp_path / "alone")


@pytest.mark.slow
def test_an_error_is_told_once(tmp_path):
    command = options(tmp_path, epochs=1, **{"learning-rate": 1e30})
    launcher = torchrun(2, *command, f"--out={tmp_path / 'run'}")
    _, told = launcher.communicate(timeout=100)
    assert launcher.returncode != 0
    assert told.count("Training diverged after round") == 1
    assert "LostRank" not in told
