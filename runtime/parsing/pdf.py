"""PDF to text, page by page. It runs in the sandbox only: pdfium is not thread-safe, and no file is above suspicion."""

from collections.abc import Iterator

import pypdfium2

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, paged

MAX_PAGES = 10_000


def text(data: bytes) -> Content:
    """Return the text layer, with where pages begin. Raises InvalidInput for a protected or damaged file and for one
    without a text layer."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise InvalidInput("protected by a password: save it without one first") from None
        raise InvalidInput("damaged, or not a PDF: open it in a viewer and save it anew") from None
    try:
        if len(document) > MAX_PAGES:
            raise InvalidInput(f"has {len(document):,} pages, at most {MAX_PAGES:,} are read: split it")
        content = paged(_pages(document))
    except pypdfium2.PdfiumError as error:
        raise InvalidInput(f"damaged: {error}: open it in a viewer and save it anew") from None
    finally:
        document.close()
    if not content.text:
        raise InvalidInput("has no text layer (a scan?): run text recognition over it first")
    return content


def _pages(document: pypdfium2.PdfDocument) -> Iterator[str]:
    for number in range(len(document)):
        page = document[number]
        layer = page.get_textpage()
        try:
            yield layer.get_text_bounded().replace("\r\n", "\n")
        finally:
            layer.close()
            page.close()
