"""Drawings (SVG) to text: what is written in them, and what is said for those who do not see
them.
"""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.office_parts import descendants, local
from runtime.parsing.omissions import PICTURE, Omissions, left_out

SHAPE = left_out("drawn shape", "drawn shapes", "only text is read")
_SHAPES = frozenset(["path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "use"])


def text(source: str) -> Content:
    """Return title, descriptions and texts in their order. Raises InvalidInput for damage and for
    no text.
    """
    if "<!ENTITY" in source:
        raise InvalidInput("has entities of its own in its XML: save it anew as plain SVG")
    try:
        root = ElementTree.fromstring(source.lstrip("\ufeff \r\n\t"))  # noqa: S314
    except ElementTree.ParseError:
        raise InvalidInput(
            "damaged, or no SVG: open it in the program that made it and save it anew"
        ) from None
    omissions = Omissions()
    names = [local(element) for element in root.iter()]
    omissions.add(PICTURE, names.count("image"))
    omissions.add(SHAPE, sum(name in _SHAPES for name in names))
    blocks = [
        _words(element)
        for element in root.iter()
        if local(element) in ("title", "desc", "text", "foreignObject")
    ]
    return joined(blocks, omissions)


def _words(element: Element) -> str:
    """Return the text of an element; lines that programs break into `tspan` are parted by a
    blank.
    """
    if local(element) == "text" and any(True for _ in descendants(element, "tspan")):
        return " ".join(" ".join(element.itertext()).split())
    return " ".join("".join(element.itertext()).split())
