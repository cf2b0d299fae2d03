"""Removes citations of unknown references from an answer, whole or streamed."""

import re
from collections.abc import Collection, Iterator

from services.query.answering.buffering import BufferingFilter, filtered

_SEPARATOR = r"[ \t]*(?:[,;–-][ \t]*|[ \t])"
_NUMBERS = re.compile(rf"\^?[ \t]*\d{{1,3}}(?:{_SEPARATOR}\^?\d{{1,3}})*[ \t]*")
_MEMBER = re.compile(r"(\d+)(?:[ \t]*[–-][ \t]*(\d+))?")
"""A number or a range of numbers. Numbers of four digits are years, not references."""

_LONGEST = 80
_INSIDE = rf"[\^\d,;–\- \t]{{0,{_LONGEST}}}"
_CITATION = re.compile(rf"([ \t]?)\[({_INSIDE})\]")
_PART_OF_CITATION = re.compile(rf"[ \t]?(?:\[{_INSIDE})?\Z")
_CITED = re.compile(r"\[([\^\d,;–\- \t]{1,80})\]")
_CITED_NUMBERS = re.compile(r"(?<!\d)(\d{1,3})(?!\d)(?:[ \t]*[–-][ \t]*(\d{1,3})(?!\d))?")
_RUN = re.compile(r"`+|~+")
_PLAIN = re.compile(r"[^\[\]\\`~\n \t]+|[\s\S]")
_CLOSES_UP = frozenset(" \t\n.,;:!?)，。；：！？）、")
"""Characters before which the blank of a dropped citation is dropped, too."""


def remove_unknown_citations(text: str, ids: Collection[str]) -> str:
    """Return the text without citations of unknown references: if only 1 is known, `[1, 9]` becomes
    `[1]`.

    A citation without any known reference is removed. Code and Markdown links are left unchanged.
    """
    return filtered(text, CitationFilter(ids))


def cited_ids(text: str, ids: Collection[str]) -> frozenset[str]:
    """Return the reference ids that the text cites in brackets, singly or in a range."""
    spans = {span for inside in _CITED.findall(text) for span in _CITED_NUMBERS.findall(inside)}
    return frozenset(
        id
        for id in ids
        for first, last_number in spans
        if int(first) <= int(id) <= int(last_number or first)
    )


class CitationFilter(BufferingFilter):
    """Streaming form of `remove_unknown_citations`: the output is the same however the input is
    split.

    It buffers text that may become a citation (at most 83 characters, usually three, and the few
    that come before it is read again) and runs of backticks at the end of the input, which may
    continue.
    """

    def __init__(self, ids: Collection[str]) -> None:
        super().__init__()
        self._ids = ids
        self._closing_marks = ""
        """What ends the current code or address: a run of backticks or tildes, or `)`; empty in
        prose.
        """
        self._fenced = False
        """Whether the text is in a fenced code block."""
        self._in_info_line = False
        """Whether the text is in the first line of such a block."""
        self._at_start = True
        """Whether the current line has only blanks so far."""
        self._pending_blank: str | None = None
        """The blank before a citation that was just dropped; None if none was."""

    def _parts(self, text: str, *, is_last: bool) -> Iterator[str]:
        at = 0
        while at < len(text):
            step = (
                self._in_code(text, at, is_last)
                if self._closing_marks
                else self._in_prose(text, at, is_last)
            )
            if step is None:
                break
            end, part = step
            yield part
            at = end
        self._buffer = text[at:]

    def _in_prose(self, text: str, at: int, is_last: bool) -> tuple[int, str] | None:
        """Return the end offset of the next part of the text and its replacement; None if more
        input is needed.
        """
        if not is_last and (_PART_OF_CITATION.match(text, at) or text[at:] in ("\\", "]")):
            return None
        if citation := _CITATION.match(text, at):
            if not is_last and citation.end() == len(text):
                return None
            if (step := self._citation(citation, text)) is not None:
                return step
        if run := _RUN.match(text, at):
            return None if not is_last and run.end() == len(text) else self._open(run, at)
        if text[at] == "\\":
            return at + 2, self._plain(text[at : at + 2])
        if text.startswith("](", at):
            self._closing_marks = ")"
            return at + 2, self._plain("](")
        plain_run = _PLAIN.match(text, at)
        end = plain_run.end() if plain_run else at + 1
        if not is_last and end == len(text) and text[end - 1] in " \t":
            return None
        return end, self._plain(text[at:end])

    def _citation(self, citation: re.Match[str], text: str) -> tuple[int, str] | None:
        """Return the end offset of a bracket with numbers and its replacement; None if it is no
        citation.
        """
        gap, inside = citation.groups()
        if text.startswith("(", citation.end()) or not _NUMBERS.fullmatch(inside):
            return None
        numbers, known_numbers = self._members(inside)
        if len(known_numbers) == len(numbers):
            return citation.end(), self._plain(citation.group())
        gap = gap if self._pending_blank is None else self._pending_blank or gap
        if not known_numbers:
            self._pending_blank = "" if self._at_start else gap
            return citation.end(), gap if self._at_start and gap else ""
        self._pending_blank = None
        self._at_start = False
        return citation.end(), f"{gap}[{', '.join(known_numbers)}]"

    def _members(self, inside: str) -> tuple[list[str], list[str]]:
        """Return the numbers that a citation names, with ranges written out, and the known ones
        among them.
        """
        numbers: list[str] = []
        for first, final in _MEMBER.findall(inside):
            low = int(first)
            high = int(final or first)
            members = range(low, high + 1) if low <= high else (low, high)
            numbers += [str(number) for number in members]
        return numbers, [number for number in numbers if number in self._ids]

    def _plain(self, part: str) -> str:
        """Return text that stays, after the pending blank unless punctuation or another blank
        follows.
        """
        blank = self._pending_blank
        self._pending_blank = None
        if blank is not None and part[0] in _CLOSES_UP:
            blank = ""
            if self._at_start and part[0] in " \t":
                part = part[1:]
        if part.endswith("\n"):
            self._at_start = True
        elif part.strip():
            self._at_start = False
        return (blank or "") + part

    def _open(self, run: re.Match[str], at: int) -> tuple[int, str]:
        """Begin code if the run is of backticks or, at the start of a line, of three or more
        tildes.
        """
        backticks = run.group()
        is_fence = self._at_start and len(backticks) >= 3
        if is_fence or backticks[0] == "`":
            self._closing_marks = backticks
            self._fenced = is_fence
            self._in_info_line = is_fence
        return run.end(), self._plain(backticks)

    def _in_code(self, text: str, at: int, is_last: bool) -> tuple[int, str] | None:
        """Return the next part of code or an address unchanged, and note where it ends."""
        if run := _RUN.match(text, at):
            if not is_last and run.end() == len(text):
                return None
            if self._closed_by(run.group()):
                self._closing_marks = ""
            self._at_start = False
            return run.end(), run.group()
        plain_run = _PLAIN.match(text, at)
        end = plain_run.end() if plain_run else at + 1
        part = text[at:end]
        if self._closing_marks == ")" and part[0] != "\n":
            return self._in_address(text, at, end)
        if part == "\n":
            self._at_start = True
            self._in_info_line = False
            if not self._fenced:
                self._closing_marks = ""
        elif part.strip():
            self._at_start = False
        return end, part

    def _in_address(self, text: str, at: int, end: int) -> tuple[int, str]:
        """Return the next part of a link's address, which ends at its parenthesis or at a blank."""
        closing = text.find(")", at, end)
        if closing >= 0:
            self._closing_marks = ""
            end = closing + 1
        elif text[at] in " \t":
            self._closing_marks = ""
        return end, text[at:end]

    def _closed_by(self, backticks: str) -> bool:
        if self._closing_marks == ")" or backticks[0] != self._closing_marks[0]:
            return False
        if not self._fenced:
            return backticks == self._closing_marks
        return len(backticks) >= len(self._closing_marks) and (
            self._at_start or (self._in_info_line and backticks[0] == "`")
        )
