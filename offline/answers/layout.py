"""The layout of a passage: which lines head which, as an entry of a dictionary heads its
definition.

A line heads those below it that are indented deeper: the name of an option in a manual page, the
headword of a dictionary, the number and name of a section. A question that is marked as one heads
its answer. Lines that a page break put there are left out, and words that a line break cut are made
whole.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from offline.answers.boxed_text import without_boxes
from offline.answers.drawn_tables import with_markdown_tables
from offline.answers.fenced_text import with_fenced_text
from offline.answers.hidden_markup import without_hidden_markup
from offline.answers.html_in_markdown import without_html
from offline.answers.markup import as_markdown
from offline.answers.page_breaks import without_page_breaks
from offline.answers.settings_files import is_settings_file, settings_as_markdown
from offline.language.lines import BULLET, announces_code, fence, is_field, is_validity
from offline.language.links import without_addresses

_LONGEST_KEY = 76
_LONGEST_HEADING = 40
_FARTHEST = 9
"""Lines below a key, blank ones, within which its text begins."""
_TERM_ABOVE = 0.25
"""How far the term of a definition of Markdown stands out, whose definition is as far in."""
_MOST_TERMS = 4
"""Terms, one below the other, that a definition of Markdown may have."""
_NARROWEST = 60
"""Columns that lines may have at least before they count as full."""

_NUMBERED = re.compile(r"\d{1,3}\.\s+\S")
_PROSE_END = re.compile(r"[.,;!?…。！？；，{(\\|\u2010\u00ad-]$")
_PARTS_OF_SPEECH = (
    r"(?:n|v|vt|vi|v\.[ti]|t\.v|i\.v|adj|adv|pron|prep|conj|interj|pp|pl|obs|abbr(?:ev)?)"
)
_HEADWORD = re.compile(rf"([^\W\d][^.,;:!?()\[\]|]{{0,40}}, (?:{_PARTS_OF_SPEECH}\.[,;]? ?)+)\s+")
"""The beginning of an entry of a dictionary: `Applause, n. `."""
_CAPITALS = "[^\\Wa-zß-ÿа-яё\\d_]+"
_HEADWORD_IN_CAPITALS = re.compile(
    rf"((?!{_CAPITALS}\s+[IVXLC]+\.)(?=[^\W\d_]{{2}}){_CAPITALS}"
    rf"(?:[-'’&, ]+(?:(?:or|and|of|to|oder|und|ou|et|o|y|или|и)\b,? )?{_CAPITALS}){{0,8}})"
    r"(?:\.\s+|\.?\s*(?:--+|[—–])\s*)(?=[^\W\d_])"
)
"""The beginning of an entry of a dictionary whose headwords are in capitals: `ARK. A boat.`; not
the number of a chapter.
"""
_FEWEST_ENTRIES = 3
"""Of a passage from which on words in capitals at the beginning of a paragraph are headwords."""
_MOST_DESCENTS = 0.1
"""Share of the entries of a dictionary that are not in the order of the alphabet."""
_MOST_WORDS = 6
"""Words that a key may have at most where the line below it goes on with a small letter."""
_SPEECH_LINE = re.compile(rf"(?:/[^/]*/,?\s*)*(?:{_PARTS_OF_SPEECH}\.,?\s*)*$")
"""A line that has the pronunciation and the part of speech alone."""
_HANGING = re.compile(r"(\S(?:.{0,28}?\S)??)(\s{2,})(?=\S)")
"""A key with two blanks or more before the text in its line."""
_DEFINITION = re.compile(r":\s+(?=\S)")
"""What begins a definition of Markdown, below its term."""
_QUESTION = re.compile(
    r"(?:\*\*|__)?(?:Q|Question|Frage|F|В|Вопрос|Pregunta|P|问|問|问题|問題)\d*\s*"
    r"(?:[:：]|\.(?=.*\?))(?:\*\*|__)?\s*(?=\S)"
)
_ANSWER = re.compile(
    r"(?:\*\*|__)?(?:A|Answer|Antwort|О|Ответ|Respuesta|R|Réponse|答|回答)\d*\s*[:：.]"
    r"(?:\*\*|__)?\s*"
)
_SENTENCE = re.compile(r"\(1\)\s\w|[^\W\d_a-zß-ÿа-яё].{20,}[.!?…。！？](?:\s|$)")
"""A line that begins as a sentence and has the end of one, or the first paragraph of a section."""
_CUT_WORD = re.compile("(?<=\\w)[\u2010\u00ad]\n[ \t]*")
_LETTER = re.compile(r"[^\W\d_]")
_NAMES = re.compile(r"(?:-{0,2}[A-Za-z][\w.-]*=, +)*-{0,2}[A-Za-z][\w.-]*=,?")
"""Names of settings in a row, as manual pages have them above what they share."""
_KEY_ALONE = re.compile(r"-{1,2}\w|[^\Wa-zß-ÿа-яё\d][^\Wa-zß-ÿа-яё]+(?: [^\Wa-zß-ÿа-яё]+)*$|#")
"""An option, or a heading in capitals or of Markdown."""


@dataclass(frozen=True, slots=True)
class Section:
    """Lines below the same keys, without their common indent."""

    text: str
    keys: tuple[str, ...] = ()
    """The lines that head it, the outermost first."""
    question: str = ""
    """The question that it answers."""


def sections(text: str, *, begins_inside: bool = False) -> list[Section]:
    """Return the text in sections, in order; with `begins_inside` its first line may be the rest of
    one. Time is linear in the text.
    """
    if begins_inside:
        text = _as_far_in(text)
    if is_settings_file(text):
        text = settings_as_markdown(text)
    else:
        text = with_markdown_tables(with_fenced_text(without_html(without_hidden_markup(text))))
        text = without_boxes(without_page_breaks(as_markdown(text)))
    lines = _with_whole_names(text.expandtabs().splitlines())
    prose = (line.rstrip() for line in lines if len(line) <= 100 and line.lstrip()[:1] != "|")
    width = max([_NARROWEST, *map(len, prose)])
    return list(_Reader(lines, width).sections())


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    width: int
    stack: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """Indents and keys of the lines that head the line that is read."""
    question: str = ""
    collected: list[str] = field(default_factory=list[str])
    has_text: bool = False
    """Whether a line that is collected is not blank."""
    fenced: bool = False
    is_dictionary: bool = field(init=False)
    """Whether headwords in capitals begin its entries, in the order of the alphabet."""

    def __post_init__(self) -> None:
        beginnings = (line for above, line in pairwise(["", *self.lines]) if not above.strip())
        headwords = [entry[1] for entry in map(_HEADWORD_IN_CAPITALS.match, beginnings) if entry]
        descents = sum(above[0] > below[0] for above, below in pairwise(headwords))
        has_entries = len(set(headwords)) >= _FEWEST_ENTRIES
        self.is_dictionary = has_entries and descents <= _MOST_DESCENTS * len(headwords)

    def sections(self) -> Iterator[Section]:
        number = 0
        while number < len(self.lines):
            line = self.lines[number]
            if fence(line, self._above(number)):
                self.fenced = not self.fenced
            if self.fenced or not line.strip():
                self.collected.append(line)
                self.has_text = self.has_text or bool(line.strip())
                number += 1
            elif _QUESTION.match(line.strip()):
                yield from self._end()
                number += self._read_question(number)
            else:
                yield from self._line(number, line)
                number += 1
        yield from self._end()

    def _line(self, number: int, line: str) -> Iterator[Section]:
        """Read a line that is neither blank nor a question."""
        indent = _indent(line)
        if self.stack and self.stack[-1][0] >= indent:
            yield from self._end()
            self._leave(indent)
        text = line.strip()
        if self._ends_definition(number, text, indent):
            yield from self._end()
            self.stack.pop()
        head = _HEADWORD.match(text) or self._headword_in_capitals(number, text)
        answer = _ANSWER.match(text) if self.question else None
        if answer:
            self._collect(indent, text, answer)
        elif self._is_below_key(number) and _SPEECH_LINE.match(text):
            top, key = self.stack.pop()
            self.stack.append((top, f"{key} {text}"))
        elif head:
            yield from self._begin(indent - 0.5, head[1])
            self._collect(indent, text, head)
        elif hanging := self._hanging_key(number, text, indent):
            yield from self._begin(indent, hanging[1])
            self._collect(indent, text, hanging)
        elif self._is_term(number, text, indent) or self._is_heading(number, text, indent):
            yield from self._begin_term(number, indent - _TERM_ABOVE, text)
        elif definition := _DEFINITION.match(text):
            self._collect(indent, text, definition)
        elif self._is_key(number, text, indent):
            yield from self._begin(indent, text.rstrip(":："))
        else:
            self.collected.append(line)
            self.has_text = True

    def _collect(self, indent: int, text: str, beginning: re.Match[str]) -> None:
        """Collect what follows the beginning of a line, where it stands."""
        self.collected.append(" " * (indent + beginning.end()) + text[beginning.end() :])
        self.has_text = True

    def _leave(self, indent: float) -> None:
        while self.stack and self.stack[-1][0] >= indent:
            self.stack.pop()

    def _begin(self, indent: float, key: str) -> Iterator[Section]:
        yield from self._end()
        self._leave(indent)
        self.stack.append((indent, without_addresses(key).strip()))

    def _begin_term(self, number: int, indent: float, term: str) -> Iterator[Section]:
        """Begin what a term heads, together with the terms right above it."""
        if self._is_below_key(number) and self.stack[-1][0] == indent:
            term = f"{self.stack.pop()[1]}, {term}"
        yield from self._begin(indent, term)

    def _ends_definition(self, number: int, text: str, indent: int) -> bool:
        """Return whether a paragraph is as far out as the term whose definition stands above."""
        return (
            bool(self.stack)
            and self.stack[-1][0] == indent - _TERM_ABOVE
            and not self.lines[number - 1].strip()
            and not _DEFINITION.match(text)
        )

    def _end(self) -> Iterator[Section]:
        """Yield what was read since the last key."""
        if self.has_text:
            keys = tuple(key for _, key in self.stack)
            yield Section(_dedented(self.collected), keys, self.question)
        self.collected.clear()
        self.has_text = False

    def _read_question(self, number: int) -> int:
        """Read the paragraph of a question; return its lines."""
        words: list[str] = []
        for line in self.lines[number:]:
            text = line.strip()
            is_asked = bool(words) and words[-1].rstrip("*_").endswith(("?", "？"))
            if not text or is_asked or (words and _ANSWER.match(text)):
                break
            words.append(text if words else _QUESTION.sub("", text, count=1))
        self.question = " ".join(words).strip("*_")
        self._leave(_indent(self.lines[number]))
        return len(words)

    def _above(self, number: int) -> str:
        return self.lines[number - 1] if number else ""

    def _following(self, number: int) -> tuple[str, bool]:
        """Return the next line that is not blank and whether a blank one stands before it."""
        for distance, line in enumerate(self.lines[number + 1 : number + 1 + _FARTHEST]):
            if line.strip():
                return line, bool(distance)
        return "", False

    def _is_below_key(self, number: int) -> bool:
        return not self.collected and bool(self.stack) and bool(self.lines[number - 1].strip())

    def _begins_block(self, number: int) -> bool:
        """Return whether a line stands after a blank one, or right below a key or an entry."""
        return not self._above(number).strip() or not self.has_text

    def _begins_line(self, number: int) -> bool:
        """Return whether a line that begins with an option does not go on from the one above."""
        above, line = self._above(number), self.lines[number]
        goes_on = _indent(above) == _indent(line) and not above.lstrip().startswith("-")
        return self._begins_block(number) or not goes_on

    def _headword_in_capitals(self, number: int, text: str) -> re.Match[str] | None:
        """Return the match of an entry's beginning in a dictionary with headwords in capitals."""
        if not self.is_dictionary or self._above(number).strip():
            return None
        return _HEADWORD_IN_CAPITALS.match(text)

    def _hanging_key(self, number: int, text: str, indent: int) -> re.Match[str] | None:
        """Return the match of a key with its text in one line, the next lines below that text."""
        head = _HANGING.match(text)
        following, apart = self._following(number)
        if head is None or not following or not _is_name(head[1]) or BULLET.match(text):
            return None
        if is_field(text):
            return None
        is_option = text.startswith("-") and head[1][1:2] != " " and self._begins_line(number)
        is_below = not apart and _indent(following) == indent + head.end()
        beside = _HANGING.match(following.strip())
        is_list = beside is not None and _indent(following) == indent and len(head[2]) > 2
        return head if is_below or is_list or is_option else None

    def _is_term(self, number: int, text: str, indent: int) -> bool:
        """Return whether a definition of Markdown stands below a line, or below other terms."""
        if len(text) > _LONGEST_KEY or _DEFINITION.match(text):
            return False
        for line in self.lines[number + 1 : number + 1 + _MOST_TERMS]:
            if not line.strip() or _indent(line) != indent or len(line) > _LONGEST_KEY:
                return False
            if _DEFINITION.match(line.strip()):
                return True
        return False

    def _is_heading(self, number: int, text: str, indent: int) -> bool:
        """Return whether a short line stands right above the sentences that it heads."""
        above = self._above(number)
        below = self.lines[number + 1].strip() if number + 1 < len(self.lines) else ""
        is_full = indent + len(text) + 1 + len(below.partition(" ")[0]) > self.width
        return (
            not above.strip()
            and len(text) <= _LONGEST_HEADING
            and not is_full
            and len(below) > len(text)
            and _indent(self.lines[number + 1]) == indent
            and _SENTENCE.match(below) is not None
            and (BULLET.match(text) is None or _NUMBERED.match(text) is not None)
            and not text.endswith((":", "："))
            and _is_name(text)
            and not is_field(text)
            and not is_validity(text)
        )

    def _is_key(self, number: int, text: str, indent: int) -> bool:
        """Return whether a line heads the lines below it."""
        following, apart = self._following(number)
        below = _indent(following)
        is_of_names = _NAMES.fullmatch(text) is not None
        if (len(text) > _LONGEST_KEY and not is_of_names) or not following or announces_code(text):
            return False
        is_full = indent + len(text) + 1 + len(following.split()[0]) > self.width
        is_full = is_full and not is_of_names
        if below <= indent or is_full or not self._begins_block(number):
            return False
        goes_on = not apart and following.lstrip()[:1].islower() and not is_of_names
        if goes_on and text[0].isalpha() and _count_words(text) > _MOST_WORDS:
            return False  # a paragraph whose first line hangs out
        if BULLET.match(text) and not (apart and _NUMBERED.match(text)):
            return False
        return _is_name(text) and not (apart and text.endswith((":", "：")))


def _as_far_in(text: str) -> str:
    """Return the text with its first line as far in as the next, where it is the rest of a line:
    that heads nothing.
    """
    first_line, _, lines_below = text.partition("\n")
    lines = lines_below.split("\n", _FARTHEST)
    line_below = next((line for line in lines if line.strip()), "")
    is_key = _NAMES.fullmatch(first_line) or _KEY_ALONE.match(first_line)
    if not first_line[:1].strip() or is_key or BULLET.match(line_below.strip()):
        return text
    if line_below.lstrip()[:1] == "|":
        return text
    return " " * _indent(line_below) + text


def _with_whole_names(lines: Sequence[str]) -> list[str]:
    """Return the lines, names of settings that a line break parts in one."""
    result: list[str] = []
    for line in lines:
        line_above = result[-1] if result else ""
        goes_on = line_above.endswith(",") and _indent(line_above) == _indent(line)
        if goes_on and _NAMES.fullmatch(line_above.strip()) and _NAMES.fullmatch(line.strip()):
            result[-1] = f"{line_above} {line.strip()}"
        else:
            result.append(line)
    return result


def _is_name(text: str) -> bool:
    """Return whether a line can be the name of something: it does not end as a sentence does."""
    if text.startswith(("|", ">", "#", "<", "{")) or _LETTER.search(text) is None:
        return False
    if text.endswith((":", "：")):
        return len(text.split()) <= 3
    return _PROSE_END.search(text) is None or _SPEECH_LINE.match(text) is not None


def _count_words(text: str) -> int:
    return sum(word[0].isalpha() for word in text.split())


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _dedented(lines: Sequence[str]) -> str:
    common = min((_indent(line) for line in lines if line.strip()), default=0)
    return _CUT_WORD.sub("", "\n".join(line[common:].rstrip() for line in lines))
