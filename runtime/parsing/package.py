"""Office files are zip archives of XML: what one must be before a library is let at it. Nothing is
ever unpacked.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from runtime.errors import InvalidInput

MAX_MEMBERS = 5000
MAX_INFLATED = 200 * 1024 * 1024
"""Files in the archive, and their bytes together when inflated."""

MAX_RATIO = 200
MODEST = 8 * 1024 * 1024
"""Inflated bytes for each byte of the archive; one that inflates to a modest size may have any
ratio.
"""

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Old and encrypted Office files begin so."""

_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
PROTECTED = "protected by a password: save it without one first"
_ENCODED = ("ascii", "utf-16-le", "utf-16-be")
_DTD = tuple(
    declaration.encode(encoding)
    for declaration in ("<!DOCTYPE", "<!ENTITY")
    for encoding in _ENCODED
)
_LONGEST = max(map(len, _DTD))

_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<|\xff\xfe<|\xfe\xff\0<|<\0|\0<")
_ENCODING = re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)")
_ENCODINGS = {b"utf-8", b"utf8", b"utf-16", b"us-ascii", b"iso-8859-1", b"windows-1252"}
_FOREIGN = re.compile(
    rb"\0\0\0<\0\0\0|<\0\0\0.\0\0\0|(?:\0\0\xfe\xff|\xff\xfe\0\0)|\x4c\x6f\xa7\x94", re.DOTALL
)
"""How XML in UTF-32 or EBCDIC begins, which XML libraries read and no Office program writes."""

DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    SyntaxError,
    LookupError,
    ValueError,
    ArithmeticError,
    AttributeError,
    TypeError,
)
"""What zipfile, and the libraries that read Office files, raise for damage: XML that is none, parts
and attributes that are missing, numbers that are none.
"""


def damaged(kind_name: str) -> InvalidInput:
    """Return the refusal of a file that is not what its name says."""
    return InvalidInput(
        f"damaged, or not {kind_name}: open it in the program that made it and save it anew"
    )


def check(data: bytes, kind_name: str, pages: tuple[str, ...] = ()) -> None:
    """Refuse, before a library reads it, a file that is not `kind_name` ("a Word document") or
    means harm.

    That is: a damaged or protected archive, one that inflates to too much, names in it that climb
    or come twice, and XML with a document type, which could define entities that multiply or that
    name files and addresses. Parts whose names end in one of `pages` may have one: no parser of XML
    reads them.
    """
    if data.startswith(_OLE):
        raise InvalidInput(
            PROTECTED
            if _ENCRYPTED in data
            else f"an older Office format, not {kind_name}: save it as one"
        )
    try:
        archive = zipfile.ZipFile(BytesIO(data))
        members = archive.infolist()
        _bounds(members, len(data))
        _names(members)
        for member in members:
            if not member.filename.lower().endswith((".svg", *pages)):
                _harmless(archive, member)
    except DAMAGE:
        raise damaged(kind_name) from None


def _bounds(members: list[zipfile.ZipInfo], size: int) -> None:
    if any(member.flag_bits & 1 for member in members):
        raise InvalidInput(PROTECTED)
    if any(
        member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for member in members
    ):
        raise zipfile.BadZipFile
    # What the archive says of itself is what can be read of it: the library stops there, and finds
    # a wrong checksum.
    inflated_size = sum(member.file_size for member in members)
    if len(members) > MAX_MEMBERS or inflated_size > min(
        MAX_INFLATED, max(MODEST, MAX_RATIO * size)
    ):
        raise InvalidInput(
            f"inflates to {inflated_size / 2**20:,.0f} MB in {len(members):,} parts, "
            "far more than a document needs (a zip bomb?): split it, "
            "or save it without its pictures"
        )


def _names(members: list[zipfile.ZipInfo]) -> None:
    names = [member.filename for member in members]
    climbing = [
        name for name in names if name.startswith("/") or "\\" in name or ".." in name.split("/")
    ]
    if climbing or len({name.lower() for name in names}) < len(names):
        raise InvalidInput("has parts with names that no Office program gives: save it anew")


def _harmless(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse a part that is XML with a document type. Pictures as SVG do not come here: no parser
    reads them.
    """
    before = b""
    for number, piece in enumerate(_pieces(archive, member)):
        if number == 0 and not _is_markup(piece):
            return
        if any(declaration in before + piece for declaration in _DTD):
            raise InvalidInput(
                "has a document type in its XML, as attacks have and documents have not: save "
                "it anew"
            )
        before = piece[-_LONGEST:]


def _is_markup(head: bytes) -> bool:
    match = _ENCODING.match(head)
    if _FOREIGN.match(head) or (match and match[1].lower() not in _ENCODINGS):
        raise InvalidInput("has XML in an encoding that no Office program writes: save it anew")
    return bool(_MARKUP.match(head))


def _pieces(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(member) as file:
        while piece := file.read(2**18):
            yield piece
