"""The gate of MCP over HTTP: who the query service would not let in does not get as far as the protocol.

The server has no key to lend: a client sends its own, in the headers of the query service, and that decides.
"""

import hashlib
import time
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from runtime.errors import ConfigurationError, ServiceError
from standalone.mcp.service import CARRIED
from standalone.mcp.tools import Door

REMEMBERED = 30.0
"""Seconds for which who was let in is let in again unasked; each tool asks the query service anyway."""
MOST = 1000
"""Callers that are remembered."""

REFUSED = -32000
"""JSON-RPC's first code for errors of a server's own."""

NOBODY: Mapping[str, str] = {}

OPEN = (
    "the query service asks nobody for credentials, so this server would let everybody in: set LIGHTRAG_API_KEY or "
    "LIGHTSTREAM_API_KEYS for the query service, or LIGHTSTREAM_MCP_HOST=127.0.0.1 for this one"
)


async def refuse_open(door: Door) -> None:
    """Raises ConfigurationError when the query service lets strangers in, `Unavailable` when it does not answer."""
    status, _ = await door.service(NOBODY).lets_in()
    if status < 400:
        raise ConfigurationError(OPEN)


class Gate:
    """Passes on what the query service would let in. `strict`: that must let in no stranger, as beyond this machine."""

    def __init__(self, app: ASGIApp, door: Door, *, strict: bool) -> None:
        self._app, self._door, self._strict = app, door, strict
        self._let_in: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        if scope["type"] == "http":
            status, detail = await self._judged(Headers(scope=scope))
            if status >= 400:
                challenge = {"WWW-Authenticate": "Bearer"} if status == 401 else None
                # In the protocol's own shape, so that a client can show why.
                body = {"jsonrpc": "2.0", "id": None, "error": {"code": REFUSED, "message": detail}}
                await JSONResponse(body, status, challenge)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _judged(self, headers: Headers) -> tuple[int, str]:
        if twice := [name for name in CARRIED if len(headers.getlist(name)) > 1]:
            return 400, f"the header {twice[0]} must not be given twice"
        try:
            if self._strict and (await self._lets_in(NOBODY))[0] < 400:
                return 403, OPEN
            return await self._lets_in(headers)
        except ServiceError as error:
            return 503, str(error)

    async def _lets_in(self, headers: Mapping[str, str]) -> tuple[int, str]:
        """The status code that who sends these headers gets."""
        service = self._door.service(headers)
        mark = hashlib.sha256(repr(sorted(service.headers.items())).encode()).hexdigest()
        now = time.monotonic()
        if now < self._let_in.get(mark, 0.0):
            return 200, ""
        status, detail = await service.lets_in()
        if status < 400:
            if len(self._let_in) >= MOST:
                self._let_in.pop(next(iter(self._let_in)))
            self._let_in[mark] = now + REMEMBERED
        return status, detail
