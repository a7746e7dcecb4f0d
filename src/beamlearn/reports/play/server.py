"""A server for this machine only that shows the page."""

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from ..inspector.server import isolated, refusal, server_of
from .page import page


def server() -> uvicorn.Server:
    """A server that is ready to `run(sockets=[...])`."""
    return server_of(app())


def app() -> Starlette:
    """The page, which answers to nothing that is sent: all else happens in the browser."""
    text = page()

    def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else None
        return PlainTextResponse(refusal(request, status), status, headers)

    return Starlette(
        routes=[
            Route("/", lambda _: HTMLResponse(text)),
            Route("/favicon.ico", lambda _: Response(status_code=204)),
        ],
        middleware=isolated(),
        exception_handlers={HTTPException: refused},
    )
