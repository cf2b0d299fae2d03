"""The kinds of files that are read, and what to do about those that are not."""

from dataclasses import dataclass
from typing import Literal

from runtime.errors import InvalidInput
from runtime.parsing.recognition import is_installed, way_out

Parser = Literal[
    "html",
    "pdf",
    "docx",
    "pptx",
    "xlsx",
    "odt",
    "ods",
    "odp",
    "epub",
    "rtf",
    "csv",
    "json",
    "jsonl",
    "eml",
    "mbox",
    "ipynb",
    "svg",
    "markdown",
    "picture",
    "scanned_pdf",
]
"""A module of this room that has `text(data) -> Content`."""

TEXT_PARSERS = frozenset({"html", "csv", "json", "jsonl", "ipynb", "svg", "markdown"})
"""Those whose files are text themselves, in some encoding: their `text` gets it decoded."""

_OFFICE = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"


@dataclass(frozen=True)
class Kind:
    """One kind of file. Plain text needs no `parser`."""

    media_type: str
    parser: Parser | None = None
    is_package: bool = False
    """Whether it is a zip archive of XML parts, as the newer Office formats and e-books are."""

    @property
    def is_picture(self) -> bool:
        """Return whether all its text has to be recognized."""
        return self.parser == "picture"

    @property
    def is_read(self) -> bool:
        """Return whether it is read here: pictures are where text recognition is installed."""
        return not self.is_picture or is_installed()

    @property
    def is_text(self) -> bool:
        """Return whether its bytes are text in some encoding."""
        return self.parser is None or self.parser in TEXT_PARSERS


PLAIN = Kind("text/plain")
MARKDOWN = Kind("text/markdown")
PDF = Kind("application/pdf", "pdf")
RTF = Kind("application/rtf", "rtf")

INLINE_PICTURE = b"](data:image/"
"""What Markdown has that a parser reads for its pictures; all other is the text that it is."""

_VARIANTS: dict[Parser, dict[str, str]] = {
    "docx": {
        ".docm": "application/vnd.ms-word.document.macroEnabled.12",
        ".dotx": f"{_OFFICE}.wordprocessingml.template",
        ".dotm": "application/vnd.ms-word.template.macroEnabled.12",
    },
    "pptx": {
        ".pptm": "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
        ".ppsx": f"{_OFFICE}.presentationml.slideshow",
        ".ppsm": "application/vnd.ms-powerpoint.slideshow.macroEnabled.12",
        ".potx": f"{_OFFICE}.presentationml.template",
        ".potm": "application/vnd.ms-powerpoint.template.macroEnabled.12",
    },
    "xlsx": {
        ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
        ".xltx": f"{_OFFICE}.spreadsheetml.template",
        ".xltm": "application/vnd.ms-excel.template.macroEnabled.12",
    },
    "odt": {".ott": f"{_ODF}.text-template"},
    "ods": {".ots": f"{_ODF}.spreadsheet-template"},
    "odp": {".otp": f"{_ODF}.presentation-template"},
}
VARIANTS: dict[str, Kind] = {
    suffix: Kind(media_type, parser, is_package=True)
    for parser, media_types in _VARIANTS.items()
    for suffix, media_type in media_types.items()
}
"""Templates, slide shows and files with macros, by suffix: their XML is that of the Office file
whose parser reads them.
"""

_PLAIN_SUFFIXES = (
    ".log .conf .ini .properties .sql .bat .sh .c .h .cpp .hpp .py .java .ts .swift .go .rb .php "
    ".scss .less .cfg .toml .adoc .org .tsx .jsx .rs .cs .kt .scala .lua .pl .r .ps1 .srt .vtt .tf "
    ".proto"
)

KINDS: dict[str, Kind] = {
    ".md": MARKDOWN,
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
    ".odt": Kind(f"{_ODF}.text", "odt", is_package=True),
    ".ods": Kind(f"{_ODF}.spreadsheet", "ods", is_package=True),
    ".odp": Kind(f"{_ODF}.presentation", "odp", is_package=True),
    ".epub": Kind("application/epub+zip", "epub", is_package=True),
    ".rtf": RTF,
    ".eml": Kind("message/rfc822", "eml"),
    ".mht": Kind("message/rfc822", "eml"),
    ".mhtml": Kind("message/rfc822", "eml"),
    ".mbox": Kind("application/mbox", "mbox"),
    ".svg": Kind("image/svg+xml", "svg"),
    ".ipynb": Kind("application/x-ipynb+json", "ipynb"),
    ".png": Kind("image/png", "picture"),
    ".jpg": Kind("image/jpeg", "picture"),
    ".jpeg": Kind("image/jpeg", "picture"),
    ".tif": Kind("image/tiff", "picture"),
    ".tiff": Kind("image/tiff", "picture"),
    ".webp": Kind("image/webp", "picture"),
    ".mdx": Kind("text/mdx"),
    ".xml": Kind("application/xml"),
    ".yaml": Kind("application/yaml"),
    ".yml": Kind("application/yaml"),
    ".css": Kind("text/css"),
    ".js": Kind("text/javascript"),
    ".tex": Kind("application/x-tex"),
    **VARIANTS,
    **dict.fromkeys(_PLAIN_SUFFIXES.split(), PLAIN),
}
"""By the suffix of the name, in lower case. A file of any other name is read too, when it is
text.
"""

SUFFIXES = tuple(KINDS)

PICTURES = {".gif": "image/gif", ".bmp": "image/bmp"}
"""Media types of what only a service reads, by suffix."""

UNPACK = "unpack the archive and add the files in it"
_WAYS: dict[str, str] = {
    UNPACK: ".zip .tar .gz .tgz .bz2 .xz .zst .7z .rar .jar .lz4",
    "save it as .docx": ".doc .dot .pages .wps",
    "save it as .xlsx or .csv": ".xls .xlsb .xlt .numbers",
    "save it as .pptx": ".ppt .pps .pot .key",
    "save it as .odt, .ods or .odp": ".fodt .fods .fodp .sxw .sxc .sxi",
    "save it as .pdf, .html or .txt": ".mobi .azw .azw3 .djvu .xps .ps .odg .vsd .vsdx .pub",
    "save it as .eml (a mailbox as .mbox)": ".msg .pst .ost .oft",
    "write down what is said in it and save that as .txt": (
        ".mp3 .wav .flac .ogg .m4a .mp4 .mkv .avi .mov .webm"
    ),
    "it holds keys, no document: if it is meant, name it .txt": (
        ".pem .p12 .pfx .jks .kdbx .der .crt .cer .gpg .asc"
    ),
    "programs are not read, their source code is": (
        ".exe .dll .so .o .a .dylib .class .pyc .wasm .bin .msi .apk .iso"
    ),
    "save it as .png, or its text as .txt": ".gif .bmp .heic .ico .emf .wmf",
}
_WAY = {suffix: way for way, suffixes in _WAYS.items() for suffix in suffixes.split()}

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (
        0,
        b"PK\3\4",
        (
            f"a zip archive: {UNPACK}, or name it .docx, .pptx, .xlsx, .odt, .ods, .odp or .epub "
            "if it is one of those"
        ),
    ),
    (0, b"\x1f\x8b", f"a gzip archive: {UNPACK}"),
    (0, b"BZh", f"a bzip2 archive: {UNPACK}"),
    (0, b"\xfd7zXZ\0", f"an xz archive: {UNPACK}"),
    (0, b"7z\xbc\xaf\x27\x1c", f"a 7-Zip archive: {UNPACK}"),
    (0, b"Rar!\x1a\7", f"a RAR archive: {UNPACK}"),
    (0, b"\x28\xb5\x2f\xfd", f"a Zstandard archive: {UNPACK}"),
    (0, b"\x89PNG\r\n", "a picture: name it .png"),
    (0, b"\xff\xd8\xff", "a picture: name it .jpg"),
    (0, b"\x7fELF", "a program"),
    (257, b"ustar", f"a tar archive: {UNPACK}"),
    (
        0,
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old or protected Office file: save it as .docx, .pptx or .xlsx (an e-mail as .eml)",
    ),
)
"""Place, bytes there, and what that says about a file that should be text."""


def readable_kinds() -> dict[str, Kind]:
    """Return the kinds that are read with what is installed here, by suffix."""
    return {suffix: kind for suffix, kind in KINDS.items() if kind.is_read}


def refuse_kind(suffix: str) -> None:
    """Raise InvalidInput with the way out for files that are known to be no text of any kind that
    is read.

    Of any other suffix that is not known, the content decides.
    """
    suffix = suffix.lower()
    way = _WAY.get(suffix, "")
    if suffix in KINDS and not KINDS[suffix].is_read:
        way = way_out()
    if way:
        suffixes = (name for name, kind in readable_kinds().items() if kind.parser)
        raise InvalidInput(
            f"files of kind {suffix} are not read: {way}; text is read, and {' '.join(suffixes)}"
        )


def disguised(data: bytes) -> str:
    """Return what a file is that should be text but begins like something else; empty if it is
    text.
    """
    kinds = (
        says for place, magic, says in _SIGNATURES if data[place : place + len(magic)] == magic
    )
    # Text may well begin with the three letters; the block size and a magic number follow them in
    # an archive.
    return next((says for says in kinds if "bzip2" not in says or data[4:10] == b"1AY&SY"), "")
