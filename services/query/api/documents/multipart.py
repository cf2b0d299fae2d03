"""One file out of a `multipart/form-data` body, streamed to a temporary file (RFC 7578, RFC 2046 section 5.1.1).

Nothing of a body is held in memory but the piece that is being read, and nothing grows with what a sender claims.
"""

import hashlib
import re
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import unquote_to_bytes

from fastapi import HTTPException, Request
from starlette.requests import ClientDisconnect

from runtime.errors import Unavailable
from services.query.uploading import Received

MOST_HEADERS = 16 * 1024
MOST_PARTS = 20
MOST_FIELD = 64 * 1024
"""Bytes of what is no file, all of it together."""

_BOUNDARY = re.compile(r';\s*boundary=(?:"([^"]{1,70})"|([^\s";,]{1,70}))', re.IGNORECASE)
_NAME = re.compile(r';\s*name="([^"]*)"|;\s*name=([^\s";]+)', re.IGNORECASE)
_FILENAME = re.compile(r';\s*filename="((?:\\"|[^"])*)"|;\s*filename=([^\s";]+)', re.IGNORECASE)
_CHARSET = re.compile(r';\s*charset="?([^\s";,]{1,40})', re.IGNORECASE)
_ENCODED = re.compile(r";\s*filename\*=utf-8'[^';]*'([^\s;]*)", re.IGNORECASE)


class _Body:
    """The bytes of a request up to each delimiter."""

    def __init__(self, pieces: AsyncIterator[bytes], boundary: bytes) -> None:
        self._pieces = pieces
        self._delimiter = b"\r\n--" + boundary
        # So that a delimiter at the very beginning is like any other.
        self._waiting = bytearray(b"\r\n")

    async def part(self, take: Callable[[bytes], None]) -> None:
        """Give away the bytes up to the next delimiter, without the line break they begin with, and take that, too."""
        skip = 2
        while True:
            place = self._waiting.find(self._delimiter)
            # What may be the beginning of a delimiter waits for the rest of it.
            sure = place if place >= 0 else max(0, len(self._waiting) - len(self._delimiter) + 1)
            take(bytes(self._waiting[skip:sure]))
            skip = max(0, skip - sure)
            del self._waiting[:sure]
            if place >= 0:
                del self._waiting[: len(self._delimiter)]
                return
            await self._more()

    async def headers(self) -> str | None:
        """The headers of the part that begins here; None behind the last one. Bytes that are no UTF-8 as surrogates."""
        while len(self._waiting) < 2:
            await self._more()
        if self._waiting.startswith(b"--"):
            return None
        while (end := self._waiting.find(b"\r\n\r\n")) < 0:
            if len(self._waiting) > MOST_HEADERS:
                raise _unreadable("the headers of a part are too long")
            await self._more()
        headers = bytes(self._waiting[:end])
        # The line break in front of a delimiter belongs to it, so of an empty part there is only one.
        del self._waiting[: end + 2]
        return headers.decode("utf-8", "surrogateescape")

    async def _more(self) -> None:
        piece = await anext(self._pieces, None)
        if piece is None:
            raise _unreadable("it ends in the middle")
        self._waiting += piece


class _Limited:
    """Counts bytes that are no file's, and raises when there are too many."""

    def __init__(self) -> None:
        self._size = 0

    def __call__(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > MOST_FIELD:
            raise _unreadable("what is no file in it is too long")


class _Copied:
    """Writes the bytes of a file, and knows their hash and, through `refuse_larger`, their limit."""

    def __init__(self, content: BinaryIO, refuse_larger: Callable[[int], None]) -> None:
        self._content, self._refuse_larger = content, refuse_larger
        self._size, self._digest = 0, hashlib.sha256()

    def __call__(self, piece: bytes) -> None:
        self._size += len(piece)
        self._refuse_larger(self._size)
        self._digest.update(piece)
        left = memoryview(piece)
        try:
            while left:
                left = left[self._content.write(left) :]
        except OSError as error:
            raise Unavailable(f"there is no room for an upload: {error.strerror}", retry_after=10.0) from None

    def as_file(self, form: "_Form") -> Received:
        """What came in."""
        self._content.seek(0)
        return Received(form.name, self._content, self._digest.hexdigest(), form.encoding, form.charset)


@asynccontextmanager
async def received(request: Request, refuse_larger: Callable[[int], None]) -> AsyncGenerator[Received]:
    """The part `file` of the body; its bytes are gone when the block ends.

    `refuse_larger` raises for a size that is too large, and is asked as the bytes come. Raises 400 for a body that is
    no form with a file, `Unavailable` when there is no room for it.
    """
    kind = request.headers.get("content-type", "")
    found = _BOUNDARY.search(kind)
    if not found or not kind.lower().startswith("multipart/form-data"):
        raise HTTPException(400, "send the file as multipart/form-data, in a part of the name `file`")
    length = request.headers.get("content-length", "")
    if length.isdigit():
        refuse_larger(int(length) - MOST_FIELD - MOST_HEADERS)
    # Unbuffered, so that what does not fit is noticed here and not when the file is closed.
    with tempfile.TemporaryFile(buffering=0) as content:
        copied = _Copied(content, refuse_larger)
        try:
            async with aclosing(request.stream()) as pieces:
                form = await _copy(_Body(pieces, (found[1] or found[2]).encode("latin-1")), copied)
                rest = _Limited()
                async for piece in pieces:
                    rest(piece)
        except ClientDisconnect:
            raise _unreadable("the client went away") from None
        yield copied.as_file(form)


@dataclass
class _Form:
    """What a form says beside the bytes of its file."""

    name: str = ""
    charset: str = ""
    encoding: str = ""


async def _copy(body: _Body, copied: _Copied) -> _Form:
    """Copy the part that is the file, and return what the form says of it."""
    form, other, has_file = _Form(), _Limited(), False
    await body.part(other)
    for _ in range(MOST_PARTS):
        headers = await body.headers()
        if headers is None:
            if not has_file:
                raise HTTPException(400, "the form has no part of the name `file` with a file name")
            return form
        name = None if has_file else _file_name(headers)
        if name is not None:
            form.name, form.charset, has_file = name, _charset(headers), True
            await body.part(copied)
        elif _field(headers) == "encoding":
            form.encoding = await _value(body, other)
        else:
            await body.part(other)
    raise _unreadable(f"it has more than {MOST_PARTS} parts")


async def _value(body: _Body, limit: _Limited) -> str:
    taken = bytearray()

    def take(piece: bytes) -> None:
        limit(piece)
        taken.extend(piece)

    await body.part(take)
    return taken.decode("utf-8", "replace").strip()


def _field(headers: str) -> str:
    """The name of a part that is no file."""
    name = _NAME.search(_line(headers, "content-disposition:"))
    return (name[1] or name[2]) if name else ""


def _charset(headers: str) -> str:
    found = _CHARSET.search(_line(headers, "content-type:"))
    return found[1] if found else ""


def _line(headers: str, beginning: str) -> str:
    return next((line for line in headers.split("\r\n") if line.lower().startswith(beginning)), "")


def _file_name(headers: str) -> str | None:
    """What the file of the part `file` is called; None for any other part."""
    disposition = _line(headers, "content-disposition:")
    name, filename = _NAME.search(disposition), _FILENAME.search(disposition)
    if not name or (name[1] or name[2]) != "file":
        return None
    if encoded := _ENCODED.search(disposition):
        return unquote_to_bytes(encoded[1].encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
    if not filename:
        return None
    return filename[1].replace('\\"', '"') if filename[1] is not None else filename[2]


def _unreadable(why: str) -> HTTPException:
    return HTTPException(400, f"the form cannot be read: {why}")
