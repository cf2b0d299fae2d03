"""Which headings are in force at a place of a Markdown text: ATX (`# Title`) and setext
(underlined) ones.

CommonMark's rules (0.31, sections 4.2, 4.3 and 4.5), but a title is one line of at most 200
characters, and a line over it of the marks that stand under it is allowed, as reStructuredText has
it.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator

_LONGEST_LINE = 1_000
"""Characters of a line that may be a heading or a fence."""

_LONGEST_TITLE = 200
"""Characters of a heading's title; a longer underlined one is no heading, a longer `#` one is
cut.
"""

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?:(=)=*|(-)-*)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_NO_TITLE = re.compile(r" {4}|\t| {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|\|)")
"""Beginnings of code, quotations, lists and tables, which no underline makes a heading of."""


class Outline:
    """The headings of a text that passes through `read`; `at` returns those in force at an offset
    already read.
    """

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._coming: deque[tuple[int, tuple[str, ...]]] = deque()
        self._current: tuple[str, ...] = ()
        self._fence = ""
        self._title: tuple[int, str] | None = None
        self._before = ""

    def at(self, offset: int) -> tuple[str, ...]:
        """Return the headings in force at this offset, outermost first. Offsets must not decrease
        from call to call.
        """
        while self._coming and self._coming[0][0] <= offset:
            self._current = self._coming.popleft()[1]
        return self._current

    def entered(self, end: int) -> Iterator[tuple[int, int]]:
        """Yield offset and depth, 1 for the outermost, of each heading before this offset; each
        once, and `at` does not know them any more.
        """
        while self._coming and self._coming[0][0] < end:
            offset, path = self._coming.popleft()
            yield offset, len(path) or 1

    def read(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the same text; each piece ends before the first line that may still become a
        heading.
        """
        buffer, buffer_start = "", 0  # text that is not yielded yet, and its offset
        # The offset at which the next line begins; or, in a line too long for a heading, at which
        # it goes on.
        line_start = 0
        in_long_line = False
        for text in texts:
            buffer += text
            *lines, last_line = buffer[line_start - buffer_start :].split("\n")
            for line in lines:
                self._line(None if in_long_line else line, line_start)
                line_start += len(line) + 1
                in_long_line = False
            if in_long_line or len(last_line) > _LONGEST_LINE:
                line_start += len(last_line)
                in_long_line = True
                self._title = None
            end = self._title[0] if self._title else line_start
            yield buffer[: end - buffer_start]
            buffer = buffer[end - buffer_start :]
            buffer_start = end
        self._line(None if in_long_line else buffer[line_start - buffer_start :], line_start)
        yield buffer

    def _line(self, line: str | None, offset: int) -> None:
        """Read one line that begins at this offset; None stands for a line too long for a
        heading.
        """
        before = self._before
        title = self._title
        self._before = "..."
        self._title = None
        if line is None or len(line) > _LONGEST_LINE:
            return
        self._before = line = line.rstrip()
        if self._fence:
            self._fence = "" if _closes(line, self._fence) else self._fence
            self._before = ""
        elif match := _ATX.match(line):
            self._enter(offset, len(match[1]), _CLOSING.sub("", match[2] or ""))
        elif match := _FENCE.match(line):
            self._fence = match[1]
        elif title and (match := _UNDERLINE.match(line)):
            self._enter(title[0], 1 if match[1] else 2, title[1])
        elif line and (not before or _UNDERLINE.match(before)) and not _NO_TITLE.match(line):
            self._title = (offset, line.strip()) if len(line) <= _LONGEST_TITLE else None

    def _enter(self, offset: int, level: int, title: str) -> None:
        self._path = [heading for heading in self._path if heading[0] < level]
        if title := title.strip()[:_LONGEST_TITLE]:
            self._path.append((level, title))
        self._coming.append((offset, tuple(title for _, title in self._path)))
        self._before = ""


def _closes(line: str, fence: str) -> bool:
    fence_end = line.strip()
    return (
        len(fence_end) >= len(fence)
        and set(fence_end) == {fence[0]}
        and not line.startswith("    ")
    )
