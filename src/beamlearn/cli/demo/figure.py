"""The figure of the demo: how right each model is, by the width of the beam at test time."""

from collections.abc import Mapping
from pathlib import Path

from ...reports.figure_file import empty_figure, write_figure


def draw(curves: Mapping[str, Mapping[int, float]], folder: Path) -> list[Path]:
    """Draw accuracy against width, a curve for each title; write widths.png and widths.svg."""
    figure, axes = empty_figure(6.4, 4.0)
    for (title, curve), marker in zip(curves.items(), "os", strict=True):
        (line,) = axes.plot(
            list(curve), [100 * rate for rate in curve.values()], marker=marker, label=title
        )
        widest = max(curve)
        axes.annotate(
            f"{100 * curve[widest]:.1f}",
            (widest, 100 * curve[widest]),
            xytext=(8, -3),
            textcoords="offset points",
            color=line.get_color(),
        )
    widths = sorted({width for curve in curves.values() for width in curve})
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.set_xlim(widths[0] / 1.15, widths[-1] * 1.35)
    axes.set_xlabel("width of the beam at test time")
    axes.set_ylabel("characters labeled right (%)")
    axes.set_title("Cantonese conversations, words and tags as they are spoken", fontsize="medium")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(title="same network, trained", frameon=False, loc="best")
    paths = [folder / "widths.png", folder / "widths.svg"]
    for path in paths:
        write_figure(figure, path)
    return paths
