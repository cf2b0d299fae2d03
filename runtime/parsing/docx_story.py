"""One story of a Word document (its text, a header, a note) to Markdown: paragraphs, tables and
what hangs on them.

What Word wraps around text is many: whatever is not known here is looked into, so that none of it
is lost.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from runtime.parsing.docx_elements import (
    DELETED,
    NO_TEXT,
    alternative_with_text,
    blocks_of_cell,
    content_of_control,
    count_in_drawing,
    elements_of_drawing,
    elements_of_table,
)
from runtime.parsing.docx_numbering import Numbering
from runtime.parsing.docx_styles import Styles, numbered_level, outline_level
from runtime.parsing.docx_tables import Grid
from runtime.parsing.drawings import alternative_text, chart_text, diagram_text
from runtime.parsing.figures import Figures
from runtime.parsing.office_math import math_text
from runtime.parsing.office_parts import OfficeParts, attribute, child, descendants, local, number
from runtime.parsing.omissions import (
    DELETION,
    EMBEDDED,
    HIDDEN_TEXT,
    PICTURE,
    UNKNOWN_SYMBOL,
    Omissions,
)
from runtime.parsing.symbols import symbol
from runtime.parsing.tables import cell, with_headers

_MARKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_NUMBER_FIELDS = ("PAGE", "NUMPAGES", "SECTIONPAGES")
_PARTS_OF_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}


@dataclass
class _Line:
    """A paragraph while it is read: its text, and the blocks that follow it, as text boxes and
    notes.
    """

    pieces: list[str] = field(default_factory=list[str])
    after: list[str] = field(default_factory=list[str])


@dataclass
class _Field:
    """A field while it is read: its instruction comes first, then its result."""

    code: str = ""
    in_code: bool = True

    @property
    def is_hidden(self) -> bool:
        words = self.code.split()
        return self.in_code or bool(words and words[0].upper() in _NUMBER_FIELDS)


class Story:
    """Reads a part of the document. Numbers of lists and notes go on from story to story."""

    def __init__(
        self,
        parts: OfficeParts,
        path: str,
        styles: Styles,
        numbering: Numbering,
        omissions: Omissions,
        figures: Figures | None = None,
    ) -> None:
        """Without `figures` no picture is kept: those of headers are the same on each page."""
        self._parts = parts
        self._path = path
        self._styles = styles
        self._numbering = numbering
        self._omissions = omissions
        self._figures = figures
        self._relationships = parts.relationships(path)
        self._fields: list[_Field] = []
        self._notes: dict[str, dict[str, Element]] = {}
        self._note_count = 0
        self._commented: set[str] = set()
        self._joined_to_next = ""
        self._inline: dict[str, Callable[[Element, _Line], None]] = {
            "t": self._text,
            "fldChar": self._field_mark,
            "instrText": self._field_code,
            "sdt": self._control,
            "AlternateContent": self._alternative,
            "sym": self._symbol,
            "ruby": self._ruby,
            "oMath": self._equation,
            "r": self._run,
            "drawing": self._drawing,
            "pict": self._drawing,
            "object": self._drawing,
            "commentReference": self._comment,
            **dict.fromkeys(_PARTS_OF_NOTES, self._note),
        }

    def blocks(self, container: Element) -> Iterator[str]:
        """Yield the paragraphs and tables in the element, and behind each what hangs on it."""
        for element in container:
            name = local(element)
            if name == "p":
                yield from self._paragraph(element)
            elif name == "tbl":
                yield from self._table(element)
            elif name == "sdt":
                yield from self.blocks(content_of_control(element))
            elif name == "AlternateContent":
                yield from self.blocks(alternative_with_text(element))
            elif name == "oMathPara":
                yield math_text(element)
            elif name == "altChunk":
                self._omissions.add(EMBEDDED)
            elif name in DELETED:
                self._omissions.add(DELETION)
            elif name not in NO_TEXT:
                yield from self.blocks(element)

    def comments_elsewhere(self) -> Iterator[str]:
        """Yield the comments that no place of the text refers to."""
        for id in self._elements_of("comments"):
            if id not in self._commented:
                yield self._comment_text(id)

    def _paragraph(self, paragraph: Element) -> Iterator[str]:
        line = _Line()
        self._read(paragraph, line)
        words = (self._joined_to_next + "".join(line.pieces)).strip()
        properties = child(paragraph, "pPr")
        if any(child(properties, "rPr", name) is not None for name in DELETED):
            self._joined_to_next = words
        else:
            self._joined_to_next = ""
            yield self._marked(words, properties)
        yield from line.after

    def _marked(self, words: str, properties: Element | None) -> str:
        """Return the words as the heading or the item of a list that they are."""
        if not words:
            return ""
        style = self._styles.of(attribute(child(properties, "pStyle"), "val"))
        level = numbered_level(properties) or style.list_level
        label = self._numbering.mark(level) if level else ""
        if heading := style.heading or outline_level(properties):
            return f"{'#' * heading} {label + ' ' if label not in ('', '-') else ''}{words}"
        if not label and style.is_list:
            label = "-"
        return f"{label} {words}" if label else words

    def _read(self, element: Element, line: _Line) -> None:
        for child_element in element:
            name = local(child_element)
            if name in self._inline:
                self._inline[name](child_element, line)
            elif name in _MARKS:
                self._add(_MARKS[name], line)
            elif name == "p":  # of an unknown wrapper
                line.after += self._paragraph(child_element)
            elif name in DELETED:
                self._omissions.add(DELETION)
            elif name not in NO_TEXT:
                self._read(child_element, line)

    def _add(self, text: str, line: _Line) -> None:
        if not any(field.is_hidden for field in self._fields):
            line.pieces.append(text)

    def _text(self, element: Element, line: _Line) -> None:
        self._add(element.text or "", line)

    def _run(self, run: Element, line: _Line) -> None:
        properties = child(run, "rPr")
        vanish = child(properties, "vanish")
        if vanish is not None and attribute(vanish, "val", "1") not in ("0", "false", "off"):
            self._omissions.add(
                HIDDEN_TEXT,
                sum(len(text_element.text or "") for text_element in descendants(run, "t")),
            )
            return
        self._read(run, line)

    def _field_mark(self, element: Element, line: _Line) -> None:
        kind = attribute(element, "fldCharType")
        if kind == "begin":
            self._form_field(element, line)
            self._fields.append(_Field())
        elif self._fields and kind == "separate":
            self._fields[-1].in_code = False
        elif self._fields and kind == "end":
            self._fields.pop()

    def _form_field(self, element: Element, line: _Line) -> None:
        """Add what a box or a list of an old form is set to, which is no text of its result."""
        data = child(element, "ffData")
        box = child(data, "checkBox")
        choices = child(data, "ddList")
        if box is not None:
            state = (
                child(box, "checked")
                if child(box, "checked") is not None
                else child(box, "default")
            )
            is_checked = state is not None and attribute(state, "val", "1") not in (
                "0",
                "false",
                "off",
            )
            self._add("☒" if is_checked else "☐", line)
        if choices is not None:
            entries = [attribute(entry, "val") for entry in choices if local(entry) == "listEntry"]
            choice = attribute(child(choices, "result"), "val") or attribute(
                child(choices, "default"), "val"
            )
            self._add("".join(entries[number(choice, 0, 10_000) :][:1]), line)

    def _field_code(self, element: Element, _: _Line) -> None:
        if self._fields:
            self._fields[-1].code += element.text or ""

    def _control(self, element: Element, line: _Line) -> None:
        self._read(content_of_control(element), line)

    def _alternative(self, element: Element, line: _Line) -> None:
        self._read(alternative_with_text(element), line)

    def _symbol(self, element: Element, line: _Line) -> None:
        letter = symbol(attribute(element, "font"), attribute(element, "char"))
        if not letter:
            self._omissions.add(UNKNOWN_SYMBOL)
        self._add(letter, line)

    def _ruby(self, element: Element, line: _Line) -> None:
        base = _Line()
        reading = _Line()
        for name, into in (("rubyBase", base), ("rt", reading)):
            if (part := child(element, name)) is not None:
                self._read(part, into)
        above = "".join(reading.pieces)
        self._add("".join(base.pieces) + (f"({above})" if above else ""), line)

    def _equation(self, element: Element, line: _Line) -> None:
        self._add(math_text(element), line)

    def _note(self, element: Element, line: _Line) -> None:
        kind = local(element)
        id = attribute(element, "id")
        note = self._elements_of(_PARTS_OF_NOTES[kind]).get(id)
        if note is None:
            return
        self._note_count += 1
        self._add(f"[^{self._note_count}]", line)
        line.after.append(f"[^{self._note_count}]: {self._on_one_line(note)}")

    def _comment(self, element: Element, line: _Line) -> None:
        id = attribute(element, "id")
        if id in self._elements_of("comments") and id not in self._commented:
            line.after.append(self._comment_text(id))

    def _comment_text(self, id: str) -> str:
        self._commented.add(id)
        comment = self._elements_of("comments")[id]
        author = attribute(comment, "author")
        return f"Comment{' by ' * bool(author)}{author}: {self._on_one_line(comment)}"

    def _elements_of(self, kind: str) -> dict[str, Element]:
        """Return the notes or comments of the document by their ids."""
        if kind not in self._notes:
            paths = [
                relationship.path
                for relationship in self._relationships.values()
                if relationship.kind == kind
            ]
            elements = [element for path in paths for element in self._parts.xml(path)]
            self._notes[kind] = {
                attribute(element, "id"): element
                for element in elements
                if not attribute(element, "type")
            }
        return self._notes[kind]

    def _on_one_line(self, container: Element) -> str:
        # A note may refer to itself: in its own text no notes are looked for.
        inner = Story(self._parts, "", self._styles, self._numbering, self._omissions)
        return " ".join(" ".join(inner.blocks(container)).split())

    def _drawing(self, element: Element, line: _Line) -> None:
        """Read the text boxes, charts and diagrams of a drawing, and count what is a picture or an
        object.
        """
        pictures = count_in_drawing(element, "pic") + (
            count_in_drawing(element, "imagedata") if local(element) == "pict" else 0
        )
        self._omissions.add(EMBEDDED, count_in_drawing(element, "OLEObject"))
        if pictures:
            line.after += self._pictures(element, pictures)
        for inner in elements_of_drawing(element):
            line.after += self._of_drawing(inner)

    def _pictures(self, drawing: Element, count: int) -> list[str]:
        """Return what stands for the pictures of a drawing: for each that is in the file its mark,
        of the others what was written for those who do not see them.
        """
        elements = list(elements_of_drawing(drawing))
        descriptions = (attribute(inner, "descr") for inner in elements if local(inner) == "docPr")
        words = [text for text in dict.fromkeys(map(alternative_text, descriptions)) if text]
        pictures = [data for inner in elements if (data := self._picture(inner))]
        if not self._figures or len(pictures) != count:
            self._omissions.add(PICTURE, count)
            return [f"[Picture: {text}]" for text in words]
        texts = words if len(words) == count else [", ".join(words)] + [""] * (count - 1)
        return [self._figures.place(data, text) for data, text in zip(pictures, texts, strict=True)]

    def _picture(self, element: Element) -> bytes:
        """Return the picture that an element of a drawing shows; empty for none in the file."""
        names = {"blip": "embed", "imagedata": "id"}
        relationship = self._relationships.get(attribute(element, names.get(local(element), "")))
        return self._parts.content(relationship.path) if relationship else b""

    def _of_drawing(self, element: Element) -> Iterator[str]:
        name = local(element)
        if name == "txbxContent":
            yield from self.blocks(element)
        elif name == "textpath":
            yield attribute(element, "string")
        elif name == "chart" and (root := self._related(attribute(element, "id"))) is not None:
            yield from chart_text(root)
        elif name == "relIds" and (root := self._related(attribute(element, "dm"))) is not None:
            yield diagram_text(root)

    def _related(self, id: str) -> Element | None:
        relationship = self._relationships.get(id)
        return self._parts.xml(relationship.path) if relationship else None

    def _table(self, table: Element) -> Iterator[str]:
        rows = self._rows(table)
        if len(rows) == 1 and len(rows[0]) == 1:  # a frame around text
            yield rows[0][0]
        elif rows:
            yield from with_headers([[cell(words) for words in row] for row in rows])

    def _rows(self, table: Element) -> list[list[str]]:
        grid = Grid()
        for row in elements_of_table(table, "tr"):
            if child(row, "trPr", "del") is not None:
                self._omissions.add(DELETION)
                continue
            properties = child(row, "trPr")
            grid.begin_row(attribute(child(properties, "gridBefore"), "val"))
            for cell_element in elements_of_table(row, "tc"):
                grid.add(child(cell_element, "tcPr"), lambda of=cell_element: self._of_cell(of))
        return grid.rows

    def _of_cell(self, element: Element) -> str:
        """Return the text of a cell; a table in it has its rows on one line, with `;` between
        them.
        """
        texts: list[str] = []
        for block in blocks_of_cell(element):
            if local(block) == "tbl":
                texts.append("; ".join(", ".join(filter(None, row)) for row in self._rows(block)))
            else:
                texts += self._paragraph(block)
        return "\n".join(filter(None, texts))
