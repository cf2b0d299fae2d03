"""PDF to text, page by page. It runs in the sandbox only: pdfium is not thread-safe, and no file is above suspicion."""

from collections.abc import Iterator

import pypdfium2

from runtime.errors import InvalidInput


def text(data: bytes) -> str:
    """The text layer. Raises InvalidInput for a protected or damaged file and for one without a text layer."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise InvalidInput("protected by a password: save it without one first") from None
        raise InvalidInput("damaged, or not a PDF") from None
    try:
        found = "\n\n".join(page for page in _pages(document) if page)
    except pypdfium2.PdfiumError as error:
        raise InvalidInput(f"damaged: {error}") from None
    finally:
        document.close()
    if not found:
        raise InvalidInput("has no text layer (a scan?): run text recognition over it first")
    return found


def _pages(document: pypdfium2.PdfDocument) -> Iterator[str]:
    for number in range(len(document)):
        page = document[number]
        layer = page.get_textpage()
        try:
            yield layer.get_text_bounded().replace("\r\n", "\n").strip()
        finally:
            layer.close()
            page.close()
