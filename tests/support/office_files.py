"""Office files for the parsers, made by the libraries, and what an attacker or a bad disk makes of
them.
"""

import datetime as dt
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any

from docx import Document
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches


def docx(*, text: bool = True) -> bytes:
    """A Word document with headings, a list and a table, or an empty one."""
    document = Document()
    if text:
        document.add_heading("Engines", 0)
        document.add_paragraph("Two of them.")
        document.add_heading("Analytical", 2)
        document.add_paragraph("never built", style="List Bullet")
        table = document.add_table(rows=2, cols=2)
        for row, cells in enumerate([["name", "who | when"], ["Difference\nEngine", "差分机"]]):
            for column, words in enumerate(cells):
                table.cell(row, column).text = words
        table.cell(1, 0).add_table(rows=1, cols=1).cell(0, 0).text = "No. 2"
        document.add_paragraph("The end.")
    return saved(document)


def pptx(*, text: bool = True) -> bytes:
    """Three slides: a list with notes; nothing; a table, a text box and a group, hidden. Or one
    without text.
    """
    deck: Any = Presentation()
    title_and_body, title_only, blank = (deck.slide_layouts[number] for number in (1, 5, 6))
    if not text:
        deck.slides.add_slide(blank)
        return saved(deck)
    first = deck.slides.add_slide(title_and_body)
    first.shapes.title.text = "Harbour\vplan"
    body = first.placeholders[1].text_frame
    body.text = "Dredge the basin\nBuild a pier"
    body.paragraphs[1].level = 1
    first.notes_slide.notes_text_frame.text = "Thank Ada Marlow."
    deck.slides.add_slide(blank)
    last = deck.slides.add_slide(title_only)
    last.element.set("show", "0")
    last.shapes.title.text = "Costs"
    size = [Inches(1)] * 4
    table = last.shapes.add_table(2, 2, *size).table
    for row, cells in enumerate([["part", "cost"], ["pier", "9|10"]]):
        for column, words in enumerate(cells):
            table.cell(row, column).text = words
    last.shapes.add_textbox(*size).text_frame.text = "approved\n\nin May"
    last.shapes.add_group_shape().shapes.add_textbox(*size).text_frame.text = "by Hector Vane"
    return saved(deck)


def xlsx(sheets: Mapping[str, Sequence[Sequence[Any]]] | None = None, *, hidden: str = "") -> bytes:
    """A spreadsheet with these sheets; a row that is empty leaves a gap."""
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in (sheets or {"Staff": STAFF}).items():
        sheet = book.create_sheet(name)
        sheet.sheet_state = "hidden" if name == hidden else "visible"
        for number, row in enumerate(rows, start=1):
            for column, value in enumerate(row, start=1):
                sheet.cell(number, column, value)
    return saved(book)


STAFF: list[list[Any]] = [
    ["Staff of the Harbour Office"],
    [],
    ["Name", "Since", "Seen", "Share", "Pay", "On duty"],
    [
        "Ada | Marlow",
        dt.date(1921, 5, 3),
        dt.datetime.fromisoformat("1921-05-03T14:30"),
        0.1 + 0.2,
        1200,
        True,
    ],
    ["Hector\nVane", dt.date(1922, 1, 1), None, 0.5, 10**15, False],
]


_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table")
)
_TEXT = (
    "<text:tracked-changes><text:changed-region><text:deletion><text:p>DELETED</text:p></text:deletion>"
    '</text:changed-region></text:tracked-changes><text:h text:outline-level="1">Harbour '
    "Office</text:h>"
    "<text:p>Åsa Lind leads it &lt;since&gt; May &amp; June.</text:p>"
    "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
    "<table:table "
    'table:name="t"><table:table-row><table:table-cell><text:p>name</text:p></table:table-cell>'
    "</table:table-row><table:table-row><table:table-cell><text:p>Ada|x</text:p></table:table-cell></table:table-row>"
    "</table:table>"
)


def odt(body: str = _TEXT, *, protected: bool = False) -> bytes:
    """An OpenDocument text of this body, or one whose manifest says that it is encrypted."""
    kind = "application/vnd.oasis.opendocument.text"
    key = "<manifest:encryption-data/>" if protected else ""
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<manifest:file-entry manifest:full-path="/" '
        f'manifest:media-type="{kind}"/><manifest:file-entry '
        'manifest:full-path="content.xml" '
        f'manifest:media-type="text/xml">{key}</manifest:file-entry>'
        "</manifest:manifest>"
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_SPACES} '
        'office:version="1.3">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    parts = {"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest}
    return archive(**{name: part.encode() for name, part in parts.items()})


def epub(first: str = "Åsa Lind leads the office.") -> bytes:
    """A book of two chapters, read in another order than the manifest has, and a page with a
    picture.
    """
    page = (
        '<?xml version="1.0"?><!DOCTYPE html><html '
        'xmlns="http://www.w3.org/1999/xhtml"><body>{}</body></html>'
    )
    items = "".join(
        f'<item id="{id}" href="{name}" media-type="application/xhtml+xml"/>'
        for id, name in (
            ("c1", "one.xhtml"),
            ("c2", "text/two%20more.xhtml"),
            ("c3", "cover.xhtml"),
        )
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>',
        "OEBPS/content.opf": '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        f'{items}</manifest><spine><itemref idref="c3"/><itemref idref="c2"/><itemref '
        'idref="c1"/></spine></package>',
        "OEBPS/one.xhtml": page.format(f"<h1>One</h1><p>{first}</p>"),
        "OEBPS/text/two more.xhtml": page.format("<h1>Two</h1><p>Börje came <i>later</i>.</p>"),
        "OEBPS/cover.xhtml": page.format("<img src='cover.png'/>"),
    }
    return archive(**{name: part.encode() for name, part in parts.items()})


RICH_TEXT = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl\f0\fswiss Helvetica;}\f0 Lef\'e8vre & \u321?\'f3d\u378? \endash  "
    rb"\u-10179?\u-8704?\par \'c5sa\cell 36\cell\row last}"
)
"""Rich Text Format with letters of its code page, of others, and beyond the first plane."""


def saved(document: Any) -> bytes:
    """The bytes a library writes."""
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def changed(data: bytes, change: Callable[[str, bytes], bytes | None], **added: bytes) -> bytes:
    """The archive with every part as `change` leaves it, None leaving it out, and with parts
    added.
    """
    out = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(data)) as before,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in before.namelist():
            part = change(name, before.read(name))
            if part is not None:
                after.writestr(name, part)
        for name, part in added.items():
            after.writestr(name, part)
    return out.getvalue()


def shared(data: bytes, string: str) -> bytes:
    """The spreadsheet with this string in every cell of text; the file has it once, as a shared
    string.
    """
    strings = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = (
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{strings}"/></Types>'.encode()
    )
    inline = re.compile(rb't="inlineStr"><is><t[^>]*>[^<]*</t></is>')

    def change(name: str, part: bytes) -> bytes:
        return (
            part.replace(b"</Types>", override)
            if "Types" in name
            else inline.sub(b't="s"><v>0</v>', part)
        )

    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    table = f'<sst xmlns="{space}"><si><t>{string}</t></si></sst>'.encode()
    return changed(data, change, **{"xl/sharedStrings.xml": table})


def archive(**parts: bytes) -> bytes:
    """A zip archive of these parts."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, part in parts.items():
            made.writestr(name, part)
    return out.getvalue()
