"""Headers that every answer of a server has."""

from collections.abc import Mapping
from typing import final

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@final
class Guarded:
    """Add headers to every answer, as to isolate a page from others."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self.app = app
        self.headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        await self.app(scope, receive, guarded)
