"""What `beamlearn play` does."""

from pathlib import Path

from rich.console import Console

from ...reports.inspector.serve import check_server, serve_page
from ...reports.play.page import export as write
from ..console import say


def play(export: Path | None, port: int, open_browser: bool) -> None:
    """Write the page into a folder, or serve it."""
    if export is not None:
        say(Console(stderr=True), f"The page is {write(export)}.")
        return
    check_server("`export`")
    from ...reports.play.server import server

    serve_page(server, port, open_browser)
