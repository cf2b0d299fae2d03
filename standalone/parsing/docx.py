"""Word documents to Markdown: headings, lists and tables in their order. It runs in the sandbox only."""

import re
import zipfile
from io import BytesIO

from docx import Document
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table
from docx.text.paragraph import Paragraph

from runtime.errors import InvalidInput

MAX_MEMBERS, MAX_INFLATED, MAX_RATIO = 5000, 200 * 1024 * 1024, 200
"""What the archive may say of itself: files, bytes when inflated, inflated bytes for each byte of the archive."""

_HEADING = re.compile(r"Heading ([1-9])$")


def text(data: bytes) -> str:
    """The document as Markdown. Raises InvalidInput for a damaged file, a zip bomb and one without text."""
    _guard(data)
    try:
        blocks = [_block(block) for block in Document(BytesIO(data)).iter_inner_content()]
    except (PackageNotFoundError, SyntaxError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise InvalidInput(f"damaged, or not a Word document ({type(error).__name__})") from None
    found = "\n\n".join(block for block in blocks if block)
    if not found:
        raise InvalidInput("has no text in it")
    return found


def _guard(data: bytes) -> None:
    """Refuse what would inflate to more than a document needs, before anything is inflated."""
    try:
        members = zipfile.ZipFile(BytesIO(data)).infolist()
    except zipfile.BadZipFile:
        raise InvalidInput("damaged, or not a Word document") from None
    inflated = sum(member.file_size for member in members)
    if len(members) > MAX_MEMBERS or inflated > min(MAX_INFLATED, MAX_RATIO * len(data)):
        raise InvalidInput("inflates to far more than a document needs (a zip bomb?)")


def _block(block: Paragraph | Table) -> str:
    return _table(block) if isinstance(block, Table) else _paragraph(block)


def _paragraph(paragraph: Paragraph) -> str:
    words = paragraph.text.strip()
    style = (paragraph.style.name if paragraph.style else None) or ""
    if not words:
        return ""
    if heading := _HEADING.match(style):
        return f"{'#' * min(int(heading[1]), 6)} {words}"
    if style == "Title":
        return f"# {words}"
    return f"- {words}" if style.startswith("List") else words


def _table(table: Table) -> str:
    rows = [[_cell(cell.text) for cell in row.cells] for row in table.rows]
    if not rows:
        return ""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|")
