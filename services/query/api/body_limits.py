"""How large a request's body may be, by its path: known before a byte of it is read, and held while it is."""

from dataclasses import dataclass

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.bus.publisher import MAX_TEXT_BYTES
from services.query.api.errors import answered

MAX_BODY = 2 * MAX_TEXT_BYTES + 1024 * 1024
"""Bytes of a request with documents: what JSON escapes takes twice the bytes of UTF-8 as a rule, Chinese included."""

MAX_REQUEST = 1024 * 1024
"""Bytes of any other request: the longest question, with every character escaped, takes three quarters of it."""

MAX_LOGIN = 16 * 1024
"""Bytes that somebody may send who has no credentials yet."""

DOCUMENTS = frozenset({"/documents/text", "/documents/texts", "/documents/upload"})
"""Paths whose bodies hold documents."""


@dataclass(frozen=True)
class BodyLimits:
    """Bytes of a body: of a login, of documents, and of everything else."""

    login: int = MAX_LOGIN
    documents: int = MAX_BODY
    other: int = MAX_REQUEST

    def of(self, path: str) -> tuple[int, str]:
        """The limit for that path, and the setting it comes from."""
        if path in DOCUMENTS:
            return self.documents, "MAX_DOCUMENT_BODY"
        return (self.login, "MAX_LOGIN_BODY") if path == "/login" else (self.other, "MAX_REQUEST_BODY")


class LimitedBody:
    """Refuses a request whose body is too large: at once when it says so, else while it is read."""

    def __init__(self, app: ASGIApp, limits: BodyLimits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, setting = self._limits.of(scope["path"])
        taken = f"at most {most:,} are taken ({setting})"
        length = Headers(scope=scope).get("content-length", "")
        if length.isdigit() and int(length) > most:
            refusal = answered(scope["path"], 413, f"the request has {int(length):,} bytes, {taken}")
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
