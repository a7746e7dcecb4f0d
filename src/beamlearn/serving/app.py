"""The paths of a server, and what they answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..web.guarded import Guarded
from .openapi import document
from .refusal import Refusal
from .service import Service

PATHS = ("/predict", "/health", "/metrics", "/openapi.json")
HEADERS = {"x-content-type-options": "nosniff", "cache-control": "no-store"}
DROPPED = 8
"""How many times the largest body is read and dropped before the connection ends."""
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def app(service: Service, hosts: tuple[str, ...] | None = None) -> Starlette:
    """A server of one model; with `hosts`, it answers to these names alone."""
    described = document(service)

    async def predict(request: Request) -> Response:
        seconds = service.limits.timeout
        try:
            body = await asyncio.wait_for(body_of(request, service.limits.max_bytes), seconds)
        except asyncio.TimeoutError:
            return refused(Refusal(408, f"The body must come within {seconds:g} seconds."))
        try:
            status, found = await asyncio.wait_for(service.predict(body), seconds)
        except asyncio.TimeoutError:
            return refused(
                Refusal(
                    504,
                    f"An answer must be found within {seconds:g} seconds, and was not; send fewer "
                    "or shorter inputs, or a smaller `width`.",
                )
            )
        return JSONResponse(found, status)

    async def health(_: Request) -> Response:
        return JSONResponse(service.health(), 503 if service.draining else 200)

    async def metrics(_: Request) -> Response:
        text = service.metrics.text(service.batcher.held, not service.draining)
        return PlainTextResponse(text, media_type=PROMETHEUS)

    async def openapi(_: Request) -> Response:
        return JSONResponse(described)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        answering = asyncio.create_task(service.batcher.run())
        try:
            yield
        finally:
            answering.cancel()
            service.batcher.close()

    guards = [Middleware(Counted, service=service), Middleware(Guarded, headers=HEADERS)]
    if hosts is not None:
        guards.append(Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)))
    return Starlette(
        routes=[
            Route("/predict", predict, methods=["POST"]),
            Route("/health", health),
            Route("/metrics", metrics),
            Route("/openapi.json", openapi),
        ],
        middleware=guards,
        exception_handlers={Refusal: on_refusal, HTTPException: unknown_path},
        lifespan=lifespan,
    )


async def body_of(request: Request, most: int) -> bytes:
    """The body of a request.

    Of one that is too large nothing is kept, but it is read for a while: most clients look at the
    answer only when they have sent everything.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(
            415, f"The content type must be application/json, got {kind[:80]!r}; set the header."
        )
    size, parts = 0, list[bytes]()
    declared = request.headers.get("content-length", "")
    try:
        if declared.isdecimal() and int(declared) > DROPPED * most:
            raise too_large(most)
        async for part in request.stream():
            size += len(part)
            if size > DROPPED * most:
                raise too_large(most)
            if size <= most:
                parts.append(part)
    except ClientDisconnect:
        raise Refusal(400, "The body must come to its end, and did not.") from None
    if size > most:
        raise too_large(most)
    return b"".join(parts)


def too_large(most: int) -> Refusal:
    """The refusal of a body."""
    return Refusal(413, f"A body may have {most:,} bytes, got more; send several requests.")


def refused(refusal: Refusal) -> Response:
    """A refusal as an answer."""
    headers = {"retry-after": "1"} if refusal.status == 503 else None
    return JSONResponse({"error": str(refusal)}, refusal.status, headers)


def on_refusal(_: Request, error: Exception) -> Response:
    """The answer for a refused request."""
    assert isinstance(error, Refusal)
    return refused(error)


def unknown_path(request: Request, error: Exception) -> Response:
    """The answer where there is no path or method."""
    assert isinstance(error, HTTPException)
    path = request.scope["path"]
    if error.status_code == 405:
        allowed = "POST" if path == "/predict" else "GET"
        told = f"The method of {path} must be {allowed}, got {request.method[:20]}."
    else:
        told = f"The path must be one of {', '.join(PATHS)}, got {path[:80]!r}."
    return JSONResponse({"error": told}, error.status_code, error.headers)


@final
class Counted:
    """Count answers; the last one on a connection says so when the server is about to end."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, path = monotonic(), scope["path"] if scope["path"] in PATHS else "other"

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.service.metrics.request(path, message["status"], monotonic() - began)
                if self.service.draining:
                    closing = (b"connection", b"close")
                    message["headers"] = [*message.get("headers", []), closing]
            await send(message)

        await self.app(scope, receive, counted)
