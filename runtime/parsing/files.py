"""Files to text, at the edge: what a file must be to be read at all, and what is known about it afterwards."""

import asyncio
import hashlib
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from contracts.values import Scalar
from runtime.errors import InvalidInput
from runtime.parsing.content import Content
from runtime.parsing.decoding import decode
from runtime.parsing.kinds import KINDS, PDF, PLAIN, SUFFIXES, Kind, disguised, way_out
from runtime.parsing.names import checked, shown
from runtime.parsing.sandbox import parse_apart

MAX_FILE_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True)
class Parsed:
    """The text of a file, as Markdown where the format has headings and tables."""

    text: str
    pages: tuple[int, ...] = ()
    """Offsets in `text`, in characters, at which the pages of a PDF or the slides of a presentation begin."""
    metadata: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    """What is known of the original: file_name, media_type, file_size (bytes), file_sha256. Equal for equal files."""


async def parse(data: bytes, name: str) -> Parsed:
    """The text of a file of that name; without a name it is read like a file without a suffix, and has no metadata.

    Plain text is read here, everything else in a child process with limits. Raises nothing but InvalidInput: the name
    of the file, the reason (an unknown kind, too large, binary, protected, damaged, without text) and the way out.
    """
    if name:
        checked(name)
    refuse_larger(len(data), name)
    try:
        suffix = PurePosixPath(name).suffix.lower()
        kind = _kind(data, suffix)
        content = await _content(data, kind, guessed=bool(suffix))
    except InvalidInput as error:
        raise _named(name, str(error)) from None
    return Parsed(content.text, content.pages, _metadata(data, name, kind) if name else {})


def refuse_larger(size: int, name: str) -> None:
    """Raise InvalidInput for a file of more bytes than are read; who knows the size first need not read it."""
    if size > MAX_FILE_BYTES:
        most = MAX_FILE_BYTES // 2**20
        raise _named(name, f"{size / 2**20:.0f} MB is more than the {most} MB a file may have: split it")


def _named(name: str, reason: str) -> InvalidInput:
    return InvalidInput(f"{shown(name)}: {reason}" if name else reason)


def _kind(data: bytes, suffix: str) -> Kind:
    if suffix and suffix not in KINDS:
        raise InvalidInput(f"files of kind {suffix} are not read: {way_out(suffix)}; known: {' '.join(SUFFIXES)}")
    kind = KINDS.get(suffix, PLAIN)
    if kind.is_package:
        return kind
    if data.startswith(b"%PDF-"):
        return PDF
    if kind is not PDF and (really := disguised(data)):
        raise InvalidInput(f"not text but {really}")
    return kind


async def _content(data: bytes, kind: Kind, *, guessed: bool) -> Content:
    """`guessed`: whether the encoding of plain text may be guessed; a name without a suffix does not say that it is."""
    if kind.parser:
        return await parse_apart(kind.parser, data)
    # Statistics over a sample take a tenth of a second: not on the event loop of who serves others meanwhile.
    return Content(await asyncio.to_thread(decode if guessed else _utf8, data))


def _utf8(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidInput("not UTF-8 text, and the name has no suffix that says what it is: give it one")
    return text


def _metadata(data: bytes, name: str, kind: Kind) -> dict[str, Scalar]:
    return {
        "file_name": PurePosixPath(name).name,
        "media_type": kind.media_type,
        "file_size": len(data),
        "file_sha256": hashlib.sha256(data).hexdigest(),
    }
