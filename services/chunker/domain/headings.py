"""Which headings are in force at a place of a Markdown text: ATX (`# Title`) and setext (underlined) ones.

CommonMark's rules (0.31, sections 4.2, 4.3 and 4.5), but a title is one line of at most 200 characters, and a line over
it of the marks that stand under it is allowed, as reStructuredText has it.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator

_LONGEST_LINE = 1_000
"""Characters of a line that may be a heading or a fence."""
_LONGEST_TITLE = 200

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?:(=)=*|(-)-*)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_NO_TITLE = re.compile(r" {4}|\t| {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|\|)")
"""Beginnings of code, quotations, lists and tables, which no underline makes a heading of."""


class Outline:
    """The headings of a text that passes through `read`; `at` knows the path at each place that has passed."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._coming: deque[tuple[int, tuple[str, ...]]] = deque()
        self._current: tuple[str, ...] = ()
        self._fence = ""
        self._title: tuple[int, str] | None = None
        self._before = ""

    def at(self, offset: int) -> tuple[str, ...]:
        """The headings in force at this character, outermost first. Never asked for an earlier one again."""
        while self._coming and self._coming[0][0] <= offset:
            self._current = self._coming.popleft()[1]
        return self._current

    def read(self, texts: Iterable[str]) -> Iterator[str]:
        """The texts, each passed on as far as it is known what in it is a heading."""
        held, passed = "", 0  # what is not passed on yet, and the place where that begins
        parsed, inside = 0, False  # the place where the next line begins, or goes on: it is too long for a heading
        for text in texts:
            held += text
            *lines, last = held[parsed - passed :].split("\n")
            for line in lines:
                self._line(None if inside else line, parsed)
                parsed, inside = parsed + len(line) + 1, False
            if inside or len(last) > _LONGEST_LINE:
                parsed, inside, self._title = parsed + len(last), True, None
            known = self._title[0] if self._title else parsed
            yield held[: known - passed]
            held, passed = held[known - passed :], known
        self._line(None if inside else held[parsed - passed :], parsed)
        yield held

    def _line(self, line: str | None, offset: int) -> None:
        """Take note of one line; None for one that is too long."""
        before, title = self._before, self._title
        self._before, self._title = "...", None
        if line is None or len(line) > _LONGEST_LINE:
            return
        self._before = line = line.rstrip()
        if self._fence:
            self._fence = "" if _closes(line, self._fence) else self._fence
            self._before = ""
        elif found := _ATX.match(line):
            self._enter(offset, len(found[1]), _CLOSING.sub("", found[2] or ""))
        elif found := _FENCE.match(line):
            self._fence = found[1]
        elif title and (found := _UNDERLINE.match(line)):
            self._enter(title[0], 1 if found[1] else 2, title[1])
        elif line and (not before or _UNDERLINE.match(before)) and not _NO_TITLE.match(line):
            self._title = (offset, line.strip()) if len(line) <= _LONGEST_TITLE else None

    def _enter(self, offset: int, level: int, title: str) -> None:
        self._path = [heading for heading in self._path if heading[0] < level]
        if title := title.strip()[:_LONGEST_TITLE]:
            self._path.append((level, title))
        self._coming.append((offset, tuple(title for _, title in self._path)))
        self._before = ""


def _closes(line: str, fence: str) -> bool:
    marks = line.strip()
    return len(marks) >= len(fence) and set(marks) == {fence[0]} and not line.startswith("    ")
