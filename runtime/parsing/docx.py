"""Word documents to Markdown: headings, lists and tables in their order. It runs in the sandbox only."""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import cast

from docx import Document
from docx.blkcntnr import BlockItemContainer
from docx.document import Document as WordDocument
from docx.opc.exceptions import PackageNotFoundError
from docx.oxml.document import CT_Body
from docx.oxml.text.paragraph import CT_P
from docx.table import Table

from runtime.parsing.content import Content, joined
from runtime.parsing.package import DAMAGE, check, damaged
from runtime.parsing.tables import cell, markdown

WHAT = "a Word document"
_HEADING = re.compile(r"Heading ([1-9])$")


def text(data: bytes) -> Content:
    """Return the document as Markdown. Raises InvalidInput for a damaged file, a zip bomb and one without text."""
    check(data, WHAT)
    try:
        return joined(_blocks(Document(BytesIO(data))))
    except (PackageNotFoundError, *DAMAGE):
        raise damaged(WHAT) from None


def _blocks(document: WordDocument) -> Iterator[str]:
    # Asking each paragraph for its style takes the library a millisecond.
    styles = {style.style_id: style.name or "" for style in document.styles}
    for element in cast(CT_Body, document.element.body).inner_content_elements:
        if isinstance(element, CT_P):
            yield _paragraph(element, styles)
        else:
            rows = Table(element, document).rows
            yield markdown([[cell(_words(each)) for each in row.cells] for row in rows])


def _paragraph(paragraph: CT_P, styles: Mapping[str, str]) -> str:
    words = paragraph.text.strip()
    style = styles.get(paragraph.style or "", "")
    if not words:
        return ""
    if heading := _HEADING.match(style):
        return f"{'#' * min(int(heading[1]), 6)} {words}"
    if style == "Title":
        return f"# {words}"
    return f"- {words}" if style.startswith("List") else words


def _words(container: BlockItemContainer) -> str:
    """Return the text of a cell, that of tables inside it included."""
    inner = container.iter_inner_content()
    return "\n".join(_inner(each) if isinstance(each, Table) else each.text for each in inner)


def _inner(table: Table) -> str:
    return "\n".join(_words(each) for row in table.rows for each in row.cells)
