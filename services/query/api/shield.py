"""What surrounds every answer: headers that keep browsers from misreading it, and one audit line for each change."""

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.telemetry import receiving
from services.query.api.auth import address
from services.query.domain.access import SIGNED_IN, need

logger = structlog.get_logger(__name__)

SHOWN = 200
"""Characters of a path in an audit line."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""Unless an answer says otherwise. What comes from documents is never to be run, framed or kept by a browser."""


class Shield:
    """Adds `HEADERS` to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""

        async def shielded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, shielded if scope["type"] == "http" else send)


class Audit:
    """One line for every request that changes something or asks to sign in, also when it was refused.

    The line has who (never a key), what, workspace, address, trace and outcome. The trace goes on into the events.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        if scope["type"] != "http" or (need(scope["method"], scope["path"]) == "read" and scope["path"] != SIGNED_IN):
            await self._app(scope, receive, send)
            return
        outcome = 500

        async def noted(message: Message) -> None:
            nonlocal outcome
            if message["type"] == "http.response.start":
                outcome = message["status"]
            await send(message)

        with receiving(f"{scope['method']} request", Headers(scope=scope).get("traceparent")) as trace:
            try:
                await self._app(scope, receive, noted)
            finally:
                state = scope.get("state", {})
                logger.info(
                    "audit",
                    who=state["caller"].name if "caller" in state else "nobody",
                    what=f"{scope['method']} {scope['path'][:SHOWN]}",
                    workspace=state.get("workspace", ""),
                    address=address(scope),
                    trace=trace,
                    outcome=outcome,
                )
