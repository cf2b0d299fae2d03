"""Files to text, at the edge: which kinds are known, and what a file must be to be read at all."""

from pathlib import PurePath

from runtime.errors import InvalidInput
from standalone.parsing.decoding import decode
from standalone.parsing.sandbox import parse_apart

SUFFIXES = (".md", ".txt", ".rst", ".html", ".htm", ".pdf", ".docx")
"""Kinds of files that are read. A file without a suffix is read when it is UTF-8."""

MAX_FILE_BYTES = 50 * 1024 * 1024


def too_large(size: int) -> InvalidInput:
    """The refusal of a file of that many bytes."""
    return InvalidInput(f"{size / 2**20:.0f} MB is more than the {MAX_FILE_BYTES // 2**20} MB a file may have")


async def parse(data: bytes, name: str) -> str:
    """The text of a file of that name, as Markdown where the format has headings and tables.

    Raises InvalidInput with the reason: an unknown kind, too large, binary, protected, damaged, no text in it.
    """
    if len(data) > MAX_FILE_BYTES:
        raise too_large(len(data))
    suffix = PurePath(name).suffix.lower()
    if suffix not in (*SUFFIXES, ""):
        raise InvalidInput(f"files of kind {suffix} are not read; known: {' '.join(SUFFIXES)}")
    if suffix in {".pdf", ".docx"} or data.startswith(b"%PDF-"):
        return await parse_apart("docx" if suffix == ".docx" else "pdf", data)
    if not suffix:
        return plain(data)
    if suffix in {".html", ".htm"}:
        # One kind of many: who adds Markdown only does not load it.
        from standalone.parsing.html import markdown  # noqa: PLC0415

        return markdown(decode(data))
    return decode(data)


def plain(data: bytes) -> str:
    """The text of a file without a suffix. Raises InvalidInput unless it is UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidInput("not UTF-8 text, and the name has no suffix that says what it is")
    return text
