"""Leases: one owner among the processes of all machines."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from beamlearn.data import lease
from beamlearn.data.lease import Lease, LeaseLostError, Owner, machine, start_of, try_lease

ELSEWHERE = "node7-0123456789ab"


@pytest.fixture
def lock(tmp_path):
    return tmp_path / "lock"


def sign(lock, machine, pid=1, start="1", age=0.0, token="0" * 16):
    """The file that an owner left, so many seconds ago."""
    path = lock.with_name(f"lock.{machine}.{pid}.{start}.{token}")
    path.touch()
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def files(lock):
    return sorted(path.name for path in lock.parent.iterdir())


def gone():
    """A process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_there_is_one_owner_and_nothing_stays_but_the_lock(lock):
    with try_lease(lock) as mine:
        assert mine is not None
        with try_lease(lock) as second:
            assert second is None
        assert mine.path.exists()
    assert files(lock) in (["lock"], [])
    with try_lease(lock) as again:
        assert again is not None


def test_the_file_names_machine_and_process(lock):
    with try_lease(lock) as mine:
        assert mine.path.name.startswith(f"lock.{machine()}.{os.getpid()}.{start_of(os.getpid())}.")


@pytest.mark.parametrize(
    ("age", "free"), [(0.0, False), (lease.STALE - 10, False), (lease.STALE + 10, True)]
)
def test_another_machine_is_given_up_when_it_gives_no_sign(lock, age, free):
    left = sign(lock, ELSEWHERE, pid=os.getpid(), age=age)
    with try_lease(lock) as mine:
        assert (mine is not None) == free
        assert left.exists() != free
    assert left.exists() != free


def test_a_process_that_ended_here_is_given_up_at_once(lock):
    left = sign(lock, machine(), pid=gone())
    with try_lease(lock) as mine:
        assert mine is not None
    assert not left.exists()


def test_a_process_that_is_alive_here_is_never_given_up(lock):
    left = sign(lock, machine(), os.getpid(), start_of(os.getpid()), age=10 * lease.STALE)
    with try_lease(lock) as mine:
        assert mine is None
    assert left.exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell")
def test_a_number_that_is_used_again_is_another_process(lock):
    assert Owner(machine(), os.getpid(), "1").gone
    assert not Owner(machine(), os.getpid(), start_of(os.getpid())).gone


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell")
def test_a_killed_process_is_gone_before_anybody_waits_for_it():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert start_of(process.pid) is not None
        process.kill()
        limit = time.monotonic() + 10
        while start_of(process.pid) is not None and time.monotonic() < limit:
            time.sleep(0.01)
        assert start_of(process.pid) is None


def test_other_files_are_left_alone(lock):
    names = ["lock.txt", "locks.node7.1.1." + "0" * 16, "lock.node7.1.1.xyz"]
    for name in names:
        lock.with_name(name).touch()
    with try_lease(lock) as mine:
        assert mine is not None
    assert set(names) <= set(files(lock))


def test_a_lease_is_renewed_while_it_is_held(lock, monkeypatch):
    monkeypatch.setattr(lease, "BEAT", 0.01)
    with try_lease(lock) as mine:
        os.utime(mine.path, (0, 0))
        limit = time.monotonic() + 10
        while mine.path.stat().st_mtime == 0 and time.monotonic() < limit:
            time.sleep(0.01)
        assert mine.path.stat().st_mtime > 0


def test_who_slept_too_long_notices(lock, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(lease, "clocks", lambda: (clock[0], 0.0))
    lock.with_name("mine").touch()
    mine = Lease(lock.with_name("mine"))
    mine.path.unlink()
    mine.check()  # so soon after a sign, nobody else has taken over
    clock[0] = lease.STALE / 2 + 1
    with pytest.raises(LeaseLostError, match="gave no sign for 180 seconds, and another has taken"):
        mine.check()


def test_who_slept_and_was_not_given_up_goes_on(lock, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(lease, "clocks", lambda: (0.0, clock[0]))
    lock.with_name("mine").touch()
    mine = Lease(lock.with_name("mine"))
    os.utime(mine.path, (0, 0))
    clock[0] = lease.STALE
    mine.check()
    assert mine.path.stat().st_mtime > 0
    assert mine.renewed == (0.0, lease.STALE)


def before_looking(monkeypatch, act):
    """Let something happen after the first announcement, before it looks for others."""
    look, todo = lease.owners, [act]

    def owners(lock):
        while todo:
            todo.pop()()
        return look(lock)

    monkeypatch.setattr(lease, "owners", owners)


def test_who_announces_first_is_seen_by_who_comes_later(lock, monkeypatch):
    found = []
    before_looking(monkeypatch, lambda: found.append(lease.announced(lock)))
    assert lease.announced(lock) is not None
    assert found == [None]
    assert len(files(lock)) == 1


def test_of_two_that_announce_at_once_one_gives_way(lock, monkeypatch):
    before_looking(monkeypatch, lambda: sign(lock, ELSEWHERE))
    assert lease.announced(lock) is None
    assert files(lock) == [f"lock.{ELSEWHERE}.1.1.{'0' * 16}"]


HOLDER = """
import sys
from pathlib import Path
from beamlearn.data.lease import try_lease
with try_lease(Path(sys.argv[1])) as held:
    print(held is not None, flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_killed_holder_leaves_the_folder_free(lock):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout.readline() == "True\n"
        with try_lease(lock) as mine:
            assert mine is None
        holder.kill()
        holder.wait()
    assert len(files(lock)) == 2
    with try_lease(lock) as mine:
        assert mine is not None
