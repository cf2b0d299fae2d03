"""The audit log: one line for each request that changes something or tries to log in."""

from collections.abc import Sequence
from typing import Any

import structlog
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.telemetry import server_span
from services.gateway.auth.middleware import client_address
from services.gateway.auth.permissions import LOGIN_PATH, required_right

logger = structlog.get_logger(__name__)

MAX_PATH_LENGTH = 200
"""Characters of a path, or of another text, in an audit line."""

MAX_ENTRIES = 20
"""Entries of a list in an audit line."""


def note_details(request: Request, **details: str | int | Sequence[str | int]) -> None:
    """Add details to the audit line of this request, such as what it names and why. Give no
    secrets.

    What is noted again is replaced. A text is cut after 200 characters, a list after 20 entries.
    """
    short_details = {name: _shortened(value) for name, value in details.items() if value}
    request.state.audit = {**getattr(request.state, "audit", {}), **short_details}


def _shortened(value: str | int | Sequence[str | int]) -> Any:
    if isinstance(value, int):
        return value
    return (
        value[:MAX_PATH_LENGTH]
        if isinstance(value, str)
        else [_shortened(entry) for entry in value[:MAX_ENTRIES]]
    )


class AuditMiddleware:
    """Logs every request that changes something or tries to log in, also when it was denied.

    A line has the principal's name (never a key), method and path, workspace, address, trace id and
    status code. The same trace id is in the events that the request publishes.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        if scope["type"] != "http" or (
            required_right(scope["method"], scope["path"]) == "read" and scope["path"] != LOGIN_PATH
        ):
            await self._app(scope, receive, send)
            return
        outcome = 500

        async def send_noting_status(message: Message) -> None:
            nonlocal outcome
            if message["type"] == "http.response.start":
                outcome = message["status"]
            await send(message)

        with server_span(
            f"{scope['method']} request", Headers(scope=scope).get("traceparent")
        ) as trace:
            try:
                await self._app(scope, receive, send_noting_status)
            finally:
                state = scope.get("state", {})
                logger.info(
                    "audit",
                    who=state["principal"].name if "principal" in state else "nobody",
                    what=f"{scope['method']} {scope['path'][:MAX_PATH_LENGTH]}",
                    workspace=state.get("workspace", ""),
                    address=client_address(scope),
                    trace=trace,
                    outcome=outcome,
                    **state.get("audit", {}),
                )
