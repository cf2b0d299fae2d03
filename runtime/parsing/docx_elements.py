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
    for each in container:
        name = local(each)
        if name in ("p", "tbl"):
            yield each
        elif name == "sdt":
            yield from blocks_of_cell(content_of_control(each))
        elif name == "AlternateContent":
            yield from blocks_of_cell(alternative_with_text(each))
        elif name not in NO_TEXT and name not in DELETED:
            yield from blocks_of_cell(each)


def elements_of_table(container: Element, name: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, whatever is wrapped around them."""
    for each in container:
        if local(each) == name:
            yield each
        elif local(each) == "sdt":
            yield from elements_of_table(content_of_control(each), name)
        elif local(each) not in NO_TEXT and local(each) not in DELETED:
            yield from elements_of_table(each, name)


def content_of_control(control: Element) -> Element:
    """Return the content of a control; an empty element while it shows its placeholder."""
    content = child(control, "sdtContent")
    is_placeholder = child(control, "sdtPr", "showingPlcHdr") is not None
    return content if content is not None and not is_placeholder else Element("nothing")


def alternative_with_text(alternatives: Element) -> Element:
    """Return the first alternative that has text or a picture; what is for old programs says the
    same again.
    """
    for each in alternatives:
        if any(local(inner) in _TEXT_BEARING for inner in each.iter()):
            return each
    return Element("nothing")


def elements_of_drawing(drawing: Element) -> Iterator[Element]:
    """Yield the elements of a drawing, without the alternatives for old programs and what is in
    text boxes.
    """
    for each in drawing:
        if local(each) == "AlternateContent":
            yield from elements_of_drawing(alternative_with_text(each))
            continue
        yield each
        if local(each) != "txbxContent":
            yield from elements_of_drawing(each)


def count_in_drawing(drawing: Element, name: str) -> int:
    return sum(local(each) == name for each in elements_of_drawing(drawing))
