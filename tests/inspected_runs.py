"""Small runs to look into, and a server for them."""

import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import tiny
import tiny_pairs

from beamlearn.reports.inspector import InspectedRun
from beamlearn.reports.inspector.server import bound, server
from beamlearn.tasks.loading import load
from beamlearn.tasks.tagging.task import TAGGING

NASTY = "<img src=x onerror=alert(1)>"


def runs(folder):
    """Two taggers that differ in their seeds, with one validation file, and a transducer."""
    for name, seed in (("one", 0), ("two", 3)):
        experiment = tiny.experiment(folder / "data", dev=9, seed=seed, epochs=1)
        tiny.finish(tiny.begin(experiment, folder / name))
    experiment = tiny_pairs.experiment(folder / "pairs")
    tiny.finish(tiny_pairs.begin(experiment, folder / "sounds"))
    return folder


def inspected(folder, *names, width=2):
    """Runs as the command opens them, with shorter names."""
    found = []
    for name in names:
        model, experiment = load(folder / name)
        data = TAGGING.read(experiment.data.dev, experiment)
        found.append(InspectedRun(name, TAGGING, model, width, data))
    return found


@contextmanager
def listening_to(running):
    """The address of a server on a free port of this machine, while it runs."""
    listening = bound(0)
    thread = threading.Thread(target=running.run, args=([listening],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join(30)
        listening.close()
    assert not thread.is_alive()


def served(inspected, walk=None):
    """The same for a server of pages about runs."""
    return listening_to(server(inspected, walk))


def ask(url, method="GET", data=None, **headers):
    """Status, text and headers of an answer."""
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers
