"""Small runs to look into, and a server for them."""

import tiny
import tiny_pairs
from loopback import running

from beamlearn.reports.inspector import InspectedRun
from beamlearn.reports.inspector.server import server
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


def served(inspected, walk=None):
    """The address of a server of pages, while it runs."""
    return running(server(inspected, walk))
