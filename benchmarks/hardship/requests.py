"""Hostile requests to the inspector: every one is answered, and the server lives on."""

import random
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final
from urllib.parse import quote, quote_from_bytes

SECONDS, BRIEFLY = 60.0, 0.3
"""The most that an answer may take; how long to wait for one to what may not be a request."""
SECRET = b"the contents of a file that nobody may read"
METHODS = ("GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW", "get")
PATHS = (
    *("/", "/", "/", "//", "/favicon.ico", "/index.html", "/../secret", "/..%2f..%2fsecret"),
    *("/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "/static/../../secret", "/\\..\\secret", "*"),
    *("/%00", "/config.json", "/?", "/;/../secret", "http://evil.example/", "/" + "a/" * 900),
)
NAMES = ("text", "text", "text", "right", "width", "sentence", "nothing", "", "TEXT", "width[]")
VALUES = (
    *("", "1", "2", "-1", "0", "65", "64", "1e9", "9" * 400, "NaN", "null", "[]", "{}", "true"),
    *("the dog", "the old man saw a dog", "abcd", "a" * 1999, "a " * 499, "a " * 600, "DET NOUN"),
    *("<script>alert(1)</script>", "' OR 1=1 --", "../../secret", "\u202e\u0000", "\U0001f600 a"),
    *("\u0301", "\ufeff", "%s%n", "${7*7}", "{{7*7}}", "\t", "\r\nX-Injected: 1", "a\u2028b", " "),
)
HEADERS = (
    *("Origin: http://evil.example", "Referer: http://evil.example/", "Cookie: " + "a" * 5000),
    *("Content-Length: -1", "Content-Length: 99999999999", "Transfer-Encoding: chunked"),
    *("Expect: 100-continue", "Upgrade: websocket", "Range: bytes=0-1", "X: \u00ff", "Bad Header"),
    *("X-Forwarded-For: 127.0.0.1", "Accept: ../../secret", "Connection: upgrade", ": empty"),
)
HOSTS = ("127.0.0.1", "127.0.0.1", "127.0.0.1", "localhost", "evil.example", "", "[::1]", "a b")


@final
@dataclass(frozen=True)
class Sent:
    """The bytes of a request."""

    data: bytes
    whole: bool = False
    """Is it certainly a request, so that the server must answer?"""


@final
@dataclass(frozen=True)
class Answers:
    """What a server answered."""

    run: str
    requests: int
    statuses: dict[str, int]
    """How often each; "closed" where it hung up on what is hardly a request."""
    grown: int
    """Megabytes of memory that it needed more at the end than after the first requests."""
    failures: tuple[str, ...]


@contextmanager
def inspector(run: Path, file: Path, errors: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The command that serves the page, and its port; what it says goes to the file `errors`."""
    command = [sys.executable, "-m", "beamlearn", "inspect", str(run), str(file), "--no-open"]
    with (
        errors.open("w") as said,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True) as process,
    ):
        assert process.stdout is not None
        found = re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())
        assert found is not None
        try:
            yield process, int(found[1])
        finally:
            process.kill()


def try_requests(
    run: Path, file: Path, requests: int, draw: random.Random, until: float
) -> Answers:
    """Send requests to the inspector of a run."""
    (run.parent / "secret").write_bytes(SECRET)
    counts: Counter[str] = Counter()
    failures: list[str] = []
    errors = run.parent / "errors"
    with inspector(run, file, errors) as (process, port):
        first = memory(process.pid)
        for number in range(requests):
            if time.monotonic() > until:
                break
            request = draw.choice(KINDS)(draw)
            status, answer = ask(port, request)
            counts[status] += 1
            if reason := wrong(status, answer, request):
                said = f"{request.data[:300]!r}: {answer[-300:]!r}"
                failures.append(f"request {number}: {reason} for {said}")
            if number == 200:
                first = memory(process.pid)
            if process.poll() is not None:
                failures.append(f"request {number} ended the server: {request.data[:300]!r}")
                break
        status, _ = ask(port, message("GET", "/", "127.0.0.1", [], b"", whole=True))
        if status != "200":
            failures.append(f"after all requests a good one was answered with {status}")
        if said := errors.read_text():
            failures.append(f"the server said {said[-300:]!r}")
        grown = (memory(process.pid) - first) >> 20
    return Answers(
        run.name, sum(counts.values()), dict(sorted(counts.items())), grown, tuple(failures)
    )


def form(draw: random.Random) -> Sent:
    """What the form of the page might send, with wrong values."""
    pairs = [(draw.choice(NAMES), draw.choice(VALUES)) for _ in range(draw.randint(0, 3))]
    query = "&".join(f"{quote(name)}={quote(value)}" for name, value in pairs)
    return message("GET", f"/?{query}", "127.0.0.1", [], b"", whole=True)


def typed(draw: random.Random) -> Sent:
    """A text of random characters, and perhaps a right output."""
    letters = "abcd the dog DET_NOUN:(),.1\u00e9\u4e2d\u0e01\U0001f600\t\n"
    text, right = ("".join(draw.choices(letters, k=draw.randint(0, 40))) for _ in range(2))
    query = f"text={quote(text)}" + draw.choice(("", f"&right={quote(right)}"))
    path = f"/?{query}&width={draw.randint(1, 8)}"
    return message("GET", path, "127.0.0.1", [], b"", whole=True)


def anything(draw: random.Random) -> Sent:
    """Any method, path, host and headers."""
    path = draw.choice(PATHS) + draw.choice(("", "?" + quote_from_bytes(draw.randbytes(30))))
    headers = draw.sample(HEADERS, draw.randint(0, 3))
    body = draw.choice((b"", b'{"text": [[[', b"text=a", draw.randbytes(200), b"x" * 100_000))
    return message(draw.choice(METHODS), path, draw.choice(HOSTS), headers, body)


def junk(draw: random.Random) -> Sent:
    """What is hardly a request."""
    good = form(draw).data
    place = draw.randrange(len(good))
    made = (
        *(draw.randbytes(draw.randint(1, 500)), good[:place], b"\r\n" * 50, b"\x00" * 100),
        good[:place] + draw.randbytes(3) + good[place:],
        b"GET /?" + draw.randbytes(100) + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
    )
    return Sent(draw.choice(made))


KINDS: tuple[Callable[[random.Random], Sent], ...] = (form, typed, anything, anything, junk)


def message(
    method: str, path: str, host: str, headers: list[str], body: bytes, whole: bool = False
) -> Sent:
    """A request with its parts in their places."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
    if body and not any(line.startswith(("Content-Length", "Transfer")) for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return Sent("\r\n".join(lines).encode() + b"\r\n\r\n" + body, whole)


def ask(port: int, request: Sent) -> tuple[str, bytes]:
    """The status of an answer, or "closed" or "no answer", and all of its bytes."""
    answer = b""
    with (
        socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection,
        suppress(OSError),  # it may hang up before it has read all of a bad request
    ):
        connection.sendall(request.data)
        connection.settimeout(SECONDS if request.whole else BRIEFLY)
        try:
            while part := connection.recv(1 << 16):
                answer += part
        except TimeoutError:
            if request.whole:
                return "no answer", answer
    found = re.match(rb"HTTP/1\.[01] (\d{3})", answer)
    return (found[1].decode() if found else "closed"), answer


def wrong(status: str, answer: bytes, request: Sent) -> str | None:
    """What should not have been answered."""
    if SECRET in answer or b"root:x:0" in answer:
        return "a file was served"
    if b"Traceback" in answer:
        return "a traceback was served"
    if status == "no answer":
        return "no answer in time"
    if status == "closed":
        return "no answer to a request" if request.whole else None
    head, _, body = answer.partition(b"\r\n\r\n")
    if int(status) >= 500:
        return f"status {status}"
    if b"X-Injected" in head:
        return "a header was injected"
    silent = status in ("100", "204") or request.data[:4] == b"HEAD"
    return None if body or silent else f"status {status} without a sentence"


def memory(pid: int) -> int:
    """The resident bytes of a process."""
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * 4096
