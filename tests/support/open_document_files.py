"""OpenDocument files written as XML: texts, spreadsheets and presentations."""

from tests.support.office_files import archive

_NAMES = ["office", "text", "table", "draw", "style", "presentation", "svg", "chart"]
SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in _NAMES
)
_OTHERS = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
CELL = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
SLIDE = (
    "<draw:page><draw:frame><draw:text-box><text:p>A "
    "pier</text:p></draw:text-box></draw:frame></draw:page>"
)


def document(kind: str, body: str, *, styles: str = "", masters: str = "", **parts: str) -> bytes:
    """Return a file of this kind (`text`, `spreadsheet`, `presentation`) with automatic and master
    styles.
    """
    content = (
        f"<office:document-content {SPACES} {_OTHERS}><office:automatic-styles>{styles}"
        f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}></office:body>"
        "</office:document-content>"
    )
    shared = (
        f"<office:document-styles {SPACES}><office:master-styles>{masters}</office:master-styles>"
        "</office:document-styles>"
    )
    files = {"content.xml": content, "styles.xml": shared, **parts}
    return archive(**{name: text.encode() for name, text in files.items()})


def ods(body: str, styles: str = "") -> bytes:
    """Return a spreadsheet of these tables."""
    return document("spreadsheet", body, styles=styles)


def odp(body: str, styles: str = "") -> bytes:
    """Return a presentation of these pages."""
    return document("presentation", body, styles=styles)
