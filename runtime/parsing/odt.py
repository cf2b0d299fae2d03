"""OpenDocument texts to Markdown: headings, lists and tables in their order. It runs in the sandbox only."""

from io import BytesIO

from odfdo import Document

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.package import DAMAGE, PROTECTED, check, damaged

WHAT = "an OpenDocument text"
_ENCRYPTED = "encryption-data"


def text(data: bytes) -> Content:
    """Return the document as Markdown. Raises InvalidInput for a damaged or protected file, a zip bomb, no text."""
    check(data, WHAT)
    try:
        document = Document(BytesIO(data))
        if document.get_type() not in {"text", "text-template"}:
            raise damaged(WHAT)
        if _ENCRYPTED in str(document.manifest.root.serialize()):
            raise InvalidInput(PROTECTED)
        return joined([str(document.to_markdown()).strip()])
    except RecursionError:
        raise
    except (RuntimeError, *DAMAGE):  # the library's word for a table of too many rows or cells is RuntimeError
        raise damaged(WHAT) from None
