"""An audit line for each request that changes something or asks to sign in."""

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.telemetry import receiving
from services.query.api.auth.middleware import address
from services.query.api.auth.permissions import SIGNED_IN, need

logger = structlog.get_logger(__name__)

SHOWN = 200
"""Characters of a path in an audit line."""


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
