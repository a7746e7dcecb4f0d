"""The server by real requests: answers, limits, counters, and an end without losses."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
import tiny
from loopback import ask, running
from served_models import parser, tagger

from beamlearn.serving.body import Prediction
from beamlearn.serving.limits import Limits
from beamlearn.serving.server import server
from beamlearn.serving.service import Service

pytestmark = pytest.mark.usefixtures("module_without_shape_checks")
JSON = "application/json"


@pytest.fixture(scope="module")
def model(tmp_path_factory, module_without_shape_checks):
    return tagger(tmp_path_factory.mktemp("tagger"))[0]


@contextmanager
def serving(model, host="127.0.0.1", **limits):
    """The address of a server and its service."""
    service = Service(model, Limits(**limits))
    with running(server(service, host)) as url:
        yield url, service


@pytest.fixture(scope="module")
def url(model):
    with serving(model) as (address, _):
        yield address


def post(url, _kind=JSON, **fields):
    """The status and the JSON of an answer."""
    body = json.dumps(fields).encode()
    status, text, _ = ask(f"{url}/predict", "POST", body, **{"Content-Type": _kind})
    return status, json.loads(text)


@contextmanager
def held(service):
    """Batches that have begun, none of which ends before it may go on."""
    begun, go_on, answer = [], threading.Event(), service.model.answer

    def waiting(batch):
        begun.append(len(batch))
        assert go_on.wait(30)
        return answer(batch)

    service.batcher.answer = waiting
    try:
        yield begun, go_on
    finally:
        go_on.set()


def until(condition):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def test_an_answer_has_what_predict_writes_as_json(url):
    status, found = post(url, inputs=["the dog", ["dog", "barks"]], width=4, nbest=2)
    assert (status, found["width"]) == (200, 4)
    first, second = found["outputs"]
    assert (first["words"], second["words"]) == (["the", "dog"], ["dog", "barks"])
    assert set(first) == {"words", "tags", "confidence", "nbest"}
    assert [len(one["nbest"]) for one in (first, second)] == [2, 2]
    assert len(first["confidence"]) == 2
    status, bare = post(url, inputs=["the dog"], width=4, nbest=2, confidence=False)
    assert bare["outputs"] == [{k: v for k, v in first.items() if k != "confidence"}]


def test_the_beam_is_as_wide_as_the_list(url):
    assert post(url, inputs=["the dog"])[1]["width"] == 3
    status, found = post(url, inputs=["the dog barks"], nbest=5)
    assert (status, found["width"], len(found["outputs"][0]["nbest"])) == (200, 5, 5)


def test_those_that_arrive_together_are_searched_together(model):
    texts = [" ".join(words) for words in tiny.sentences(8, seed=5).words]
    asked = [
        {"inputs": [text], "width": 2 + i % 2, "nbest": 1 + i % 2} for i, text in enumerate(texts)
    ]
    with serving(model) as (url, service):
        alone = [post(url, **one) for one in asked]
        with held(service) as (begun, go_on), ThreadPoolExecutor(8) as pool:
            first = pool.submit(post, url, inputs=["cat"])
            until(lambda: begun)
            rest = [pool.submit(post, url, **one) for one in asked[:7]]
            until(lambda: service.batcher.held == 8)
            go_on.set()
            assert first.result()[0] == 200
            assert [one.result() for one in rest] == alone[:7]
        assert sorted(begun) == [1, 3, 4]
        assert service.batcher.held == 0


def test_a_bad_input_spoils_itself_alone(url):
    status, found = post(url, inputs=["the dog", "", "a\tb", "x" * 6000])
    assert status == 200
    assert "tags" in found["outputs"][0]
    errors = [output["error"] for output in found["outputs"][1:]]
    assert [error.split(",")[0] for error in errors] == [
        "An input must be one sentence with words",
        "An input must be one line without tabs",
        "An input may have 5",
    ]
    assert post(url, inputs=["x" * 6000])[0] == 413
    assert post(url, inputs=["", "x" * 6000])[0] == 422


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"{", 400, "The body must be JSON"),
        (b"\xff", 400, "The body must be JSON"),
        (b"[" * 100_000, 400, "The body must be JSON"),
        (b"[]", 422, "The body must be a JSON object with `inputs`, got []."),
        (b"{}", 422, "`inputs` must list what to answer, got none; give at least one."),
        (b'{"inputs": []}', 422, "`inputs` must list what to answer"),
        (b'{"inputs": "a"}', 422, "`inputs` must be a valid list, got 'a'."),
        (b'{"inputs": ["a", 3]}', 422, "number 2 is none of these."),
        (b'{"inputs": [{"words": "a"}]}', 422, "number 1 is none of these."),
        (b'{"inputs": ["a"], "widht": 3}', 422, "Did you mean 'width'?"),
        (b'{"inputs": ["a"], "width": 0}', 422, "`width` must be greater than or equal to 1"),
        (b'{"inputs": ["a"], "width": 65}', 422, "`width` must be at most 64, got 65; lower it."),
        (b'{"inputs": ["a"], "nbest": 65}', 422, "`nbest` must be at most 64"),
        (b'{"inputs": ["a"], "nbest": 3, "width": 2}', 422, "`width` must be at least `nbest`, 3"),
        (b'{"inputs": ["\\ud800"]}', 422, "whole characters, got half of one"),
        (json.dumps({"inputs": ["a"] * 129}).encode(), 413, "128 inputs, got 129"),
        (json.dumps({"inputs": ["a" * (1 << 20)]}).encode(), 413, "1,048,576 bytes"),
    ],
)
def test_wrong_requests_are_answered_with_a_sentence(url, body, status, sentence):
    found, text, _ = ask(f"{url}/predict", "POST", body, **{"Content-Type": JSON})
    assert found == status
    assert sentence in text.encode().decode("unicode_escape")
    assert "Traceback" not in text


def test_wrong_paths_methods_hosts_and_types(url):
    assert ask(f"{url}/nowhere")[0] == 404
    status, text, headers = ask(f"{url}/predict")
    assert (status, json.loads(text)["error"]) == (
        405,
        "The method of /predict must be POST, got GET.",
    )
    assert headers["allow"] == "POST"
    assert post(url, _kind="text/plain", inputs=["a"])[0] == 415
    assert ask(f"{url}/health", Host="evil.example")[0] == 400


def test_a_body_that_grows_without_end_is_cut(model):
    with serving(model, max_bytes=1000) as (url, _):
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        body = iter([b'{"inputs": ["', *[b"a" * 100] * 20])
        connection.request("POST", "/predict", body, {"Content-Type": JSON}, encode_chunked=True)
        assert connection.getresponse().status == 413
        connection.close()


def test_a_body_that_does_not_come_is_not_waited_for(model):
    with serving(model, timeout=0.2) as (url, _):
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        connection.putrequest("POST", "/predict")
        connection.putheader("Content-Type", JSON)
        connection.putheader("Content-Length", "10")
        connection.endheaders(b"{")
        assert connection.getresponse().status == 408
        connection.close()


def test_what_takes_too_long_is_given_up(model):
    with (
        serving(model, timeout=0.3) as (url, service),
        held(service) as (begun, go_on),
        ThreadPoolExecutor(2) as pool,
    ):
        first = pool.submit(post, url, inputs=["the dog"])
        until(lambda: begun)
        status, found = pool.submit(post, url, inputs=["the cat"]).result()
        assert (status, first.result()[0]) == (504, 504)
        assert found["error"].startswith("An answer must be found within 0.3 seconds")
        go_on.set()
        until(lambda: service.batcher.held == 0)
        assert begun == [1]  # nobody waited for the second any more
        assert post(url, inputs=["the dog"])[0] == 200


def test_more_than_may_wait_is_turned_away(model):
    with (
        serving(model, max_waiting=4, max_inputs=4) as (url, service),
        held(service) as (begun, go_on),
        ThreadPoolExecutor(2) as pool,
    ):
        first = pool.submit(post, url, inputs=["the dog"] * 3)
        until(lambda: begun)
        body = json.dumps({"inputs": ["the cat"] * 2}).encode()
        status, text, headers = ask(f"{url}/predict", "POST", body, **{"Content-Type": JSON})
        assert (status, headers["retry-after"]) == (503, "1")
        assert "At most 4 inputs may wait" in text
        go_on.set()
        assert first.result()[0] == 200
        assert post(url, inputs=["the cat"] * 2)[0] == 200


def test_health_and_metrics(model):
    with serving(model) as (url, _):
        status, text, headers = ask(f"{url}/health")
        found = json.loads(text)
        assert (status, found["alive"], found["ready"]) == (200, True, True)
        assert (found["model"], found["task"], found["width"]) == ("small", "tag", 3)
        assert headers["x-content-type-options"] == "nosniff"
        post(url, inputs=["the dog", "", "cat"])
        post(url)
        status, text, headers = ask(f"{url}/metrics")
    assert headers["content-type"].startswith("text/plain; version=0.0.4")
    numbers = {}
    for line in text.splitlines():
        if not line.startswith("# "):
            name, value = re.fullmatch(r"([a-z_]+(?:\{[^}]*\})?) ([0-9.e-]+)", line).groups()
            assert name not in numbers
            numbers[name] = float(value)
    assert numbers['beamlearn_requests_total{path="/predict",status="200"}'] == 1
    assert numbers['beamlearn_requests_total{path="/predict",status="422"}'] == 1
    assert numbers['beamlearn_inputs_total{result="answered"}'] == 2
    assert numbers['beamlearn_inputs_total{result="refused"}'] == 1
    assert numbers["beamlearn_request_seconds_count"] == 2
    assert numbers['beamlearn_batch_inputs_bucket{le="4"}'] == 1
    assert numbers['beamlearn_batch_inputs_bucket{le="2"}'] == 0
    assert numbers["beamlearn_batch_inputs_sum"] == 3
    assert numbers["beamlearn_waiting_inputs"] == 0


def test_the_document_describes_what_is_checked(url):
    found = json.loads(ask(f"{url}/openapi.json")[1])
    schemas = found["components"]["schemas"]
    assert set(schemas["Prediction"]["properties"]) == set(Prediction.model_fields)
    for name in re.findall(r"#/components/schemas/([A-Za-z]+)", json.dumps(found)):
        assert name in schemas
    health = json.loads(ask(f"{url}/health")[1])
    assert set(health) == set(schemas["Health"]["properties"])


def test_a_parser_over_http(tmp_path):
    model, inputs = parser(tmp_path, tagged=True)
    sent = [{"words": list(one.words), "tags": list(one.tags)} for one in inputs]
    with serving(model) as (url, _):
        status, found = post(url, inputs=[*sent, {"words": ["a"], "tags": []}])
    assert status == 200
    assert [len(output["heads"]) for output in found["outputs"][:-1]] == [
        len(one.words) for one in inputs
    ]
    assert found["outputs"][-1]["error"].startswith("`tags` must be as many as `words`")


def test_what_was_taken_is_answered_at_the_end(model):
    service = Service(model, Limits())
    ending = server(service, "127.0.0.1")
    with held(service) as (_, go_on), ThreadPoolExecutor(4) as pool, running(ending) as url:
        place = urlsplit(url).netloc
        kept = http.client.HTTPConnection(place, timeout=30)
        kept.request("GET", "/health")
        kept.getresponse().read()
        waiting = [pool.submit(post, url, inputs=["the dog"]) for _ in range(3)]
        until(lambda: service.batcher.held == 3)
        ending.should_exit = True
        until(lambda: not ending.servers[0].is_serving())
        kept.request("GET", "/health")  # on a connection that is open
        last = kept.getresponse()
        assert (last.status, last.headers["connection"]) == (503, "close")
        assert json.loads(last.read())["ready"] is False
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=30)
        assert not any(one.done() for one in waiting)
        go_on.set()
        assert [one.result()[0] for one in waiting] == [200, 200, 200]
    assert service.batcher.held == 0


@pytest.mark.slow
def test_the_command_serves_until_it_is_terminated(tmp_path):
    tiny.finish(tiny.begin(tiny.experiment(tmp_path / "data", epochs=1), tmp_path / "run"))
    running = subprocess.Popen(
        [sys.executable, "-m", "beamlearn", "serve", str(tmp_path / "run"), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        said = running.stdout.readline()
        url = re.search(r"http://127\.0\.0\.1:[0-9]+", said)[0]
        assert post(url, inputs=["the dog"])[0] == 200
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
        running.wait()
    assert (out, err) == ("", "")
    assert running.returncode == 0
