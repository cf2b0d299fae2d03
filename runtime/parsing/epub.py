"""E-books to Markdown: the chapters in the order of reading. It runs in the sandbox only."""

import posixpath
import zipfile
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import unquote
from xml.etree import ElementTree

from runtime.errors import InvalidInput
from runtime.parsing import html
from runtime.parsing.content import Content, joined
from runtime.parsing.decoding import decode
from runtime.parsing.figures import Figures
from runtime.parsing.omissions import Omissions
from runtime.parsing.package import DAMAGE, PROTECTED, check, damaged

WHAT = "an e-book in EPUB"
PAGES = (".xhtml", ".html", ".htm", ".ncx")
"""Parts that may have a document type: only the parser of HTML reads them, and it knows no entities
of theirs.
"""

_CONTAINER = "META-INF/container.xml"
_PROTECTION = {"META-INF/encryption.xml", "META-INF/rights.xml"}
_CHAPTERS = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml"}


def text(data: bytes) -> Content:
    """Return the chapters. Raises InvalidInput for a damaged or protected file, a zip bomb and a
    book without text.
    """
    check(data, WHAT, pages=PAGES)
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            omissions = Omissions()
            figures = Figures(omissions)
            return joined(_chapters(archive, omissions, figures), omissions, figures)
    except DAMAGE:
        raise damaged(WHAT) from None


def _chapters(archive: zipfile.ZipFile, omissions: Omissions, figures: Figures) -> Iterator[str]:
    """Yield the text of each chapter, once however often the order of reading names it."""
    package = _attributes(archive, _CONTAINER, "rootfile", "full-path")[0][0]
    if not package.lower().endswith(".opf"):
        raise LookupError(package)
    parts = {
        id: (path, kind)
        for id, path, kind in _attributes(archive, package, "item", "id", "href", "media-type")
    }
    for (id,) in dict.fromkeys(_attributes(archive, package, "itemref", "idref")):
        path, kind = parts[id]
        if kind in _CHAPTERS:
            place = posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(path)))
            yield _chapter(archive, place, omissions, figures)


def _chapter(archive: zipfile.ZipFile, path: str, omissions: Omissions, figures: Figures) -> str:
    """Return the text of a chapter; empty for a page with nothing."""

    def picture(address: str) -> bytes:
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(address)))
        try:
            return html.data_of_address(address) or archive.read(place)
        except KeyError:
            return b""

    try:
        source = decode(archive.read(path)).text
        return html.page_text(source, omissions, html.Pictures(figures, picture))
    except InvalidInput:
        if not _PROTECTION.isdisjoint(archive.namelist()):
            raise InvalidInput(PROTECTED) from None
        raise


def _attributes(
    archive: zipfile.ZipFile, path: str, element: str, *names: str
) -> list[tuple[str, ...]]:
    """Return these attributes of every element of that name in any namespace. Raises LookupError if
    one is missing.
    """
    root = ElementTree.fromstring(archive.read(path))  # noqa: S314
    return [
        tuple(found_element.attrib[name] for name in names)
        for found_element in root.iterfind(f".//{{*}}{element}")
    ]
