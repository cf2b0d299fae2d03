"""The kinds of files that are read, and what to do about those that are not."""

from dataclasses import dataclass
from typing import Literal

Parser = Literal["html", "pdf", "docx", "pptx", "xlsx", "csv", "json", "jsonl"]
"""A module of this room that has `text(data) -> Content`."""

_OFFICE = "application/vnd.openxmlformats-officedocument"


@dataclass(frozen=True)
class Kind:
    """One kind of file. Plain text needs no `parser`."""

    media_type: str
    parser: Parser | None = None
    is_package: bool = False
    """Whether it is a zip archive of XML parts, as the newer Office formats are."""


PLAIN = Kind("text/plain")
PDF = Kind("application/pdf", "pdf")

KINDS: dict[str, Kind] = {
    ".md": Kind("text/markdown"),
    ".txt": PLAIN,
    ".rst": Kind("text/x-rst"),
    ".html": Kind("text/html", "html"),
    ".htm": Kind("text/html", "html"),
    ".pdf": PDF,
    ".docx": Kind(f"{_OFFICE}.wordprocessingml.document", "docx", is_package=True),
    ".pptx": Kind(f"{_OFFICE}.presentationml.presentation", "pptx", is_package=True),
    ".xlsx": Kind(f"{_OFFICE}.spreadsheetml.sheet", "xlsx", is_package=True),
    ".csv": Kind("text/csv", "csv"),
    ".tsv": Kind("text/tab-separated-values", "csv"),
    ".json": Kind("application/json", "json"),
    ".jsonl": Kind("application/jsonl", "jsonl"),
}
"""By the suffix of the name, in lower case. A file without a suffix is read when it is UTF-8."""

SUFFIXES = tuple(KINDS)

UNPACK = "unpack the archive and add the files in it"
RECOGNIZE = "run text recognition over it and save the result as .pdf or .txt"
_WAYS: dict[str, str] = {
    UNPACK: ".zip .tar .gz .tgz .bz2 .xz .zst .7z .rar .jar .lz4",
    "save it as .docx": ".doc .docm .dot .dotx .odt .rtf .pages .wps",
    "save it as .xlsx or .csv": ".xls .xlsm .xlsb .xltx .ods .numbers",
    "save it as .pptx": ".ppt .pptm .pps .ppsx .odp .key",
    "save it as .pdf, .html or .txt": ".epub .mobi .djvu .tex .xps",
    "save its text as .txt": ".eml .msg .mbox",
    RECOGNIZE: ".png .jpg .jpeg .gif .tif .tiff .bmp .webp .heic .svg",
}
_WAY = {suffix: way for way, suffixes in _WAYS.items() for suffix in suffixes.split()}

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"PK\3\4", f"a zip archive: {UNPACK}, or name it .docx, .pptx or .xlsx if it is one of those"),
    (0, b"\x1f\x8b", f"a gzip archive: {UNPACK}"),
    (0, b"BZh", f"a bzip2 archive: {UNPACK}"),
    (0, b"\xfd7zXZ\0", f"an xz archive: {UNPACK}"),
    (0, b"7z\xbc\xaf\x27\x1c", f"a 7-Zip archive: {UNPACK}"),
    (0, b"Rar!\x1a\7", f"a RAR archive: {UNPACK}"),
    (0, b"\x28\xb5\x2f\xfd", f"a Zstandard archive: {UNPACK}"),
    (257, b"ustar", f"a tar archive: {UNPACK}"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or protected Office file: save it as .docx, .pptx or .xlsx"),
)
"""Place, bytes there, and what that says about a file that should be text."""


def way_out(suffix: str) -> str:
    """What to do about a file of a kind that is not read."""
    return _WAY.get(suffix, "a text of another kind is read when its name ends in .txt")


def disguised(data: bytes) -> str:
    """What a file really is that should be text and begins like something else; empty if it does not."""
    found = (says for place, mark, says in _SIGNATURES if data[place : place + len(mark)] == mark)
    # Text may well begin with the three letters; the block size and a magic number follow them in an archive.
    return next((says for says in found if "bzip2" not in says or data[4:10] == b"1AY&SY"), "")
