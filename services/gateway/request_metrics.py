"""Times of requests by route and status, and a span for each question, which joins the caller's
trace.
"""

from contextlib import nullcontext
from time import perf_counter
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime import semantic_conventions as names
from runtime.metrics import instruments
from runtime.metrics.exposition import PATH
from runtime.telemetry import server_span
from services.gateway.auth.middleware import PROBE_PATHS
from services.gateway.auth.permissions import required_right

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "_OTHER"
"""Stands for every other method: callers may make up any, and each would be a series of its own."""

UNTIMED = (*PROBE_PATHS, PATH)
"""Paths that machines ask again and again."""


class RequestMetrics:
    """Records each request when its answer has ended."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        if scope["type"] != "http" or scope["path"] in UNTIMED:
            await self._app(scope, receive, send)
            return
        began, status = perf_counter(), 500

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            with _span(scope):
                await self._app(scope, receive, send_noting_status)
        finally:
            instruments.http_request.record(perf_counter() - began, _labels(scope, status))


def _span(scope: Scope) -> Any:
    """Return a span for a question. Requests that change something have theirs in the audit log."""
    if scope["method"] != "POST" or required_right("POST", scope["path"]) != "read":
        return nullcontext()
    return server_span("POST request", Headers(scope=scope).get("traceparent"))


def _labels(scope: Scope, status: int) -> dict[str, str]:
    # The template of the route, never the path, which names documents; without one, nothing was
    # found.
    route = getattr(scope.get("route"), "path", "")
    method = scope["method"] if scope["method"] in METHODS else OTHER
    return {names.HTTP_METHOD: method, names.HTTP_ROUTE: route, names.HTTP_STATUS: str(status)}
