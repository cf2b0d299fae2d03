"""The XML of Word documents: paragraphs, tables, fields, drawings and the archive around them."""

from tests.support.office_files import archive

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


_RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"


_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"


SPACES = (
    f'xmlns:w="{W}" xmlns:r="{_RELATIONSHIPS}" xmlns:a="{_DRAWING}/main" '
    f'xmlns:c="{_DRAWING}/chart" '
    f'xmlns:wp="{_DRAWING}/wordprocessingDrawing" xmlns:pic="{_DRAWING}/picture" '
    f'xmlns:dgm="{_DRAWING}/diagram" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
)


PARTS = {
    "footnotes": (f"{_RELATIONSHIPS}/footnotes", f"{_WORD_TYPE}.footnotes+xml"),
    "endnotes": (f"{_RELATIONSHIPS}/endnotes", f"{_WORD_TYPE}.endnotes+xml"),
    "comments": (f"{_RELATIONSHIPS}/comments", f"{_WORD_TYPE}.comments+xml"),
    "header": (f"{_RELATIONSHIPS}/header", f"{_WORD_TYPE}.header+xml"),
    "footer": (f"{_RELATIONSHIPS}/footer", f"{_WORD_TYPE}.footer+xml"),
    "numbering": (f"{_RELATIONSHIPS}/numbering", f"{_WORD_TYPE}.numbering+xml"),
    "chart": (
        f"{_RELATIONSHIPS}/chart",
        "application/vnd.openxmlformats-officedocument.drawingml.chart+xml",
    ),
    "data": (
        f"{_RELATIONSHIPS}/diagramData",
        "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml",
    ),
}
"""Name of a part → the type of the relationship that leads to it, and its content type."""


def word(body: str, **parts: str) -> bytes:
    """A document of this body, with parts of `PARTS` whose relationship ids are their names."""
    types = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{PARTS[name][1]}"/>' for name in parts
    )
    relationships = "".join(
        f'<Relationship Id="{name}" Type="{PARTS[name][0]}" Target="{name}.xml"/>' for name in parts
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Override PartName="/word/document.xml" '
        f'ContentType="{_WORD_TYPE}.document.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_RELATIONSHIPS}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f"<w:document {SPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships">{relationships}</Relationships>'
        ),
        **{f"word/{name}.xml": part for name, part in parts.items()},
    }
    return archive(**{name: part.encode() for name, part in files.items()})


def p(*runs: str, properties: str = "") -> str:
    """A paragraph; a run that is no markup becomes one."""
    return (
        f"<w:p>{properties}{''.join(run if run.startswith('<') else r(run) for run in runs)}</w:p>"
    )


def r(text: str, properties: str = "") -> str:
    """A run of text."""
    return f'<w:r>{properties}<w:t xml:space="preserve">{text}</w:t></w:r>'


def table(*rows: str) -> str:
    """A table of rows."""
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(rows)}</w:tbl>"


def tr(*cells: str, properties: str = "") -> str:
    """A row; a cell that is no markup becomes one."""
    inner = "".join(cell if cell.startswith("<") else tc(cell) for cell in cells)
    return f"<w:tr>{properties}{inner}</w:tr>"


def tc(text: str = "", properties: str = "") -> str:
    """A cell with a paragraph."""
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{text if text.startswith('<') else p(text)}</w:tc>"


def control(inner: str, properties: str = "") -> str:
    """A content control."""
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>"


def inserted(inner: str, kind: str = "ins") -> str:
    """Runs of a tracked change."""
    return f'<w:{kind} w:id="1" w:author="Ada">{inner}</w:{kind}>'


def mark(kind: str) -> str:
    """A mark of a complex field."""
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def instruction(code: str) -> str:
    """The instruction of a complex field."""
    return f'<w:r><w:instrText xml:space="preserve">{code}</w:instrText></w:r>'


def box(text: str) -> str:
    """A text box as Word writes it: the drawing, and the same as VML for old programs."""
    inner = f"<w:txbxContent>{p(text)}</w:txbxContent>"
    return (
        "<w:r><mc:AlternateContent><mc:Choice "
        'Requires="wps"><w:drawing><wp:inline><a:graphic><a:graphicData>'
        f"<wps:wsp><wps:txbx>{inner}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing>"
        f"</mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>{inner}</v:textbox></v:shape></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )


def drawing(graphic: str, alt: str = "") -> str:
    """A drawing in a run."""
    return (
        '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" '
        f'descr="{alt}"/><a:graphic><a:graphicData>'
        f"{graphic}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )


def notes(kind: str, text: str) -> str:
    """The part of footnotes or endnotes, with the separators that Word puts there."""
    return (
        f'<w:{kind}s {SPACES}><w:{kind} w:type="separator" w:id="-1">{p("SEPARATOR")}</w:{kind}>'
        f'<w:{kind} w:id="2">{p(text)}</w:{kind}></w:{kind}s>'
    )
