"""The text of an OpenDocument part in its order: headings, paragraphs, lists, tables, notes,
comments and frames.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from runtime.errors import InvalidInput
from runtime.parsing.content import MAX_TEXT
from runtime.parsing.drawings import alternative_text
from runtime.parsing.figures import Figures, unkept
from runtime.parsing.office_parts import (
    OfficeParts,
    attribute,
    child,
    descendants,
    local,
    number,
)
from runtime.parsing.omissions import DELETION, EMBEDDED, HIDDEN_TEXT, MEDIA, Omissions
from runtime.parsing.tables import MAX_CELLS, cell, with_headers

SHAPES = frozenset(
    {
        "frame",
        "custom-shape",
        "rect",
        "line",
        "ellipse",
        "circle",
        "polygon",
        "polyline",
        "path",
        "g",
        "caption",
        "connector",
        "measure",
        "regular-polygon",
    }
)
"""Elements that lie on a page or in a text and may have text of their own."""

_DECLARATIONS = frozenset(
    {
        "sequence-decls",
        "user-field-decls",
        "variable-decls",
        "forms",
        "named-expressions",
        "database-ranges",
        "alphabetical-index-auto-mark-file",
        "calculation-settings",
        "content-validations",
    }
)
"""Elements that stand in a text without being part of it."""

_ROWS = frozenset({"table-header-rows", "table-rows", "table-row-group"})
_CELLS = frozenset({"table-cell", "covered-table-cell"})


class OdfStory:
    """Reads the text of one document. `hidden_styles`: names of the styles whose text is not
    shown. Without `figures` no picture is kept.
    """

    def __init__(
        self,
        parts: OfficeParts,
        omissions: Omissions,
        hidden_styles: frozenset[str],
        figures: Figures | None = None,
    ) -> None:
        self._figures = figures
        self._parts = parts
        self._omissions = omissions
        self._hidden_styles = hidden_styles
        self._after: list[str] = []
        self._note_count = 0
        self._cell_count = 0

    def blocks(self, container: Element) -> Iterator[str]:
        """Yield the blocks of a container, behind each paragraph the notes and frames in it."""
        for element in container:
            yield from self._block(element)
            yield from self._following()

    def on_one_line(self, container: Element) -> str:
        """Return all text of a container on one line; its pictures are not kept."""
        figures = self._figures
        self._figures = None
        try:
            return " ".join(" ".join(self.blocks(container)).split())
        finally:
            self._figures = figures

    def comment(self, element: Element) -> str:
        """Return a comment with the name of who wrote it."""
        creator = child(element, "creator")
        author = " ".join((creator.text or "").split()) if creator is not None else ""
        blocks = [block for block in element if local(block) in ("p", "list")]
        words = " ".join(" ".join("".join(block.itertext()).split()) for block in blocks)
        return f"Comment{' by ' * bool(author)}{author}: {words}"

    def _block(self, element: Element) -> Iterator[str]:
        name = local(element)
        if name == "tracked-changes":
            self._omissions.add(DELETION, sum(1 for _ in descendants(element, "deletion")))
        elif name in ("h", "p"):
            yield self._paragraph(element)
        elif name == "list":
            yield "\n".join(self._list(element, 0))
        elif name == "table":
            if rows := [[cell(words) for words in row] for row in self._rows(element)]:
                yield from with_headers(rows)
        elif name == "annotation":
            yield self.comment(element)
        elif name in SHAPES:
            yield from self._shape(element)
        elif name == "section" and attribute(element, "display") == "none":
            self._omissions.add(HIDDEN_TEXT, len("".join(element.itertext()).strip()))
        elif name not in _DECLARATIONS:
            yield from self.blocks(element)

    def _paragraph(self, element: Element) -> str:
        words = self._inline(element).strip()
        if local(element) != "h" or not words:
            return words
        level = max(1, number(attribute(element, "outline-level"), 1, 6))
        return f"{'#' * level} {' '.join(words.split())}"

    def _list(self, element: Element, depth: int) -> Iterator[str]:
        for item in element:
            marker = "- "
            for inner in item:
                if local(inner) == "list":
                    yield from self._list(inner, depth + 1)
                    continue
                words = " ".join(" ".join(self._block(inner)).split())
                if words:
                    yield f"{'  ' * depth}{marker}{words}"
                    marker = "  "

    def _rows(self, table: Element) -> Iterator[list[str]]:
        for element in table:
            if local(element) in _ROWS:
                yield from self._rows(element)
            elif local(element) == "table-row":
                row = self._row(element)
                for _ in range(repetitions(element, "number-rows-repeated")):
                    self._count_cells(len(row))
                    yield row

    def _row(self, element: Element) -> list[str]:
        row: list[str] = []
        for cell_element in element:
            if local(cell_element) in _CELLS:
                words = (
                    self.on_one_line(cell_element) if local(cell_element) == "table-cell" else ""
                )
                repetition_count = repetitions(cell_element, "number-columns-repeated")
                row += [words] * repetition_count
        return row

    def _count_cells(self, count: int) -> None:
        self._cell_count += count
        if self._cell_count > MAX_CELLS:
            raise InvalidInput(f"tables have more than {MAX_CELLS:,} cells: split it")

    def _inline(self, element: Element) -> str:
        """Return the text of a paragraph or a span; notes and frames in it come behind the
        paragraph.
        """
        if attribute(element, "style-name") in self._hidden_styles:
            self._omissions.add(HIDDEN_TEXT, len("".join(element.itertext()).strip()))
            return ""
        parts = [element.text or ""]
        for part in element:
            parts.append(self._piece(part))
            parts.append(part.tail or "")
        return "".join(parts)

    def _piece(self, element: Element) -> str:
        name = local(element)
        if name == "s":
            return " " * blanks(element)
        if name in ("tab", "line-break"):
            return "\t" if name == "tab" else "\n"
        if name == "note":
            return self._note(element)
        if name == "annotation":
            self._after.append(self.comment(element))
            return ""
        if name in SHAPES:
            self._after += list(self._shape(element))
            return ""
        return self._inline(element)

    def _note(self, element: Element) -> str:
        self._note_count += 1
        number_of_note = self._note_count
        body = child(element, "note-body")
        outside = self._after
        self._after = []
        words = self.on_one_line(body) if body is not None else ""
        self._after = [*outside, f"[^{number_of_note}]: {words}", *self._after]
        return f"[^{number_of_note}]"

    def _shape(self, element: Element) -> Iterator[str]:
        """Yield the texts in a frame or a shape; a picture gives what is said for those who do not
        see it.
        """
        words = " ".join(
            (part.text or "") for part in element if local(part) in ("title", "desc") and part.text
        )
        for part in element:
            name = local(part)
            if name in ("object", "object-ole"):
                yield from self._object(part)
                break  # a picture of the object follows
            if name == "image":
                yield from self._picture(part, alternative_text(words))
                break  # the same picture in another format may follow
            if name == "plugin":
                self._omissions.add(MEDIA)
                break
            if name not in ("title", "desc"):
                yield from self._block(part)
                yield from self._following()

    def _picture(self, element: Element, description: str) -> Iterator[str]:
        """Yield what stands for a picture: the mark of one that is in the file, of another what is
        said for those who do not see it.
        """
        data = self._parts.content(attribute(element, "href").removeprefix("./"))
        place = (
            self._figures.place(data, description)
            if self._figures and data
            else unkept(description, self._omissions)
        )
        if place:
            yield place

    def _object(self, element: Element) -> Iterator[str]:
        """Yield the texts of a chart; other embedded objects are counted."""
        place = attribute(element, "href").removeprefix("./").strip("/")
        try:
            root = self._parts.xml(f"{place}/content.xml")
        except KeyError:
            root = None
        chart = child(root, "body", "chart")
        if chart is None:
            self._omissions.add(EMBEDDED)
            return
        yield "Chart"
        yield from self.blocks(chart)

    def _following(self) -> Iterator[str]:
        following = self._after
        self._after = []
        yield from following


def repetitions(element: Element, name: str) -> int:
    """Return how often a cell or a row is repeated; at most as often as a table may have cells, and
    one more.
    """
    return max(1, number(attribute(element, name), 1, MAX_CELLS + 1))


def blanks(element: Element) -> int:
    """Return how many blanks an element stands for. Raises InvalidInput for more than a text may
    have.
    """
    count = number(attribute(element, "c"), 1, MAX_TEXT + 1)
    if count > MAX_TEXT:
        raise InvalidInput(f"gives more than {MAX_TEXT:,} characters of text: split it")
    return count


def hidden_styles(*roots: Element | None) -> frozenset[str]:
    """Return the names of the styles whose text, sheet or slide is not shown."""
    names: set[str] = set()
    for root in roots:
        for style in descendants(root, "style") if root is not None else ():
            properties = [
                (local(part).removesuffix("-properties"), part)
                for part in style
                if local(part).endswith("-properties")
            ]
            if any(_hides(kind, part) for kind, part in properties):
                names.add(attribute(style, "name"))
    return frozenset(names)


def _hides(kind: str, properties: Element) -> bool:
    if kind == "text":
        return attribute(properties, "display") == "none"
    if kind == "table":
        return attribute(properties, "display") == "false"
    return kind == "drawing-page" and attribute(properties, "visibility") == "hidden"
