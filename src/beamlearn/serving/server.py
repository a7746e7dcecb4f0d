"""Serve until told to stop, and then answer what was taken."""

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import ceil
from time import monotonic
from typing import final

import uvicorn

from ..web.listening import LOCAL, SETTINGS
from .app import app
from .service import Service

GRACE = 1.0
"""How long connections may be idle when the server is about to end, in seconds."""
TICK = 0.02


@final
class DrainingServer(uvicorn.Server):
    """A server that loses no request when it ends.

    It stops listening at once. What arrives on connections that are open is answered, with the
    word that the connection ends; only those that stay idle are closed without one.
    """

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self.service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.service.draining = True
        await asyncio.sleep(TICK)  # accepts those who were already knocking
        for server in self.servers:
            server.close()
        end = monotonic() + GRACE
        while self.server_state.connections and monotonic() < end:
            await asyncio.sleep(TICK)
        await super().shutdown(sockets)


def server(service: Service, host: str) -> DrainingServer:
    """A server that is ready to `run(sockets=[...])`."""
    local = host in LOCAL
    config = uvicorn.Config(
        app(service, (*LOCAL, "[::1]") if local else None),
        **SETTINGS,
        lifespan="on",
        timeout_keep_alive=60,
        timeout_graceful_shutdown=ceil(service.limits.timeout) + 5,
    )
    return DrainingServer(config, service)


def serve(service: Service, listening: socket.socket, host: str) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    with stopped_by(signal.SIGTERM), suppress(KeyboardInterrupt):
        server(service, host).run(sockets=[listening])


@contextmanager
def stopped_by(number: signal.Signals) -> Iterator[None]:
    """Let a signal end the program as Ctrl-C does: uvicorn raises it again at its end."""
    before = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(number, before)
