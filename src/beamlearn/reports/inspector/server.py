"""A server for this machine only that shows the page, to inspect one input after another."""

import socket
from collections.abc import Sequence
from threading import Lock

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...training.settings import SettingsError
from ..pages.render import POLICY
from .error_walk import ErrorWalk
from .inspected_run import InspectedRun, inspect_input
from .page import Form, page
from .request import InputRequest, RequestError, parse_query

HOST = "127.0.0.1"
HEADERS = {
    "content-security-policy": f"{POLICY}; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def app(runs: Sequence[InspectedRun], walk: ErrorWalk | None = None) -> Starlette:
    """The pages about some runs; one search at a time, outside the server's event loop.

    With a `walk`, links lead from error to error.
    """
    size, width, alone = runs[0].size, runs[0].width, Lock()
    first = walk.next(None) if walk is not None else 0 if size else None

    def shown(request: Request) -> Response:
        wanted = InputRequest(width, number=first)
        try:
            query = request.scope["query_string"].decode("utf-8", "surrogateescape")
            wanted = parse_query(query, width, size) if query else wanted
            if wanted.text is None and wanted.number is None:
                return HTMLResponse(page(runs, [], Form(wanted, size, walk=walk)))
            with alone:
                found = inspect_input(runs, wanted)
            return HTMLResponse(page(runs, [found], Form(wanted, size, walk=walk)))
        except RequestError as error:
            status, sentence = error.status, str(error)
        except ValueError as error:
            status, sentence = 400, str(error)
        except Exception as error:  # the server goes on, whatever a model does
            status, sentence = 500, f"The search failed: {type(error).__name__}: {error}"
        return HTMLResponse(page(runs, [], Form(wanted, size, walk=walk), sentence), status)

    def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else None
        return HTMLResponse(page(runs, [], message=refusal(request, status)), status, headers)

    return Starlette(
        routes=[Route("/", shown), Route("/favicon.ico", lambda _: Response(status_code=204))],
        middleware=isolated(),
        exception_handlers={HTTPException: refused},
    )


def refusal(request: Request, status: int) -> str:
    """What is wrong with a request that matches no route."""
    if status == 405:
        return f"The method must be GET or HEAD, got {request.method[:20]}; reload the page."
    return f"The only page is /, got {request.scope['path'][:80]!r}; go to /."


def isolated() -> list[Middleware]:
    """Keep a page to this machine, and apart from other pages."""
    hosts = [HOST, "localhost"]
    return [Middleware(Guarded), Middleware(TrustedHostMiddleware, allowed_hosts=hosts)]


class Guarded:
    """Add the headers that isolate a page from others."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *own]
            await send(message)

        await self.app(scope, receive, guarded)


def bound(port: int) -> socket.socket:
    """A socket that only this machine can reach; port 0 is any free port."""
    made = socket.socket()
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen()
    except OSError as error:
        made.close()
        raise SettingsError(
            f"`port` must be free, got {port}, which is not ({error.strerror}); choose another, or "
            "leave it out."
        ) from None
    return made


def server(runs: Sequence[InspectedRun], walk: ErrorWalk | None = None) -> uvicorn.Server:
    """A server of the pages about some runs."""
    return server_of(app(runs, walk))


def server_of(pages: Starlette) -> uvicorn.Server:
    """A server that is ready to `run(sockets=[...])`."""
    return uvicorn.Server(
        uvicorn.Config(
            pages,
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
    )
