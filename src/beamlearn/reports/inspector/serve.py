"""Serve the page until it is stopped with Ctrl-C."""

import logging
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from ...training.settings import SettingsError
from .error_walk import ErrorWalk
from .inspected_run import InspectedRun
from .request import InputRequest

if TYPE_CHECKING:
    import uvicorn


def check_server(otherwise: str = "`export` or `text`") -> None:
    """Refuse to begin without the packages that serve the page; `otherwise` does without them."""
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise SettingsError(
            f"The page is served by the package {missing[0]!r}, which is not installed; run "
            f"`pip install 'beamlearn[pages]'`, or use {otherwise}."
        )


def serve(
    runs: Sequence[InspectedRun],
    first: InputRequest | None,
    port: int,
    open_browser: bool,
    walk: ErrorWalk | None = None,
) -> None:
    """Serve until Ctrl-C; `first` is the input that is shown first, port 0 is any free port.

    With a `walk`, links lead from error to error.
    """
    from .server import server

    asked = "" if first is None else query(first)
    serve_page(lambda: server(runs, walk), port, open_browser, asked)


def serve_page(
    make: "Callable[[], uvicorn.Server]", port: int, open_browser: bool, query: str = ""
) -> None:
    """Run the server that `make` makes until Ctrl-C."""
    from .server import bound

    # uvicorn hangs up on some malformed requests with a traceback, which is no concern of users.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    with bound(port) as listening:
        address, port = listening.getsockname()
        url = f"http://{address}:{port}/{query}"
        print(f"The page is at {url} (stop with Ctrl-C).", flush=True)
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        with suppress(KeyboardInterrupt):
            make().run(sockets=[listening])


def query(request: InputRequest) -> str:
    """The query string for an input.

    >>> query(InputRequest(8, text="a b"))
    '?text=a+b&width=8'
    """
    number = None if request.number is None else request.number + 1
    fields = {
        "sentence": number,
        "text": request.text,
        "right": request.right,
        "width": request.width,
    }
    return "?" + urlencode({name: value for name, value in fields.items() if value is not None})
