"""Listen on a port, and say what is missing for it."""

import errno
import logging
import socket
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from ..check import UsageError

LOOPBACK = "127.0.0.1"
"""The address that only this machine can reach."""
LOCAL = (LOOPBACK, "localhost", "::1")
PACKAGES = ("starlette", "uvicorn")
SETTINGS: Mapping[str, Any] = {
    "log_config": None,
    "log_level": "critical",
    "access_log": False,
    "server_header": False,
    "ws": "none",
}
"""Of uvicorn, which is quiet about all that is no concern of users."""


def check_packages(what: str, extra: str, otherwise: str = "") -> None:
    """Refuse to begin without the packages that serve something.

    `extra` is what to install of this package, and `otherwise` begins with "or" if there is
    another way.
    """
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        other = f", {otherwise}" if otherwise else ""
        raise UsageError(
            f"{what} is served by the package {missing[0]!r}, which is not installed; run "
            f"`pip install 'beamlearn[{extra}]'`{other}."
        )


def bound(port: int, host: str = LOOPBACK) -> socket.socket:
    """A socket that listens there; port 0 is any free port."""
    # uvicorn hangs up on some malformed requests with a traceback, which is no concern of users.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen()
    except OSError as error:
        made.close()
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise UsageError(
                f"`host` must be an address of this machine, got {host!r:.80} ({error.strerror}); "
                f"leave it out for {LOOPBACK}."
            ) from None
        raise UsageError(
            f"`port` must be free, got {port}, which is not ({error.strerror}); choose another, or "
            "leave it out."
        ) from None
    return made


def address_of(listening: socket.socket) -> str:
    """The URL of what listens there, as browsers on this machine reach it."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
