"""Office files in the strict form of ISO 29500 ("Strict Open XML"), which name the same things by
other addresses: libraries know those of the transitional form alone.
"""

import zipfile
from io import BytesIO

_STRICT = b"http://purl.oclc.org/ooxml/"
_TRANSITIONAL = b"http://schemas.openxmlformats.org/"
_SCHEMAS = (
    b"officeDocument/relationships",
    b"spreadsheetml/main",
    b"presentationml/main",
    b"drawingml/main",
    b"drawingml/chart",
    b"drawingml/diagram",
    b"drawingml/spreadsheetDrawing",
    b"officeDocument/math",
    b"officeDocument/extendedProperties",
)
"""What both forms have; the transitional one has a year in it."""


def transitional(data: bytes) -> bytes:
    """Return an Office file in the transitional form; one that is in it already as it is."""
    source = zipfile.ZipFile(BytesIO(data))
    names = source.namelist()
    if not any(name.endswith(".rels") and _STRICT in source.read(name) for name in names):
        return data
    output = BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as target:
        for name in names:
            part = source.read(name)
            target.writestr(name, _renamed(part) if name.endswith((".xml", ".rels")) else part)
    return output.getvalue()


def _renamed(part: bytes) -> bytes:
    for schema in _SCHEMAS:
        group, _, kind = schema.partition(b"/")
        part = part.replace(_STRICT + schema, _TRANSITIONAL + group + b"/2006/" + kind)
    return part
