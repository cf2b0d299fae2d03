"""Limits the size of request bodies by path: rejects by Content-Length at once, and else while the
body is read.
"""

from dataclasses import dataclass

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.errors import error_response
from services.gateway.request_forms import MAX_DOCUMENT_BODY, MAX_LOGIN_BODY, MAX_REQUEST_BODY

DOCUMENT_PATHS = frozenset({"/documents/text", "/documents/texts", "/documents/upload"})
"""Paths whose bodies contain documents."""


@dataclass(frozen=True)
class BodyLimits:
    """Bytes of a body: of a login, of documents, and of everything else."""

    login: int = MAX_LOGIN_BODY
    documents: int = MAX_DOCUMENT_BODY
    other_routes: int = MAX_REQUEST_BODY

    def limit_for(self, path: str) -> tuple[int, str]:
        """Return the limit for a path in bytes, and the name of its setting."""
        if path in DOCUMENT_PATHS:
            return self.documents, "MAX_DOCUMENT_BODY"
        return (
            (self.login, "MAX_LOGIN_BODY")
            if path == "/login"
            else (self.other_routes, "MAX_REQUEST_BODY")
        )


class BodyLimitMiddleware:
    """Answers 413 to a request whose body is too large."""

    def __init__(self, app: ASGIApp, limits: BodyLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        max_bytes, setting = self._limits.limit_for(scope["path"])
        limit_note = f"at most {max_bytes:,} are taken ({setting})"
        length = Headers(scope=scope).get("content-length", "")
        if length.isdigit() and int(length) > max_bytes:
            refusal = error_response(
                scope["path"], 413, f"the request has {int(length):,} bytes, {limit_note}"
            )
            await refusal(scope, receive, send)
            return
        size = 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > max_bytes:
                raise HTTPException(413, f"the request is too long, {limit_note}")
            return message

        await self._app(scope, limited, send)
