"""Files as people have them: what stands in each, what has to be found in it, and what must not.

Names are those of the rows in docs/providers.md, under "Files".
"""

import base64
import json
import unicodedata
from dataclasses import dataclass
from typing import Any

from docx import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from openpyxl import Workbook

from tests.support.office_files import saved

KEEPER = "Ada Marlow keeps the light of Port Elm."


@dataclass(frozen=True)
class File:
    """A file. `has`: texts that a question finds; `lacks`: texts that no chunk has."""

    name: str
    data: bytes
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Names of entities that the log has of it."""


def _word(*blocks: str) -> bytes:
    """Return a Word document with these blocks of its body, as XML."""
    document: Any = Document()
    document.add_paragraph(KEEPER)
    body = document.element.body
    for block in blocks:
        body.insert(len(body) - 1, parse_xml(block.replace(">", f" {nsdecls('w')}>", 1)))
    return saved(document)


def _run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def _paragraph(content: str) -> str:
    return f"<w:p>{content}</w:p>"


def _cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{_paragraph(_run(text))}</w:tc>"


def tracked() -> File:
    """Text that somebody inserted, moved and deleted with changes tracked."""
    author = 'w:id="7" w:author="Hector" w:date="2026-01-02T03:04:05Z"'
    inserted = f"<w:ins {author}>{_run('Celia Finch makes ropes.')}</w:ins>"
    moved = f"<w:moveTo {author}>{_run('Milo Croft boils tar.')}</w:moveTo>"
    deleted = f"<w:del {author}><w:r><w:delText>Nora Gale left.</w:delText></w:r></w:del>"
    data = _word(_paragraph(inserted), _paragraph(moved), _paragraph(deleted))
    return File("tracked.docx", data, ("Celia Finch", "Milo Croft"), ("Nora Gale",))


def controls() -> File:
    """Content controls around a paragraph, within one, and around a row of a table."""
    around = (
        f"<w:sdt><w:sdtContent>{_paragraph(_run('Otto Dunn drives piles.'))}</w:sdtContent></w:sdt>"
    )
    inline = (
        _run("The cooper is ")
        + f"<w:sdt><w:sdtContent>{_run('Gideon Ashby')}</w:sdtContent></w:sdt>"
    )
    row = f"<w:sdt><w:sdtContent><w:tr>{_cell('Ruth Thorn')}</w:tr></w:sdtContent></w:sdt>"
    table = f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid>{row}</w:tbl>"
    data = _word(around, _paragraph(inline), table)
    return File("controls.docx", data, ("Otto Dunn", "Gideon Ashby", "Ruth Thorn"))


def irregular() -> File:
    """A table whose rows have other numbers of cells than its grid."""
    rows = [
        f'<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>{_cell("Wanda Frost")}</w:tr>',
        f"<w:tr>{_cell('Lena Brook')}{_cell('cutter')}{_cell('since May')}</w:tr>",
    ]
    table = (
        f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>{''.join(rows)}</w:tbl>"
    )
    return File("irregular.docx", _word(table), ("Wanda Frost", "Lena Brook", "since May"))


def merged() -> File:
    """A cell over three columns and one over two rows, whose text stands there once."""
    across = '<w:gridSpan w:val="3"/>'
    first = '<w:vMerge w:val="restart"/>'
    rows = [
        f"<w:tr>{_cell('Irma Stone', across)}</w:tr>",
        f"<w:tr>{_cell('Basil Moor', first)}{_cell('a')}{_cell('b')}</w:tr>",
        f"<w:tr>{_cell('', '<w:vMerge/>')}{_cell('c')}{_cell('d')}</w:tr>",
    ]
    grid = "<w:tblGrid><w:gridCol/><w:gridCol/><w:gridCol/></w:tblGrid>"
    table = f"<w:tbl><w:tblPr/>{grid}{''.join(rows)}</w:tbl>"
    return File(
        "merged.docx", _word(table), ("Irma Stone", "Basil Moor"), ("Irma Stone | Irma Stone",)
    )


def formulas() -> File:
    """A sheet whose formulas no program has computed."""
    book = Workbook()
    sheet: Any = book.active
    for row in (["Ship", "Dues"], ["Blue Heron", 12], ["Grey Gull", 30], ["Sum", "=SUM(B2:B3)"]):
        sheet.append(row)
    return File("formulas.xlsx", saved(book), ("Blue Heron", "SUM(B2:B3)"))


def merged_cells() -> File:
    """A sheet with a department over several rows."""
    book = Workbook()
    sheet: Any = book.active
    for row in (["Department", "Name"], ["Harbour", "Zoe North"], ["", "Pit Hale"]):
        sheet.append(row)
    sheet.merge_cells("A2:A3")
    return File("merged_cells.xlsx", saved(book), ("| Harbour | Pit Hale",))


def picture() -> File:
    """Two sentences around a picture of 60 KB as a `data:` address."""
    data = base64.b64encode(bytes(range(256)) * 240).decode()
    text = f"{KEEPER}\n\n![light](data:image/png;base64,{data})\n\nHector Vane paints it."
    return File("picture.md", text.encode(), ("Hector Vane paints",), (data[:40], data[-40:]))


def mail() -> File:
    """An e-mail with encoded headers and a body in quoted-printable."""
    text = (
        "From: =?utf-8?q?Jos=C3=A9_Mar=C3=ADn?= <jose@example.org>\r\nTo: ada@example.org\r\n"
        "Subject: The lamp\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n\r\nThe lamp of S=C3=A3o Bento is out.\r\n"
    )
    return File("mail.eml", text.encode(), ("José Marín", "São Bento", "The lamp"), ("=C3=",))


def notebook() -> File:
    """A notebook with text, code, and a picture as an output."""
    picture_data = base64.b64encode(bytes(5000)).decode()
    output = {"output_type": "display_data", "data": {"image/png": picture_data}, "metadata": {}}
    cells = [
        {
            "cell_type": "markdown",
            "metadata": {},
            "source": ["# Tides\n", "Åsa Lind measures them."],
        },
        {
            "cell_type": "code",
            "metadata": {},
            "source": ["height = 3"],
            "outputs": [output],
            "execution_count": 1,
        },
    ]
    body = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return File(
        "notebook.ipynb",
        json.dumps(body).encode(),
        ("Åsa Lind measures", "height = 3"),
        ("AAAAAAAA",),
    )


def invisible() -> File:
    """A name in decomposed letters with a soft hyphen in it."""
    name = unicodedata.normalize("NFD", "José Marín")
    text = f"{name} mends nets. Ottilie Wert\u00adpapier counts them."
    names = ("José Marín", "Ottilie Wertpapier")
    return File("invisible.md", text.encode(), names=names)


FILES = {
    file.name: file
    for file in (
        tracked(),
        controls(),
        irregular(),
        merged(),
        formulas(),
        merged_cells(),
        picture(),
        mail(),
        notebook(),
        invisible(),
    )
}
