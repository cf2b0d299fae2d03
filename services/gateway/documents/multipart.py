"""Reads one file out of a `multipart/form-data` body (RFC 7578) into a temporary file.

python-multipart parses the parts; this module adds the limits that it lacks. Memory holds only the
piece of the body that is being read.
"""

import hashlib
import logging
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from email.message import Message
from typing import BinaryIO, cast

from fastapi import HTTPException, Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser
from starlette.requests import ClientDisconnect

from runtime.errors import Unavailable
from runtime.parsing.names import printable_name
from services.gateway.documents.uploading import UploadedFile
from services.query.errors import TooLarge

MOST_HEADER = 16 * 1024
"""Bytes that one header of a part may have."""

MOST_PARTS = 20
"""Parts that a form may have."""

MOST_OVERHEAD = 80 * 1024
"""Bytes that a body may have beside the file: headers, other parts, and text before and after the
parts.
"""

_LONGEST_BOUNDARY = 70
"""Characters that RFC 2046 allows a boundary to have."""

# python-multipart logs a line for each invalid form, so clients could flood the log.
logging.getLogger("python_multipart").setLevel(logging.ERROR)


class _FileWriter:
    """Writes the bytes of a file, hashes them, and calls `refuse_larger` with their number, at the
    first of them with how many there will be at least.
    """

    def __init__(
        self, content: BinaryIO, refuse_larger: Callable[[int], None], least_size: int
    ) -> None:
        self._content = content
        self._refuse_larger = refuse_larger
        self._least_size = least_size
        self.size = 0
        self._digest = hashlib.sha256()

    def write(self, piece: memoryview) -> None:
        """Append these bytes. Raises what `refuse_larger` raises, and `Unavailable` when the disk
        is full.
        """
        self.size += len(piece)
        self._refuse_larger(max(self.size, self._least_size))
        self._digest.update(piece)
        try:
            while piece:
                piece = piece[self._content.write(piece) :]
        except OSError as error:
            raise Unavailable(
                f"there is no room for an upload: {error.strerror}", retry_after=10.0
            ) from None

    def as_file(self, form: "_Form") -> UploadedFile:
        """Return the received file, positioned at its beginning."""
        self._content.seek(0)
        encoding = form.encoding.decode("utf-8", "replace").strip()
        return UploadedFile(
            form.file_name or "", self._content, self._digest.hexdigest(), encoding, form.charset
        )


class _Form:
    """A form that is being parsed: the file is written to disk, and the field `encoding` is stored;
    others are ignored.

    The public methods but `feed` and `check` are callbacks of the parser.
    """

    def __init__(self, boundary: str, file: _FileWriter) -> None:
        self.file_name: str | None = None
        self.charset = ""
        self.encoding = bytearray()
        self._file = file
        self._read = 0
        self._parts = 0
        self._ended = False
        self._header = (bytearray(), bytearray())
        self._headers = dict[str, str]()
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
        """Parse the next bytes of the body. Raises a 400 for an invalid form, and beyond
        MOST_OVERHEAD.
        """
        self._read += len(piece)
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise _unreadable(str(error)) from None
        if self._read - self._file.size > MOST_OVERHEAD:
            raise _unreadable("what is no file in it is too long")

    def check(self) -> None:
        """Raise a 400 unless the form is complete and has a file."""
        if not self._ended:
            raise _unreadable("it ends in the middle")
        if self.file_name is None:
            raise HTTPException(400, "the form has no part of the name `file` with a file name")

    def begin_part(self) -> None:
        """Discard the headers of the previous part. Raises a 400 beyond MOST_PARTS."""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise _unreadable(f"it has more than {MOST_PARTS} parts")
        self._headers.clear()

    def add_header_name(self, data: bytes, start: int, end: int) -> None:
        """Add these bytes to the name of the header that is being read."""
        self._header[0].extend(data[start:end])

    def add_header_value(self, data: bytes, start: int, end: int) -> None:
        """Add these bytes to the value of the header that is being read."""
        self._header[1].extend(data[start:end])

    def end_header(self) -> None:
        """Store the header that was read."""
        name, value = (part.decode("latin-1") for part in self._header)
        self._headers[name.lower()] = value
        self._header = bytearray(), bytearray()

    def end_headers(self) -> None:
        """Choose by the headers where the content of the part is written, if anywhere."""
        disposition = _parameters(self._headers.get("content-disposition", ""))
        name = disposition.get("name")
        file_name = disposition.get("filename")
        if name == "file" and file_name is not None and self.file_name is None:
            self.file_name = file_name
            self.charset = _parameters(self._headers.get("content-type", "")).get("charset", "")
            self._take = self._file.write
        else:
            self._take = self.encoding.extend if name == "encoding" else None

    def add_content(self, data: bytes, start: int, end: int) -> None:
        """Write these bytes of the part."""
        if self._take:
            self._take(memoryview(data)[start:end])

    def end(self) -> None:
        """Note that the last part has ended."""
        self._ended = True


@asynccontextmanager
async def receive_file(
    request: Request,
    refuse_larger: Callable[[int], None],
    on_refusal: Callable[[str, TooLarge], Awaitable[None]],
) -> AsyncGenerator[UploadedFile]:
    """Yield the part `file` of the body; its bytes are deleted when the block ends.

    `refuse_larger` is called with the size so far while bytes arrive, and raises TooLarge when it
    is; then `on_refusal` is told the name, if that came before the end. Raises a 400 for a body
    that is no form with a file, and `Unavailable` when the disk is full.
    """
    kind = request.headers.get("content-type", "")
    boundary = _parameters(kind).get("boundary", "")
    if (
        not kind.lower().startswith("multipart/form-data")
        or not 1 <= len(boundary) <= _LONGEST_BOUNDARY
    ):
        raise HTTPException(
            400, "send the file as multipart/form-data, in a part of the name `file`"
        )
    length = request.headers.get("content-length", "")
    least_size = int(length) - MOST_OVERHEAD if length.isdigit() else 0
    # Unbuffered, so that what does not fit is noticed here and not when the file is closed.
    with tempfile.TemporaryFile(buffering=0) as content:
        file = _FileWriter(content, refuse_larger, least_size)
        form = _Form(boundary, file)
        try:
            async with aclosing(request.stream()) as pieces:
                async for piece in pieces:
                    form.feed(piece)
        except TooLarge as error:
            if form.file_name:
                await on_refusal(printable_name(form.file_name), error)
            raise
        except ClientDisconnect:
            raise _unreadable("the client went away") from None
        form.check()
        yield file.as_file(form)


def _parameters(header: str) -> dict[str, str]:
    """Return the parameters of a Latin-1 header; `name*` overrides `name`.

    Bytes that are not UTF-8 become surrogates.
    """
    message = Message()
    message["value"] = header
    values: dict[str, str] = {}
    # What the standard library gives for `name*=utf-8''value` is not in its annotations.
    parameters = cast(
        list[tuple[str, str | tuple[str | None, str | None, str]]], message.get_params([], "value")
    )
    for name, value in parameters:
        charset, _, text = value if isinstance(value, tuple) else ("utf-8", "", value)
        if charset and charset.lower() == "utf-8":
            values[name.lower()] = text.encode("latin-1", "replace").decode(
                "utf-8", "surrogateescape"
            )
    return values


def _unreadable(why: str) -> HTTPException:
    return HTTPException(400, f"the form cannot be read: {why}")
