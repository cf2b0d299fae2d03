"""Quotable parts of a passage: its sentences, the items of its lists, and its table rows with the
names of the columns.

Left out are headings, questions that nobody in the text asks, code, rules, and rows whose header is
not in the passage, because the meaning of their cells is unknown. Paragraphs that are only indented
look like code and are read as prose.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from offline.answers.analysis_cache import cached_by_characters
from offline.answers.drawn_tables import BAR, RULE
from offline.answers.layout import Section, sections
from offline.answers.settings_files import is_settings_file
from offline.language.headings import is_bold, is_provision_number
from offline.language.lines import (
    begins_item,
    has_fence,
    is_dated,
    is_dateline,
    is_field,
    is_message,
)
from offline.language.links import without_addresses
from offline.language.sentences import Sentence, one_line, sentences

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_WORD = re.compile(r"\w")
_LETTER = re.compile(r"[^\W\d_]")
_QUESTION = re.compile(r"[?？][\"”'’»)\]*_]*$")
_NARRATED = re.compile(
    r"(?<=[\w)])[,，:：]\s*(?:[“„«「『‘][^”“»」』’]*[?？][”“»」』’]?|\"[^\"]*[?？]\"?)$"
)
"""What tells that a question is a part of what is told: `She asked, “Why?”`."""
_PLACE = re.compile(r"\W*\[[^\[\]\n]*\]\(#[^()\s]*\)\W*")
"""An entry of a table of contents: nothing but a link to a place in the document."""
_NOTE = re.compile(r"[\W\d]*\[[↑^a-z]{0,2}\]\(#[^()\s]*\)")
"""The beginning of a footnote that links back to where it belongs."""
_ANCHOR = re.compile(r"\s*\{[#.:][^{}]*\}$")
"""What names or styles a heading in extended Markdown: `{#prices}`."""
_PROSE_WORD = re.compile(r"[(\"“']?[^\W\d_]+(?:['’-][^\W\d_]+)*[.,;:!?)\"”']*")
_BEGINNING = re.compile(r"[\W_]*(?:[^\W\d_a-z]|[A-Z])")
_ENDED = re.compile(r"[.!?…:;,。！？：；，][\"”’»)\]]*$")
_HEADING_MARKS = " \t#=-~*_"
_UNMARKED = 7
"""Depth of a heading without marks: below those of Markdown, above those in bold type and the
place and day of a letter.
"""
_ROWS = re.compile(r"(?:^|, ?)rows \d+ to \d+:?$", re.IGNORECASE)
"""What a block of a long table says of its rows."""
_CAPTION = re.compile(
    r"(?:table|tab\.|tabelle|tableau|tabla|tabella|таблица|табл\.|表)\s*\w{0,4}\d|.*[:：]$",
    re.IGNORECASE,
)
_LONGEST_CAPTION = 25
MAX_CACHED = 4_000_000
"""Characters of the passages altogether whose parts are cached."""

_LONGEST_LABEL = 12
_LONGEST_TITLE = 12
_LONGEST_FIRST_LINE = 20
_PROSE = 0.8
"""Share of plain words from which indented lines are prose and not code."""


@dataclass(frozen=True)
class Quotable:
    """A quotable part of a passage and what it depends on to be understood."""

    text: str
    heading: str = ""
    """The nearest heading above it."""
    title: str = ""
    """The headings above the passage, or the first one in it."""
    key: str = ""
    """The line of its own that heads it: an option, a headword of a dictionary."""
    outer_keys: str = ""
    """The lines that head the key."""
    lead: str = ""
    """Of a list item the sentence with a colon that announces the list, else the question right
    before it.
    """
    block: int = 0
    """Number of its paragraph, list or row in the passage."""
    item: bool = False
    """Whether it belongs to an item of a list."""
    cells: tuple[tuple[str, str], ...] = ()
    """Of a row of a table its words, each with the name of the column."""
    caption: str = ""
    """Of a row the line above the table that names it."""
    path: tuple[str, ...] = ()
    """The headings above it, the outermost first."""
    is_heading: bool = False
    """Whether it is a heading, which is quoted for the day that it tells."""

    @property
    def is_row(self) -> bool:
        """Return whether it is a row of a table."""
        return bool(self.cells)

    @cached_property
    def plain(self) -> str:
        """The text with the words of its links alone."""
        return without_addresses(self.text)


def _key(text: str, headings: tuple[str, ...] = (), *, begins_inside: bool = False) -> int:
    return hash((text, headings, begins_inside))


def _characters(parts: tuple[Quotable, ...]) -> int:
    return 1 + sum(len(part.text) for part in parts)


@cached_by_characters(MAX_CACHED, key=_key, characters=_characters)
def quotable(
    text: str, headings: tuple[str, ...] = (), *, begins_inside: bool = False
) -> tuple[Quotable, ...]:
    """Return the quotable parts in order; `headings` are those above the passage.

    A table row reads `Ship: Grey Gull; Sailor: Ruth Thorn`. With `begins_inside` the passage is not
    the first of its document, and a beginning that is no beginning of a sentence is left out.
    Results are cached.
    """
    if is_settings_file(text):
        headings = ()  # of Markdown, which comments look like
    headings = tuple(map(without_addresses, headings))
    reader = _Reader(
        heading=headings[-1] if headings else "",
        title=" ".join(headings),
        may_be_titled=not begins_inside,
        path=list(enumerate(headings, 1)),
    )
    for section in sections(text, begins_inside=begins_inside):
        reader.read_section(section)
    parts = reader.parts
    if begins_inside and parts and not parts[0].item and not _BEGINNING.match(parts[0].text):
        parts = parts[1:]
    return tuple(parts)


@dataclass
class _Reader:
    heading: str
    title: str
    may_be_titled: bool
    """Whether the text is the beginning of a document, whose first line may be its title."""
    parts: list[Quotable] = field(default_factory=list[Quotable])
    lead: str = ""
    """The last sentence that ends with a colon and may announce a list."""
    question: str = ""
    answer_block: int = -1
    """The last block that answers the question: its own, or the next if nothing follows it there.
    """
    is_asked_in_item: bool = False
    """Whether the item that is read asks the question."""
    block: int = 0
    item: bool = False
    list_indent: int = 0
    """Of the first item of the list that is read, in characters."""
    header: Sequence[str] = ()
    row: int = -1
    section: Section = field(default_factory=lambda: Section(""))
    label: str = ""
    """A number that stands before the sentence that it belongs to."""
    path: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """The headings above, each with its depth from 1."""
    caption: str = ""
    """The last line that may name the table below it."""
    is_below_heading: bool = False
    """Whether nothing was read since the last heading."""
    is_in_note: bool = False

    def read_section(self, section: Section) -> None:
        """Read what stands below the same keys."""
        if section.keys != self.section.keys or section.question != self.section.question:
            self.block += 1
            self.lead = ""
            self.item = False
            self.header = ()
            self.answer_block = -1 if section.keys else self.answer_block
        self.section = section
        self.row = -1
        self.read(section.text)

    def read(self, text: str, *, is_prose: bool = False) -> None:
        """Read sentences; `is_prose` says of indented lines that they were found to be prose."""
        is_fenced = has_fence(text)
        end = 0
        code: list[str] = []
        for sentence in sentences(text):
            if sentence.code:
                code += [] if is_fenced else [sentence.text]
                continue
            self._end_code(code, is_prose=is_prose)
            self._take(
                text, sentence, apart=_BLANK_LINE.search(text, end, sentence.start) is not None
            )
            end = sentence.end
        self._end_code(code, is_prose=is_prose)

    def _end_code(self, code: list[str], *, is_prose: bool) -> None:
        """Read indented lines as prose if they are prose."""
        lines = [*code]
        code.clear()
        words = " ".join(lines).split()
        if len(words) <= 5 or sum(
            _PROSE_WORD.fullmatch(word) is not None for word in words
        ) < _PROSE * len(words):
            return
        if is_prose:  # such as `The ::= sign …`, which looks like code wherever it stands
            self._take_sentence(" ".join(words), apart=True)
        else:
            self.read("\n\n" + "\n".join(line.strip() for line in lines), is_prose=True)

    def _take(self, text: str, sentence: Sentence, *, apart: bool) -> None:
        start = text.rfind("\n", 0, sentence.start) + 1
        line, _, lines_below = text[start:].partition("\n")
        if sentence.heading:
            self._begin_section(sentence.text)
        elif line.startswith("|") or line.rstrip().endswith("|"):
            self._take_row(start, line, lines_below, apart=apart)
        elif _PLACE.fullmatch(sentence.text) or self._is_of_note(sentence.text, apart=apart):
            return
        elif _is_title(sentence.text) or self._is_first_line(sentence.text, line, lines_below):
            self._begin_section(sentence.text)
        elif _WORD.search(sentence.text):
            self.header = ()
            indent = len(line) - len(line.lstrip())
            words = one_line(sentence.text)
            apart = apart or is_message(words)
            self._take_sentence(words, apart=apart, indent=indent)

    def _is_of_note(self, text: str, *, apart: bool) -> bool:
        """Return whether a sentence is of a footnote, which ends with its item or block."""
        if begins_item(text) or apart or _NOTE.match(text):
            self.is_in_note = _NOTE.match(text) is not None
        return self.is_in_note

    def _is_first_line(self, text: str, line: str, lines_below: str) -> bool:
        """Return whether a few words without the end of a sentence stand alone at the top."""
        return (
            self.may_be_titled
            and not self.parts
            and not self.heading
            and line.strip() == text
            and lines_below.startswith("\n")
            and _ENDED.search(text) is None
            and len(text.split()) <= _LONGEST_FIRST_LINE
        )

    def _begin_section(self, text: str) -> None:
        depth = _depth(text)
        heading = " ".join(_plain_heading(text).split())
        if is_provision_number(self.heading) and self.is_below_heading and depth == _UNMARKED:
            heading = f"{self.path.pop()[1]} {heading}"
        self.lead = ""
        self.item = False
        self.block += 1
        if title := _ROWS.sub("", heading):
            self._enter(depth, title)
        self.heading = heading
        self.section = replace(self.section, question="")
        self.title = self.title or self.heading
        self.block += 1
        self.is_below_heading = True
        if is_bold(text) and _QUESTION.search(text):
            self.question = text
            self.answer_block = self.block + 1
            self.is_asked_in_item = False

    def _enter(self, depth: int, heading: str) -> None:
        """Read the heading of a section, which ends those as deep or deeper. The first one without
        marks is the title of all, and one with a day of a year tells when something was.
        """
        depth = depth if self.path or depth != _UNMARKED else 1
        self.path = [above for above in self.path if above[0] < depth]
        if is_dated(heading):
            self.heading = self.path[-1][1] if self.path else ""
            self._add(heading, is_heading=True)
            self.block += 1
        self.path.append((depth, heading))
        self.caption = ""

    def _take_sentence(self, text: str, *, apart: bool, indent: int = 0) -> None:
        """Take a sentence; `apart` says that its paragraph stands behind a blank line. One that
        stands deeper than the list above it belongs to that list.
        """
        if not _LETTER.search(text) and len(text) <= _LONGEST_LABEL:
            self.label = "" if "#" in text else text  # `(#12)` tells where a change was asked for
            return
        if self.label and not begins_item(text):
            text = f"{self.label} {text}"
        self.label = ""
        bullet = begins_item(text)
        apart = apart and not (self.item and indent > self.list_indent)
        if bullet:
            self.list_indent = self.list_indent if self.item else indent
            self.is_asked_in_item = False
        if bullet != self.item and (bullet or apart):
            self.block += 1
            self.item = bullet
        elif apart and not bullet:
            self.block += 1
        if _QUESTION.search(text) and not _NARRATED.search(text):
            self.question, self.answer_block = text, self.block + 1
            self.is_asked_in_item = self.item
            return
        question = self.question if self.block <= self.answer_block else self.section.question
        self.answer_block = min(self.answer_block, self.block)
        if _CAPTION.match(text) and len(text.split()) <= _LONGEST_CAPTION:
            self.caption = self.caption if _ROWS.search(text) else text
        else:
            self.caption = ""
        self._add(text, self.lead if self.item and not self.is_asked_in_item else question)
        if not self.item:
            self.lead = text if text.endswith((":", "：")) else ""

    def _take_row(self, start: int, line: str, lines_below: str, *, apart: bool) -> None:
        if start == self.row:  # a row may hold several sentences
            return
        self.header = () if apart else self.header
        self.row, self.item = start, False
        self.block += 1
        if RULE.fullmatch(lines_below.partition("\n")[0].strip()):
            self.header = [without_addresses(cell) for cell in _cells(line)]
        elif self.header and any(_cells(line)) and not RULE.fullmatch(line.strip()):
            cells = tuple(_named(self.header, _cells(line)))
            joint = "; " if any(self.header) or len(cells) != 2 else ": "
            text = joint.join(f"{name}: {cell}" if name else cell for name, cell in cells)
            self._add(text, cells=cells)

    def _add(
        self,
        text: str,
        lead: str = "",
        cells: tuple[tuple[str, str], ...] = (),
        *,
        is_heading: bool = False,
    ) -> None:
        self.is_below_heading = False
        *outer, key = self.section.keys or ("",)
        self.parts.append(
            Quotable(
                text,
                key or self.heading,
                self.title,
                key,
                " ".join(outer),
                lead,
                self.block,
                self.item,
                cells,
                self.caption if cells else "",
                tuple(heading for _, heading in self.path),
                is_heading,
            )
        )


def _is_title(text: str) -> bool:
    """Return whether a block that is no sentence is a title: a few words, all with capitals but the
    short ones.
    """
    words = [word for word in text.split() if len(word) > 3 or word.isupper()]
    return (
        1 < len(words) <= _LONGEST_TITLE
        and (text[-1].isalnum() or text[-1] in _HEADING_MARKS)
        and not begins_item(text)
        and not is_field(text)
        and all(word[0].isupper() or word[0].isdigit() for word in words)
    )


def _depth(heading: str) -> int:
    """Return how deep a heading stands, from 1."""
    hash_count = len(heading) - len(heading.lstrip("#"))
    is_of_part = is_bold(heading) or is_dateline(heading)
    return hash_count or (_UNMARKED + 1 if is_of_part else _UNMARKED)


def _plain_heading(heading: str) -> str:
    """Return a heading without the marks around it, addresses and names for links to it."""
    text = without_addresses(_ANCHOR.sub("", heading.strip(_HEADING_MARKS)))
    return text.strip(_HEADING_MARKS)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in BAR.split(inner)]


def _named(header: Sequence[str], cells: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the cells that are not empty, each after the name of its column."""
    for number, cell in enumerate(cells):
        if cell:
            yield header[number] if number < len(header) else "", cell
