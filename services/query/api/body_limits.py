"""How large a request's body may be, by its path: known before a byte of it is read, and held while it is."""

from dataclasses import dataclass

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.bus.publisher import MAX_TEXT_BYTES
from services.query.api.errors import error_response

MAX_DOCUMENT_BODY = 2 * MAX_TEXT_BYTES + 1024 * 1024
"""Bytes of a request with documents: what JSON escapes takes twice the bytes of UTF-8 as a rule, Chinese included."""

MAX_REQUEST_BODY = 1024 * 1024
"""Bytes of any other request: the longest question, with every character escaped, takes three quarters of it."""

MAX_LOGIN_BODY = 16 * 1024
"""Bytes that somebody may send who has no credentials yet."""

DOCUMENT_PATHS = frozenset({"/documents/text", "/documents/texts", "/documents/upload"})
"""Paths whose bodies hold documents."""


@dataclass(frozen=True)
class BodyLimits:
    """Bytes of a body: of a login, of documents, and of everything else."""

    login: int = MAX_LOGIN_BODY
    documents: int = MAX_DOCUMENT_BODY
    other: int = MAX_REQUEST_BODY

    def limit_for(self, path: str) -> tuple[int, str]:
        """The limit for that path, and the setting it comes from."""
        if path in DOCUMENT_PATHS:
            return self.documents, "MAX_DOCUMENT_BODY"
        return (self.login, "MAX_LOGIN_BODY") if path == "/login" else (self.other, "MAX_REQUEST_BODY")


class BodyLimitMiddleware:
    """Refuses a request whose body is too large: at once when it says so, else while it is read."""

    def __init__(self, app: ASGIApp, limits: BodyLimits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, setting = self._limits.limit_for(scope["path"])
        taken = f"at most {most:,} are taken ({setting})"
        length = Headers(scope=scope).get("content-length", "")
        if length.isdigit() and int(length) > most:
            refusal = error_response(scope["path"], 413, f"the request has {int(length):,} bytes, {taken}")
            await refusal(scope, receive, send)
            return
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise HTTPException(413, f"the request is too long, {taken}")
            return message

        await self._app(scope, limited, send)
