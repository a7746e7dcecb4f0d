"""The server by real requests: what it answers, what it refuses, and that it lives on."""

import html
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import quote, urlsplit

import pytest
from inspected_runs import NASTY, inspected, runs, served
from loopback import ask

from beamlearn.check import UsageError
from beamlearn.reports.inspector import InputRequest
from beamlearn.reports.inspector.server import HEADERS
from beamlearn.web.listening import bound

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, module_without_shape_checks):
    return runs(tmp_path_factory.mktemp("inspected"))


@pytest.fixture(scope="module")
def both(folder):
    return inspected(folder, "one", "two")


@pytest.fixture(scope="module")
def url(both):
    with served(both) as address:
        yield address


def test_a_sentence_of_the_file(url, both):
    status, text, headers = ask(f"{url}/?sentence=2&width=3")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    seen = both[0].inspect(InputRequest(3, number=1))
    text = html.unescape(text)
    assert seen.subject.text in text
    assert seen.outcome in text
    assert 'href="/?sentence=1&width=3"' in text
    assert 'href="/?sentence=3&width=3"' in text


def test_the_first_and_the_last_sentence_have_one_neighbor(url):
    assert 'rel="prev"' not in ask(url)[1]
    assert 'rel="next"' in ask(url)[1]
    assert 'rel="next"' not in ask(f"{url}/?sentence=9")[1]


def test_an_input_that_was_typed_stays_in_the_form(url):
    status, text, _ = ask(f"{url}/?text={quote(NASTY)}&right=")
    assert status == 200
    assert "<img" not in text
    assert f'value="{html.escape(NASTY)}"' in text
    status, text, _ = ask(f"{url}/?text=the+dog&right=DET")
    assert status == 400
    assert "Expected a right tag for each of the 2 words" in text
    assert 'value="the dog"' in text


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("?sentence=abc", 400, "must be a whole number from 1 to 9, got 'abc'"),
        ("?width=-1", 400, "`width` must be a whole number"),
        ("?width=1e9", 400, "`width` must be a whole number"),
        ("?text=%zz", 400, "two hexadecimal digits"),
        ("?text=%ff", 400, "UTF-8"),
        ("?text=a%00b", 400, "control characters"),
        ("?text=", 400, "words with spaces between them"),
        ("?text=" + "a" * 2001, 413, "2,000 characters"),
        ("?text=" + "a+" * 600, 413, "500 words"),
        ("?text=" + "a" * 55_000, 414, "50,000 characters"),
        ("?" + "&".join(f"x{n}=1" for n in range(2000)), 400, "no parameter called"),
        ("?<script>alert(1)</script>=1", 400, "no parameter called"),
        ("nowhere", 404, "The only page is /"),
        ("..%2f..%2fetc/passwd", 404, "The only page is /"),
    ],
)
def test_wrong_requests_are_answered_with_a_sentence(url, query, status, sentence):
    found, text, headers = ask(f"{url}/{query}")
    assert found == status
    assert sentence in html.unescape(text)
    assert "Traceback" not in text
    assert "<script>alert" not in text
    assert headers["x-frame-options"] == "DENY"
    assert ask(url)[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_but_reading(url, method):
    status, text, headers = ask(url, method, b"text=a")
    assert status == 405
    assert f"The method must be GET or HEAD, got {method}" in text
    assert set(headers["allow"].split(", ")) == {"GET", "HEAD"}
    assert ask(url)[0] == 200


def test_head_and_icon(url):
    status, text, _ = ask(url, "HEAD")
    assert (status, text) == (200, "")
    assert ask(f"{url}/favicon.ico")[0] == 204


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "a b", "[::1]"])
def test_other_hosts_are_refused(url, host):
    status, text, headers = ask(url, Host=host)
    assert status == 400
    assert "<html" not in text
    assert headers["cache-control"] == "no-store"
    port = urlsplit(url).port
    assert ask(url, Host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize("path", ["/", "/nowhere", "/favicon.ico", "/?width=0"])
def test_headers_are_on_every_answer(url, path):
    headers = ask(url + path)[2]
    for name, value in HEADERS.items():
        assert headers[name] == value
    assert "server" not in headers


@pytest.mark.parametrize(
    "junk",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /?text=\xff HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000,
    ],
)
def test_what_is_hardly_a_request_does_not_end_the_server(url, junk):
    with socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=20) as connection:
        answer = b""
        with suppress(OSError):  # it may hang up before all of it came
            connection.sendall(junk)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(1000)
    assert b" 200 " not in answer
    assert ask(url)[0] == 200


def test_many_at_once_are_answered_one_after_another(url, both, monkeypatch):
    active, most, inspect = [], [], type(both[0]).inspect

    def watched(self, asked):
        active.append(asked)
        most.append(len(active))
        time.sleep(0.01)
        found = inspect(self, asked)
        active.pop()
        return found

    monkeypatch.setattr(type(both[0]), "inspect", watched)
    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(ask, [f"{url}/?sentence={1 + n % 9}" for n in range(16)])]
    assert {status for status, _, _ in answers} == {200}
    assert max(most) == 1


def test_a_model_that_fails_does_not_end_the_server(url, both, monkeypatch):
    def fails(self, asked):
        raise RuntimeError("out of <memory>")

    with monkeypatch.context() as patched:
        patched.setattr(type(both[0]), "inspect", fails)
        status, text, _ = ask(url)
    assert status == 500
    assert "The search failed: RuntimeError: out of &lt;memory&gt;" in text
    assert ask(url)[0] == 200


def test_it_listens_on_the_loopback_alone():
    with bound(0) as listening:
        address, port = listening.getsockname()
        assert address == "127.0.0.1"
        with pytest.raises(UsageError, match=f"`port` must be free, got {port}"):
            bound(port)


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted(folder):
    arguments = [str(folder / "one"), "--no-open", "--typed", "the dog", "--width", "2"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    running = subprocess.Popen(
        [sys.executable, "-m", "beamlearn", "inspect", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        said = running.stdout.readline()
        assert "stop with Ctrl-C" in said
        address = said.split()[4]
        assert address.endswith("/?text=the+dog&width=2")
        status, text, _ = ask(address)
        assert status == 200
        assert "A typed input" in text
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
        running.wait()
    assert (out, err) == ("", "")
    assert running.returncode == 0


def test_a_page_without_a_file_asks_for_an_input(folder):
    from beamlearn.reports.inspector import InspectedRun
    from beamlearn.tasks.loading import load
    from beamlearn.tasks.transduction.task import TRANSDUCTION

    model, _ = load(folder / "sounds")
    with served([InspectedRun("sounds", TRANSDUCTION, model, 3)]) as url:
        status, text, _ = ask(url)
        assert status == 200
        assert 'name="text"' in text
        assert 'name="sentence"' not in text
        assert ask(f"{url}/?sentence=1")[0] == 400
        assert ask(f"{url}/?text=abba&right=a+b%3A+a")[0] == 200


def test_a_connection_is_kept_for_more_than_one_request(url):
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=30)
    for number in (1, 2):
        connection.request("GET", f"/?sentence={number}")
        answer = connection.getresponse()
        assert answer.status == 200
        answer.read()
    connection.close()
