"""One file out of a `multipart/form-data` body, streamed to a temporary file (RFC 7578).

python-multipart finds the parts; here is what it does not bound. Nothing of a body is held in memory but the piece
that is being read, and nothing grows with what a sender claims.
"""

import hashlib
import logging
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from email.message import Message
from typing import BinaryIO, cast

from fastapi import HTTPException, Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser
from starlette.requests import ClientDisconnect

from runtime.errors import Unavailable
from services.query.ingestion.uploading import UploadedFile

MOST_HEADER = 16 * 1024
"""Bytes of one header of a part."""
MOST_PARTS = 20
MOST_OVERHEAD = 80 * 1024
"""Bytes of a body that are not the file's: headers, other parts, and what stands before and after them all."""

_LONGEST_BOUNDARY = 70
"""Characters, as RFC 2046 allows."""

# It logs a line for each form that it refuses, and whoever sends forms decides how many that are.
logging.getLogger("python_multipart").setLevel(logging.ERROR)


class _FileWriter:
    """Writes the bytes of a file, and knows their hash and, through `refuse_larger`, their limit."""

    def __init__(self, content: BinaryIO, refuse_larger: Callable[[int], None]) -> None:
        self._content, self._refuse_larger = content, refuse_larger
        self.size, self._digest = 0, hashlib.sha256()

    def write(self, piece: memoryview) -> None:
        """Append these bytes. Raises what `refuse_larger` raises, and `Unavailable` when the disk is full."""
        self.size += len(piece)
        self._refuse_larger(self.size)
        self._digest.update(piece)
        try:
            while piece:
                piece = piece[self._content.write(piece) :]
        except OSError as error:
            raise Unavailable(f"there is no room for an upload: {error.strerror}", retry_after=10.0) from None

    def as_file(self, form: "_Form") -> UploadedFile:
        """What came in."""
        self._content.seek(0)
        encoding = form.encoding.decode("utf-8", "replace").strip()
        return UploadedFile(form.file_name or "", self._content, self._digest.hexdigest(), encoding, form.charset)


class _Form:
    """A form while it is parsed: the file is written, of the other parts only the field `encoding` is kept.

    The public methods but `feed` and `check` are callbacks of the parser.
    """

    def __init__(self, boundary: str, file: _FileWriter) -> None:
        self.file_name: str | None = None
        self.charset = ""
        self.encoding = bytearray()
        self._file, self._read, self._parts, self._ended = file, 0, 0, False
        self._header, self._headers = (bytearray(), bytearray()), dict[str, str]()
        self._take: Callable[[memoryview], None] | None = None
        self._parser = MultipartParser(
            boundary.encode("latin-1"),
            {
                "on_part_begin": self.begin_part,
                "on_header_field": self.add_header_name,
                "on_header_value": self.add_header_value,
                "on_header_end": self.end_header,
                "on_headers_finished": self.end_headers,
                "on_part_data": self.add_content,
                "on_end": self.end,
            },
            max_header_size=MOST_HEADER,
        )

    def feed(self, piece: bytes) -> None:
        """Parse the next bytes of the body. Raises 400 when they are no form, or too much of it is not the file."""
        self._read += len(piece)
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise _unreadable(str(error)) from None
        if self._read - self._file.size > MOST_OVERHEAD:
            raise _unreadable("what is no file in it is too long")

    def check(self) -> None:
        """Raise 400 unless the form ended and has a file."""
        if not self._ended:
            raise _unreadable("it ends in the middle")
        if self.file_name is None:
            raise HTTPException(400, "the form has no part of the name `file` with a file name")

    def begin_part(self) -> None:
        """Forget the headers of the part before."""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise _unreadable(f"it has more than {MOST_PARTS} parts")
        self._headers.clear()

    def add_header_name(self, data: bytes, start: int, end: int) -> None:
        """Add these bytes to the name of the header that is being read."""
        self._header[0].extend(data[start:end])

    def add_header_value(self, data: bytes, start: int, end: int) -> None:
        """Add these bytes to its value."""
        self._header[1].extend(data[start:end])

    def end_header(self) -> None:
        """Keep the header that was read."""
        name, value = (part.decode("latin-1") for part in self._header)
        self._headers[name.lower()] = value
        self._header = bytearray(), bytearray()

    def end_headers(self) -> None:
        """Decide by the headers where the content of the part goes."""
        disposition = _parameters(self._headers.get("content-disposition", ""))
        name, file_name = disposition.get("name"), disposition.get("filename")
        if name == "file" and file_name is not None and self.file_name is None:
            self.file_name = file_name
            self.charset = _parameters(self._headers.get("content-type", "")).get("charset", "")
            self._take = self._file.write
        else:
            self._take = self.encoding.extend if name == "encoding" else None

    def add_content(self, data: bytes, start: int, end: int) -> None:
        """Hand on these bytes of the part."""
        if self._take:
            self._take(memoryview(data)[start:end])

    def end(self) -> None:
        """Note that the last part has ended."""
        self._ended = True


@asynccontextmanager
async def receive_file(request: Request, refuse_larger: Callable[[int], None]) -> AsyncGenerator[UploadedFile]:
    """The part `file` of the body; its bytes are gone when the block ends.

    `refuse_larger` raises for a size that is too large, and is asked as the bytes come. Raises 400 for a body that is
    no form with a file, `Unavailable` when there is no room for it.
    """
    kind = request.headers.get("content-type", "")
    boundary = _parameters(kind).get("boundary", "")
    if not kind.lower().startswith("multipart/form-data") or not 1 <= len(boundary) <= _LONGEST_BOUNDARY:
        raise HTTPException(400, "send the file as multipart/form-data, in a part of the name `file`")
    length = request.headers.get("content-length", "")
    if length.isdigit():
        refuse_larger(int(length) - MOST_OVERHEAD)
    # Unbuffered, so that what does not fit is noticed here and not when the file is closed.
    with tempfile.TemporaryFile(buffering=0) as content:
        file = _FileWriter(content, refuse_larger)
        form = _Form(boundary, file)
        try:
            async with aclosing(request.stream()) as pieces:
                async for piece in pieces:
                    form.feed(piece)
        except ClientDisconnect:
            raise _unreadable("the client went away") from None
        form.check()
        yield file.as_file(form)


def _parameters(header: str) -> dict[str, str]:
    """The parameters of a header in Latin-1. Bytes that are no UTF-8 become surrogates; `name*` wins over `name`."""
    message = Message()
    message["value"] = header
    found: dict[str, str] = {}
    # What the standard library gives for `name*=utf-8''value` is not in its annotations.
    parameters = cast(list[tuple[str, str | tuple[str | None, str | None, str]]], message.get_params([], "value"))
    for name, value in parameters:
        charset, _, text = value if isinstance(value, tuple) else ("utf-8", "", value)
        if charset and charset.lower() == "utf-8":
            found[name.lower()] = text.encode("latin-1", "replace").decode("utf-8", "surrogateescape")
    return found


def _unreadable(why: str) -> HTTPException:
    return HTTPException(400, f"the form cannot be read: {why}")
