"""What stands inside of an element of a Word document, whatever is wrapped around it."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from runtime.parsing.office_parts import child, local

DELETED = {"del", "moveFrom"}
"""Elements with what was taken out while changes were tracked."""
NO_TEXT = {
    "sectPr",
    "pPr",
    "rPr",
    "tblPr",
    "tblGrid",
    "trPr",
    "tcPr",
    "sdtPr",
    "sdtEndPr",
    "instrText",
    "delText",
}
_TEXT_BEARING = {"txbxContent", "t", "chart", "relIds", "pic", "imagedata", "textpath"}


def blocks_of_cell(container: Element) -> Iterator[Element]:
    """Yield the paragraphs and tables in a cell, whatever is wrapped around them."""
    for element in container:
        name = local(element)
        if name in ("p", "tbl"):
            yield element
        elif name == "sdt":
            yield from blocks_of_cell(content_of_control(element))
        elif name == "AlternateContent":
            yield from blocks_of_cell(alternative_with_text(element))
        elif name not in NO_TEXT and name not in DELETED:
            yield from blocks_of_cell(element)


def elements_of_table(container: Element, name: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, whatever is wrapped around them."""
    for element in container:
        if local(element) == name:
            yield element
        elif local(element) == "sdt":
            yield from elements_of_table(content_of_control(element), name)
        elif local(element) not in NO_TEXT and local(element) not in DELETED:
            yield from elements_of_table(element, name)


def content_of_control(control: Element) -> Element:
    """Return the content of a control; an empty element while it shows its placeholder."""
    content = child(control, "sdtContent")
    is_placeholder = child(control, "sdtPr", "showingPlcHdr") is not None
    return content if content is not None and not is_placeholder else Element("nothing")


def alternative_with_text(alternatives: Element) -> Element:
    """Return the first alternative that has text or a picture; what is for old programs says the
    same again.
    """
    for alternative in alternatives:
        if any(local(inner) in _TEXT_BEARING for inner in alternative.iter()):
            return alternative
    return Element("nothing")


def elements_of_drawing(drawing: Element) -> Iterator[Element]:
    """Yield the elements of a drawing, without the alternatives for old programs and what is in
    text boxes.
    """
    for element in drawing:
        if local(element) == "AlternateContent":
            yield from elements_of_drawing(alternative_with_text(element))
            continue
        yield element
        if local(element) != "txbxContent":
            yield from elements_of_drawing(element)


def count_in_drawing(drawing: Element, name: str) -> int:
    return sum(local(element) == name for element in elements_of_drawing(drawing))
