"""Text to sentences with offsets.

Full stops end a sentence only where a blank follows, the next word does not begin in lower case and
the word before is no abbreviation; the marks of Chinese, Japanese, Hindi, Arabic, Urdu and other
scripts of their own always do. Bullets, table rows, lines with the value of a field and blank lines
end one too; a heading and a message of a chat are one, whatever they say. Every line of code stands
alone: between fences, behind a prompt of an interpreter, indented below a line that ends with a
colon. Time is linear in the text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from offline.language.abbreviations import abbreviates
from offline.language.headings import NOTE, is_heading, is_provision_number
from offline.language.lines import (
    BULLET,
    announces_code,
    begins_item,
    fence,
    is_code_directive,
    is_field,
    is_message,
)
from offline.language.scripts import HAN

LONGEST = 2_000
"""Characters of one sentence; what has no end by then is cut, at a blank where there is one."""

FULL_STOPS = "。！？｡।॥؟۔።။។։"
"""Marks that end a sentence whether or not a blank follows, of Chinese, Hindi, Arabic, Amharic,
Burmese and others.
"""

_BOLD = r"(?:\*\*|__)(?=\s|$)"
_END = re.compile(
    rf"[.!?…]+[\"'”“’)\]»]*{NOTE}*(?:(?<=\?){_BOLD})?"
    rf"|[{FULL_STOPS}]+[”’」』》）)»]*{NOTE}*(?:{_BOLD})?"
)
"""The end of a sentence; of one in bold type, in languages with blanks, that asks something."""
_BLANKS = re.compile(r"\s*")
_QUOTES = re.compile(r"^(?:[—–]\s*)?[\"“„«'‘]*")
_ALONE = re.compile(r"\||[=\-*_]{3,}$")
_CODE = re.compile(r"(?:>>>|\.\.\.|\$) |[^\s:]+ *::=")
_ALIGNED = re.compile(r": {2,}\S")
_SYMBOLS = re.compile(r"[=(){}\[\]<>_;]")


_HAN_BREAK = re.compile(rf"(?<=[{HAN}，、；：”’）》」]{{10}})[ \t]*\n[ \t]*(?=[{HAN}“‘（《「])")
"""The end of a line within a sentence in Chinese or Japanese, which has no blank there."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text[start:end]` of the text it was found in, without blanks at its ends."""

    text: str
    start: int
    end: int
    code: bool = False
    """A line of a fenced code block."""
    heading: bool = False
    """A heading: marked, underlined, or a short line between blank ones."""


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    code: bool = False
    heading: bool = False
    message: bool = False


@dataclass(slots=True)
class _Literal:
    """Whether the lines read so far have led into a block of code without fences. Indents in
    characters; -1: no.
    """

    above: int = -1
    sure: bool = False
    directive: bool = False
    """Whether a directive for code announces it, whose options stand right below."""
    inside: int = -1

    def takes(self, line: str, content: str, *, after_blank: bool) -> bool:
        """Return whether this line, which is not blank, is code; what it announces is
        remembered.
        """
        indent = len(line) - len(line.lstrip())
        if self.inside >= 0:
            if indent >= self.inside:
                return True
            self.inside = -1
        if 0 <= self.above < indent and self._begins(content, after_blank=after_blank):
            self.inside = indent
            return True
        self.sure = announces_code(content)
        self.directive = is_code_directive(content)
        self.above = indent if self.sure or content.endswith(":") else -1
        return self.directive

    def _begins(self, content: str, *, after_blank: bool) -> bool:
        """Return whether a line below an announcement looks like code, which no item does."""
        if self.directive or not after_blank:
            return self.directive
        return self.sure or (_SYMBOLS.search(content) is not None and not BULLET.match(content))


def one_line(text: str) -> str:
    """Return a sentence of several lines in one."""
    return " ".join(_HAN_BREAK.sub("", text).split())


def sentences(text: str) -> list[Sentence]:
    """Return the sentences in order. Every character that is not blank is in exactly one of
    them.
    """
    return [
        Sentence(
            text[start:end],
            start,
            end,
            block.code,
            block.heading or (not block.code and text[start] == "#"),
        )
        for block in _blocks(text)
        for start, end in _bounded(text, _cuts(text, block))
    ]


def _blocks(text: str) -> Iterator[_Block]:
    """Yield paragraphs, bullets, headings, table rows and lines of code."""
    inside = _begins_in_code(text)
    literal = _Literal()
    blank = True
    in_fields = False
    above = text_above = ""
    start = offset = 0
    in_message = False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        end = offset + len(line)
        content = line.strip()
        fencing = fence(content, above)
        code = bool(fencing or inside or _CODE.match(content))
        code = code or (bool(content) and literal.takes(line, content, after_blank=blank))
        heading = not code and is_heading(
            content, lines[number + 1 : number + 3], blank=blank, above=text_above
        )
        stands_alone = code or heading or bool(_ALONE.match(content))
        is_value = not stands_alone and is_field(content)
        if is_value and not (blank or in_fields):  # prose may have one such line, hardly two
            is_value = _begin_fields(lines[number : number + 2])
        message = not stands_alone and is_message(content)
        if stands_alone or not content or is_value or message or begins_item(content):
            yield _Block(start, offset, message=in_message)
            start = offset
            in_message = message
        if stands_alone:
            yield _Block(offset, end, code, heading)
            start = end
        if fencing:
            inside = bool(fencing[2].strip()) or not inside
        offset = end
        blank = not content or (heading and is_provision_number(content))
        in_fields = is_value
        above = content
        text_above = content or text_above
    yield _Block(start, offset, message=in_message)


def _begin_fields(lines: Sequence[str]) -> bool:
    """Return whether two lines give values of fields, whose labels do not begin in lower case,
    unless blanks align the values.
    """
    return len(lines) > 1 and all(
        is_field(line.strip())
        and (not line.lstrip(" *_")[:1].islower() or _ALIGNED.search(line) is not None)
        for line in lines
    )


def _begins_in_code(text: str) -> bool:
    """Return whether a passage was cut out of a code block: an odd number of fences, the first
    without a name.
    """
    lines = ["", *text.splitlines()]
    fences = [match for above, line in pairwise(lines) if (match := fence(line, above))]
    return len(fences) % 2 == 1 and not fences[0][2].strip() and len(fences) > 1


def _cuts(text: str, block: _Block) -> Iterator[tuple[int, int]]:
    if block.code or block.heading or block.message:
        yield block.start, block.end
        return
    start = block.start
    for end_mark in _END.finditer(text, block.start, block.end):
        if _ends(text, end_mark, start, block):
            yield start, end_mark.end()
            start = end_mark.end()
    yield start, block.end


def _ends(text: str, end_mark: re.Match[str], start: int, block: _Block) -> bool:
    if end_mark[0][0] in FULL_STOPS:
        return True
    if end_mark.end() == block.end:
        return True
    if not text[end_mark.end()].isspace():
        return False
    blanks = _BLANKS.match(text, end_mark.end(), block.end)
    following = text[blanks.end() : blanks.end() + 24] if blanks else ""
    if _QUOTES.sub("", following)[:1].islower():  # also of who says what was said
        return False
    return end_mark[0] != "." or not abbreviates(text, end_mark.start(), start, following)


def _bounded(text: str, spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans without blanks at their ends, the long ones cut."""
    for start, end in spans:
        while end - start > LONGEST:
            blank = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
            cut = blank if blank >= 0 else start + LONGEST
            yield from _stripped(text, start, cut)
            start = cut
        yield from _stripped(text, start, end)


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[start:end]
    leading = len(part) - len(part.lstrip())
    length = len(part.rstrip())
    if leading < length:
        yield start + leading, start + length
