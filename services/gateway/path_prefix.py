"""The service below a path of a reverse proxy: redirects, `servers` of the OpenAPI document and
pages know the prefix.

A proxy may strip the prefix from the paths that it passes on, or leave it there. The prefix is
LIGHTRAG_API_PREFIX, or where FORWARDED_ALLOW_IPS names proxies, what one of them says in
`X-Forwarded-Prefix`.
"""

import re

from starlette.datastructures import URL, Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.request_forms import PREFIX_PATTERN

OPENAPI_PATH = "/openapi.json"

_PREFIX = re.compile(PREFIX_PATTERN)
_SCOPE_KEY = "lightstream.path_prefix"


def prefix_of(scope: Scope) -> str:
    """Return the path below which a browser sees this service, "" for none."""
    prefix: str = scope.get(_SCOPE_KEY, "")
    return prefix


class PathPrefixMiddleware:
    """Takes the prefix from the paths of requests, where it is, and puts it before the paths of
    redirects.
    """

    def __init__(self, app: ASGIApp, prefix: str, *, believes_proxies: bool) -> None:
        self._app = app
        self._prefix = prefix
        self._believes_proxies = believes_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        prefix = self._prefix_for(scope) if scope["type"] == "http" else ""
        if not prefix:
            await self._app(scope, receive, send)
            return
        inner = {**scope, **_without_prefix(scope, prefix), _SCOPE_KEY: prefix}
        if inner["path"] == OPENAPI_PATH:
            inner["root_path"] = (
                prefix  # FastAPI makes `servers` of it; our paths have none, so no route needs it
            )

        async def send_with_prefix(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if location := headers.get("location"):
                    headers["location"] = _below(prefix, location, inner)
            await send(message)

        await self._app(inner, receive, send_with_prefix)

    def _prefix_for(self, scope: Scope) -> str:
        forwarded_prefix = (
            Headers(scope=scope).get("x-forwarded-prefix", "") if self._believes_proxies else ""
        )
        prefix = forwarded_prefix.rstrip("/")
        return prefix if _PREFIX.fullmatch(prefix) else self._prefix


def _without_prefix(scope: Scope, prefix: str) -> Scope:
    """Return the path of a request as the routes know it."""
    path: str = scope["path"]
    if path != prefix and not path.startswith(f"{prefix}/"):
        return {"path": path}
    raw: bytes = scope.get("raw_path") or b""
    return {
        "path": path.removeprefix(prefix) or "/",
        "raw_path": raw.removeprefix(prefix.encode()) or b"/",
    }


def _below(prefix: str, location: str, scope: Scope) -> str:
    """Return where a redirect leads as a browser must see it: an address of this service begins
    with the prefix.
    """
    origin = str(URL(scope=scope).replace(path="", query="", fragment=""))
    path = location.removeprefix(origin) if location.startswith(f"{origin}/") else location
    return f"{prefix}{path}" if path.startswith("/") and not path.startswith("//") else location
