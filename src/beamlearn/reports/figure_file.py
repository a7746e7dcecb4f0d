"""What all figures share: the check for matplotlib, an empty figure, and how it is written."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any


class FigureError(ValueError):
    """A figure that cannot be drawn; the message says what to do."""


def check_matplotlib() -> None:
    """Refuse at once what could not be drawn after a long computation."""
    if find_spec("matplotlib") is None:
        raise FigureError(
            "Figures are drawn by the package 'matplotlib', which is not installed; run "
            "`pip install 'beamlearn[pages]'` or, for the demo, `pip install 'beamlearn[demo]'`."
        )


def empty_figure(width: float, height: float) -> tuple[Any, Any]:
    """A figure of this size in inches, and its axes; it never opens a window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def write_figure(figure: Any, path: Path) -> None:
    """Write a figure in the format of the file name; equal figures give equal files."""
    from matplotlib import rc_context

    dated = path.suffix in (".svg", ".pdf")
    stamp = {"Date": None} if path.suffix == ".svg" else {"CreationDate": None}
    with rc_context({"svg.hashsalt": "beamlearn"}):
        figure.savefig(path, dpi=160, metadata=stamp if dated else None)
