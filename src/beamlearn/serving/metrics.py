"""Metrics: what a server has done so far, in the text format of Prometheus."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import final

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
Labels = Mapping[str, str]


@final
class Histogram:
    """How often a number was at most each of some bounds."""

    def __init__(self, bounds: Iterable[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """Count a number."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def lines(self, name: str) -> Iterator[str]:
        """Its lines of text."""
        total = 0
        for bound, count in zip((*self.bounds, "+Inf"), self.counts, strict=True):
            total += count
            yield line(f"{name}_bucket", total, {"le": str(bound)})
        yield line(f"{name}_sum", self.sum)
        yield line(f"{name}_count", total)


@final
class Metrics:
    """Counters of one server."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.requests: Counter[tuple[str, int]] = Counter()
        self.inputs: Counter[str] = Counter()
        self.seconds, self.searches = Histogram(SECONDS), Histogram(SECONDS)
        self.sizes = Histogram(SIZES)

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count a request that is answered."""
        self.requests[path, status] += 1
        if path == "/predict":
            self.seconds.observe(seconds)

    def batch(self, size: int, seconds: float) -> None:
        """Count inputs that were searched together."""
        self.sizes.observe(size)
        self.searches.observe(seconds)

    def text(self, waiting: int, ready: bool) -> str:
        """All of them, as Prometheus reads them."""
        return "".join(self._lines(waiting, ready))

    def _lines(self, waiting: int, ready: bool) -> Iterator[str]:
        yield from head("beamlearn_info", "gauge", "What is served.")
        yield line("beamlearn_info", 1, self.labels)
        yield from head("beamlearn_ready", "gauge", "1 while requests are taken.")
        yield line("beamlearn_ready", int(ready))
        yield from head("beamlearn_waiting_inputs", "gauge", "Inputs that wait or are searched.")
        yield line("beamlearn_waiting_inputs", waiting)
        yield from head("beamlearn_requests_total", "counter", "Requests by path and status.")
        for (path, status), count in sorted(self.requests.items()):
            labels = {"path": path, "status": str(status)}
            yield line("beamlearn_requests_total", count, labels)
        yield from head("beamlearn_inputs_total", "counter", "Inputs by what became of them.")
        for result in ("answered", "refused"):
            yield line("beamlearn_inputs_total", self.inputs[result], {"result": result})
        yield from head("beamlearn_request_seconds", "histogram", "How long /predict took.")
        yield from self.seconds.lines("beamlearn_request_seconds")
        yield from head("beamlearn_search_seconds", "histogram", "How long a batch was searched.")
        yield from self.searches.lines("beamlearn_search_seconds")
        yield from head("beamlearn_batch_inputs", "histogram", "Inputs searched together.")
        yield from self.sizes.lines("beamlearn_batch_inputs")


def head(name: str, kind: str, help: str) -> Iterator[str]:
    """What comes before the lines of a metric."""
    yield f"# HELP {name} {help}\n"
    yield f"# TYPE {name} {kind}\n"


def line(name: str, value: float, labels: Labels | None = None) -> str:
    r"""One number.

    >>> line("done_total", 3, {"path": 'a"b'})
    'done_total{path="a\\"b"} 3\n'
    """
    shown = ",".join(f'{key}="{escaped(text)}"' for key, text in (labels or {}).items())
    return f"{name}{{{shown}}} {value}\n" if shown else f"{name} {value}\n"


def escaped(text: str) -> str:
    """A value of a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
