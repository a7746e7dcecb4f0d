"""Run commands in processes of their own, which can be killed, without loading torch each time.

One process loads everything and forks a child for each command. A child is a real process: it has
its own memory and locks, and SIGKILL ends it as it would end a command in a shell.
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, final

PATIENCE = 600.0
"""The most seconds that a command may take; after them it is taken to hang."""
POLL = 0.002
TIMED_OUT = "timed out"


@final
@dataclass(frozen=True)
class Command:
    """The arguments of a command, and when it is killed."""

    arguments: tuple[str, ...]
    kill_after: float | None = None
    """Seconds from its start; None: never."""
    start_after: float = 0.0
    """Seconds after the others that are run at the same time."""
    patience: float = PATIENCE

    @classmethod
    def of(cls, *arguments: object, **more: Any) -> "Command":
        return cls(tuple(map(str, arguments)), **more)


@final
@dataclass(frozen=True)
class Outcome:
    """What became of a command."""

    status: int
    """Its exit status; minus the signal if one ended it."""
    seconds: float
    out: str = field(repr=False)
    err: str
    hung: bool = False

    @property
    def killed(self) -> bool:
        return self.status == -signal.SIGKILL and not self.hung


@final
class Workshop:
    """Runs commands; use it in a `with` statement."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.scratch = tempfile.TemporaryDirectory()

    def __enter__(self) -> "Workshop":
        here = Path(__file__).resolve().parent.parent
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
        path = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(here)])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hardship.workshop", self.scratch.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "PYTHONPATH": path},
            cwd=self.folder,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.communicate()  # the end of its input ends it
        self.scratch.cleanup()

    def run(self, *commands: Command) -> list[Outcome]:
        """Run commands at the same time, to the end or until they are killed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = json.dumps([asdict(command) for command in commands])
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        return [Outcome(**one) for one in json.loads(self.process.stdout.readline())]

    def one(self, *arguments: object, **more: Any) -> Outcome:
        """Run one command."""
        return self.run(Command.of(*arguments, **more))[0]


def serve(scratch: Path) -> None:
    """Read lists of commands, one per line, and answer each with a list of outcomes."""
    from beamlearn.cli.jobs import certify, compare, diagnose, inspect, predict, report, train

    assert all((certify, compare, diagnose, inspect, predict, report, train))
    for line in sys.stdin:
        outcomes = together([Command(**one) for one in json.loads(line)], scratch)
        print(json.dumps([asdict(one) for one in outcomes]), flush=True)


def together(commands: Sequence[Command], scratch: Path) -> list[Outcome]:
    """Run commands at the same time."""
    begun = time.monotonic()
    running: dict[int, int] = {}
    found: dict[int, Outcome] = {}
    while len(found) < len(commands):
        passed = time.monotonic() - begun
        for place, command in enumerate(commands):
            if place in found:
                continue
            since = passed - command.start_after
            if place not in running:
                if since >= 0:
                    running[place] = forked(command, scratch, place)
                continue
            pid, status = os.waitpid(running[place], os.WNOHANG)
            hung = since > command.patience
            if not pid and (hung or (command.kill_after or 1e9) <= since):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(running[place], signal.SIGKILL)
                pid, status = os.waitpid(running[place], 0)
            if pid:
                out, err = (path.read_text(errors="replace") for path in outputs(scratch, place))
                code = os.waitstatus_to_exitcode(status)
                found[place] = Outcome(code, since, out, err, hung)
        time.sleep(POLL)
    return [found[place] for place in range(len(commands))]


def outputs(scratch: Path, place: int) -> tuple[Path, Path]:
    return scratch / f"{place}.out", scratch / f"{place}.err"


def forked(command: Command, scratch: Path, place: int) -> int:
    """Begin a command in a child; return the child's number."""
    if pid := os.fork():
        return pid
    status = 70
    try:
        with redirected(*outputs(scratch, place)):
            sys.argv = ["beamlearn", *command.arguments]
            from beamlearn.cli.main import run

            status = run(list(command.arguments))
    except BaseException as error:  # what a shell would show as a traceback
        outputs(scratch, place)[1].write_text(f"Traceback: {type(error).__name__}: {error}")
    os._exit(status)


@contextmanager
def redirected(out: Path, err: Path) -> Iterator[None]:
    """Give this process no input, and files for its output."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (as long as the process)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
