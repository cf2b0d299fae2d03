"""OpenDocument texts to Markdown: headings, lists and tables in their order. It runs in the sandbox only."""

from collections.abc import Iterator
from io import BytesIO
from xml.etree.ElementTree import Element

from odfdo import Document

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.office_parts import OfficeParts, child, local
from runtime.parsing.omissions import DELETION, EMBEDDED, MEDIA, PICTURE, Omissions
from runtime.parsing.package import DAMAGE, PROTECTED, check, damaged

WHAT = "an OpenDocument text"
_ENCRYPTED = "encryption-data"
_COUNTED = {"image": PICTURE, "object": EMBEDDED, "object-ole": EMBEDDED, "plugin": MEDIA, "deletion": DELETION}


def text(data: bytes) -> Content:
    """Return the document as Markdown, comments behind its text.

    Raises InvalidInput for a damaged or protected file, a zip bomb, no text.
    """
    check(data, WHAT)
    try:
        document = Document(BytesIO(data))
        if document.get_type() not in {"text", "text-template"}:
            raise damaged(WHAT)
        if _ENCRYPTED in str(document.manifest.root.serialize()):
            raise InvalidInput(PROTECTED)
        omissions = Omissions()
        root = OfficeParts(data).xml("content.xml")
        _count(root, omissions)
        return joined([str(document.to_markdown()).strip(), *_comments(root)], omissions)
    except RecursionError:
        raise
    except (RuntimeError, *DAMAGE):  # the library's word for a table of too many rows or cells is RuntimeError
        raise damaged(WHAT) from None


def _count(root: Element, omissions: Omissions) -> None:
    for element in root.iter():
        if kind := _COUNTED.get(local(element)):
            omissions.add(kind)


def _comments(root: Element) -> Iterator[str]:
    """Yield the comments, which the library leaves out."""
    for element in root.iter():
        if local(element) == "annotation":
            creator = child(element, "creator")
            author = " ".join((creator.text or "").split()) if creator is not None else ""
            words = " ".join("".join(each.itertext()) for each in element if local(each) in ("p", "list"))
            yield f"Comment{' by ' * bool(author)}{author}: {' '.join(words.split())}"
