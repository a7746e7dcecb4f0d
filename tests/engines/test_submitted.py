"""Jobs of submitit as an executor: here those of its local processes, as they are of SLURM."""

import os
import signal
from concurrent.futures import wait
from pathlib import Path

import pytest

from beamlearn.check import UsageError
from beamlearn.engines import EngineError, open_engine
from beamlearn.engines.engine import submitted
from beamlearn.engines.lost import LostWorkerError, is_lost
from beamlearn.engines.submitted import SubmittedJobs, outcome_of


class Job:
    """A job that ends when told to."""

    def __init__(self, work, arguments):
        self.work, self.arguments = work, arguments
        self.ended, self.canceled, self.error = False, False, None

    def done(self):
        return self.ended

    def result(self):
        if self.error is not None:
            raise self.error
        return self.work(*self.arguments)

    def cancel(self, check=True):
        self.canceled = True


class Submitter:
    def __init__(self):
        self.jobs = []

    def submit(self, fn, *args, **kwargs):
        self.jobs.append(Job(fn, args))
        return self.jobs[-1]


def refuse():
    raise UsageError("This must not be.", "setting")


@pytest.fixture
def submitter():
    return Submitter()


@pytest.fixture
def engine(submitter):
    engine = SubmittedJobs(submitter, look=0.01)
    yield engine
    engine.shutdown(cancel_futures=True)


def test_results_and_errors_come_when_jobs_end(engine, submitter):
    found, refused = engine.submit(max, 3, 4), engine.submit(refuse)
    assert not wait([found, refused], timeout=0.1).done
    submitter.jobs[1].ended = True
    error = refused.exception(timeout=10)
    assert (type(error), str(error), error.settings) == (
        UsageError,
        "This must not be.",
        ("setting",),
    )
    assert not found.done()
    submitter.jobs[0].ended = True
    assert found.result(timeout=10) == 4


class FailedJobError(RuntimeError):
    pass


@pytest.mark.parametrize(
    ("error", "lost"), [(RuntimeError("no\noutput"), True), (FailedJobError("import"), False)]
)
def test_jobs_without_a_result_were_lost_unless_they_failed(engine, submitter, error, lost):
    found = engine.submit(max, 3, 4)
    submitter.jobs[0].error, submitter.jobs[0].ended = error, True
    raised = found.exception(timeout=10)
    assert is_lost(raised) == lost
    assert "\n" not in str(raised)


def test_what_is_raised_cancels_the_jobs(submitter):
    with pytest.raises(KeyError), submitted(SubmittedJobs(submitter, look=0.01)) as engine:  # noqa: PT012
        found = engine.submit(max, 3, 4)
        raise KeyError
    assert submitter.jobs[0].canceled
    assert isinstance(found.exception(timeout=0), LostWorkerError)
    with pytest.raises(RuntimeError, match="after shutdown"):
        engine.submit(max, 3, 4)


def test_the_end_waits_for_the_jobs(submitter):
    with submitted(SubmittedJobs(submitter, look=0.01)) as engine:
        found = engine.submit(max, 3, 4)
        submitter.jobs[0].ended = True
    assert found.result(timeout=0) == 4
    assert not submitter.jobs[0].canceled


def test_without_slurm_its_engine_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(EngineError, match="`engine` = slurm needs .* there is no srun on this"),
        open_engine("slurm:cpu"),
    ):
        pass


@pytest.mark.slow
def test_slurm_is_asked_for_the_partition(monkeypatch, tmp_path):
    """With commands of the same names: what would be submitted is written to a file."""
    pytest.importorskip("submitit")
    for name in ("srun", "sbatch", "scancel", "sacct"):
        script = "echo Submitted batch job 7" if name == "sbatch" else ""
        (tmp_path / name).write_text(f"#!/bin/sh\ncat $1 >> {tmp_path}/{name}.seen\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(KeyError), open_engine("slurm:short", jobs=tmp_path / "jobs") as engine:  # noqa: PT012
        engine.submit(max, 3, 4)
        raise KeyError
    asked = (tmp_path / "sbatch.seen").read_text()
    assert "#SBATCH --partition=short" in asked
    assert "#SBATCH --cpus-per-task=1" in asked
    assert (tmp_path / "scancel.seen").exists()


def die():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_local_jobs_of_submitit(tmp_path):
    submitit = pytest.importorskip("submitit")
    with submitted(SubmittedJobs(submitit.LocalExecutor(tmp_path), look=0.1)) as engine:
        futures = [engine.submit(call, *values) for call, values in CALLS]
        wait(futures, timeout=60)
    value, refused, killed = futures
    assert value.result() == 4
    assert isinstance(refused.exception(), UsageError)
    assert is_lost(killed.exception())


CALLS = [(max, (3, 4)), (refuse, ()), (die, ())]


def test_outcomes_keep_errors():
    assert outcome_of(max, 3, 4).value == 4
    assert isinstance(outcome_of(refuse).error, UsageError)
    assert isinstance(outcome_of(Path.read_text, Path("nowhere")).error, FileNotFoundError)
