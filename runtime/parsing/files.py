"""Files to text, at the edge: what a file must be to be read at all, and what is known about it
afterwards.
"""

import asyncio
import hashlib
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from contracts.chunking import Chunking
from contracts.values import Scalar, document_warnings
from runtime.errors import InvalidInput
from runtime.parsing.content import Content, FigureFile, Recognition
from runtime.parsing.decoding import decode
from runtime.parsing.encodings import NO_HINT, Encoding, Hint, codec, validated_encoding
from runtime.parsing.kinds import (
    INLINE_PICTURE,
    KINDS,
    MARKDOWN,
    PDF,
    PICTURES,
    PLAIN,
    RTF,
    Kind,
    Parser,
    disguised,
    refuse_kind,
)
from runtime.parsing.names import printable_name, validated_text
from runtime.parsing.plain import plain
from runtime.parsing.recognition import RecognitionLimits
from runtime.parsing.routing import OWN_PARSERS, ParsingServices
from runtime.parsing.sandbox import parse_apart
from runtime.parsing.scans import OnPage, PageTurn, ignore_page, read_scan
from runtime.text.ballast import clean_text

MAX_FILE_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True)
class Parsed:
    """The text of a file, as Markdown where the format has headings and tables."""

    text: str
    pages: tuple[int, ...] = ()
    """Offsets in `text`, in characters, at which the pages of a PDF or the slides of a presentation
    begin.
    """
    metadata: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    """What is known of the original: file_name, media_type, file_size (bytes), file_sha256, and of
    text the encoding it was read in, encoding_confidence (0 to 1) and, where that is in doubt,
    encoding_warning; of scans recognized_pages and recognition_confidence (0 to 1).
    """
    warnings: tuple[str, ...] = ()
    """What may be missing or wrong, in sentences for whoever adds the file."""
    data: bytes = field(default=b"", repr=False)
    """The file."""
    chunking: Chunking | None = None
    """How the rule that fits its name has it cut."""
    figures: tuple[FigureFile, ...] = field(default=(), repr=False)
    """Its pictures; the text names the first one `[Figure 1]`."""


async def parse(
    data: bytes,
    name: str,
    hint: Hint = NO_HINT,
    services: ParsingServices = OWN_PARSERS,
    on_page: OnPage = ignore_page,
    turn: PageTurn = nullcontext,
) -> Parsed:
    """Return the text of a file of that name; one without a name is read as without a suffix and
    has no metadata.

    `hint` is about files that are text; the others say themselves how their texts are written.

    Plain text is read here, everything else in a child process with limits, or by the one of
    `services` whose rule fits the name. `on_page` is told of each page that had to be recognized,
    and `turn` waited for before it. Raises InvalidInput, and Unavailable where a service does not
    answer: the name of the file, the reason (an unknown kind, too large, binary, protected,
    damaged, without text) and the way out.
    """
    if name:
        validated_text(name)
    refuse_larger(len(data), name)
    try:
        hint = Hint(
            validated_encoding(hint.requested_encoding) if hint.requested_encoding else "",
            codec(hint.declared_encoding) or "",
        )
        suffix = PurePosixPath(name).suffix.lower()
        if services.reads(name):
            kind = KINDS.get(suffix) or Kind(PICTURES.get(suffix, "application/octet-stream"))
            content = await services.content(data, name)
        else:
            kind = _kind(data, suffix)
            scan = _scan_parser(kind, services.recognition)
            if scan:
                content = await read_scan(scan, data, services.recognition, on_page, turn)
            else:
                content = await _content(data, kind, hint)
        content = await _without_binary_data(content)
    except InvalidInput as error:
        raise _named(name, str(error)) from None
    details = _read_in(content.encoding) | _recognized(content.recognition)
    metadata = _metadata(data, name, kind) | details if name else {}
    doubts = [content.encoding.warning] if content.encoding else []
    warnings = document_warnings([*doubts, *content.warnings])
    chunking = services.chunking(name)
    figures = content.figures if services.keeps_figures else ()
    return Parsed(content.text, content.pages, metadata, warnings, data, chunking, figures)


def refuse_larger(size: int, name: str) -> None:
    """Raise InvalidInput for a file of more bytes than are read; called before reading where the
    size is known.
    """
    if size > MAX_FILE_BYTES:
        max_megabytes = MAX_FILE_BYTES // 2**20
        raise _named(
            name,
            f"{size / 2**20:.0f} MB is more than the {max_megabytes} MB a file may have: split it",
        )


def _named(name: str, reason: str) -> InvalidInput:
    return InvalidInput(f"{printable_name(name)}: {reason}" if name else reason)


def _kind(data: bytes, suffix: str) -> Kind:
    refuse_kind(suffix)
    kind = KINDS.get(suffix, PLAIN)
    if kind.is_package:
        return kind
    if data.startswith(b"%PDF-"):
        return PDF
    if data.startswith(b"{\\rtf") and kind.parser is None:
        return RTF
    if kind is not PDF and not kind.is_picture and (really := disguised(data)):
        raise InvalidInput(f"not text but {really}")
    return kind


def _scan_parser(kind: Kind, limits: RecognitionLimits) -> Parser | None:
    """Return the parser that leaves pages to be recognized; None where there are none."""
    if kind.is_picture and limits.pages < 1:
        raise InvalidInput("a picture, and OCR_MAX_PAGES is 0: raise it, or save its text as .txt")
    if not limits.allows_any:
        return None
    return "scanned_pdf" if kind is PDF else "picture" if kind.is_picture else None


async def _content(data: bytes, kind: Kind, hint: Hint) -> Content:
    if kind is MARKDOWN and INLINE_PICTURE in data:
        return await parse_apart("markdown", data, hint=hint)
    if kind.parser:
        return await parse_apart(kind.parser, data, hint=hint if kind.is_text else NO_HINT)
    # Statistics over a sample take a tenth of a second: not on the event loop of who serves others
    # meanwhile.
    decoded_text = await asyncio.to_thread(decode, data, *hint)
    return Content(plain(decoded_text.text), encoding=decoded_text.encoding)


async def _without_binary_data(content: Content) -> Content:
    """Return the content without inline pictures and other binary data. Raises InvalidInput when
    nothing is left.
    """
    clean = await asyncio.to_thread(clean_text, content.text, content.pages)
    if clean.warnings and not clean.text.strip():
        raise InvalidInput(
            f"has no text in it ({'; '.join(clean.warnings)}): add a file that has some"
        )
    warnings = (*content.warnings, *clean.warnings)
    return content._replace(text=clean.text, pages=clean.offsets, warnings=warnings)


def _read_in(encoding: Encoding | None) -> dict[str, Scalar]:
    if encoding is None:
        return {}
    properties: dict[str, Scalar] = {
        "encoding": encoding.name,
        "encoding_confidence": encoding.confidence,
    }
    return properties | ({"encoding_warning": encoding.warning} if encoding.warning else {})


def _recognized(recognition: Recognition | None) -> dict[str, Scalar]:
    if recognition is None:
        return {}
    return {
        "recognized_pages": recognition.pages,
        "recognition_confidence": recognition.confidence,
    }


def _metadata(data: bytes, name: str, kind: Kind) -> dict[str, Scalar]:
    return {
        "file_name": PurePosixPath(name).name,
        "media_type": kind.media_type,
        "file_size": len(data),
        "file_sha256": hashlib.sha256(data).hexdigest(),
    }
