"""Access over HTTP: a request that the query service would refuse does not reach the protocol.

The server has no key of its own: a client sends its key in the headers of the query service, and
that decides.
"""

import hashlib
import time
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.query_service import CALLER_HEADERS, CallerClients
from runtime.errors import ConfigurationError, ServiceError

CACHE_SECONDS = 30.0
"""For how long a caller with access is not checked again; each tool asks the query service
anyway.
"""

CACHE_SIZE = 1000
"""Callers whose access is remembered."""

REFUSED = -32000
"""JSON-RPC's first code for errors of a server's own."""

ANONYMOUS: Mapping[str, str] = {}

NO_AUTHENTICATION = (
    "the query service asks nobody for credentials, so this server would let everybody in: "
    "set LIGHTRAG_API_KEY or LIGHTSTREAM_API_KEYS for the query service, "
    "or LIGHTSTREAM_MCP_HOST=127.0.0.1 for this one"
)


async def require_authentication(clients: CallerClients) -> None:
    """Raise ConfigurationError when the query service admits anonymous callers, Unavailable when it
    is down.
    """
    status, _ = await clients.for_caller(ANONYMOUS).access()
    if status < 400:
        raise ConfigurationError(NO_AUTHENTICATION)


class AccessMiddleware:
    """Refuses callers that the query service refuses.

    With `strict`, as beyond this machine, it refuses everybody while the query service admits
    anonymous callers.
    """

    def __init__(self, app: ASGIApp, clients: CallerClients, *, strict: bool) -> None:
        self._app = app
        self._clients = clients
        self._strict = strict
        self._admitted: dict[str, float] = {}
        """Until when a caller counts as admitted, by the hash of its headers."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        if scope["type"] == "http":
            status, detail = await self._check(Headers(scope=scope))
            if status >= 400:
                challenge = {"WWW-Authenticate": "Bearer"} if status == 401 else None
                # In the protocol's own shape, so that a client can show why.
                body = {"jsonrpc": "2.0", "id": None, "error": {"code": REFUSED, "message": detail}}
                await JSONResponse(body, status, challenge)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _check(self, headers: Headers) -> tuple[int, str]:
        """Return the HTTP status for a request with these headers, and why it is refused."""
        if repeated_headers := [name for name in CALLER_HEADERS if len(headers.getlist(name)) > 1]:
            return 400, f"the header {repeated_headers[0]} must not be given twice"
        try:
            if self._strict and (await self._access(ANONYMOUS))[0] < 400:
                return 403, NO_AUTHENTICATION
            return await self._access(headers)
        except ServiceError as error:
            return 503, str(error)

    async def _access(self, headers: Mapping[str, str]) -> tuple[int, str]:
        client = self._clients.for_caller(headers)
        key = hashlib.sha256(repr(sorted(client.headers.items())).encode()).hexdigest()
        now = time.monotonic()
        if now < self._admitted.get(key, 0.0):
            return 200, ""
        status, detail = await client.access()
        if status < 400:
            if len(self._admitted) >= CACHE_SIZE:
                self._admitted.pop(next(iter(self._admitted)))
            self._admitted[key] = now + CACHE_SECONDS
        return status, detail
