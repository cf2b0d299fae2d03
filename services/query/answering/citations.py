"""Which files an answer names, by which numbers, and which of the numbers in its text name none."""

import re
from collections.abc import Collection, Iterator

_SEPARATOR = r"[ \t]*(?:[,;–-][ \t]*|[ \t])"
_NUMBERS = re.compile(rf"\^?[ \t]*\d{{1,3}}(?:{_SEPARATOR}\^?\d{{1,3}})*[ \t]*")
_MEMBER = re.compile(r"(\d+)(?:[ \t]*[–-][ \t]*(\d+))?")
"""A number, or a range of them. Numbers of four digits are years, not references."""

_LONGEST = 80
_INSIDE = rf"[\^\d,;–\- \t]{{0,{_LONGEST}}}"
_CITATION = re.compile(rf"([ \t]?)\[({_INSIDE})\]")
_PART_OF_CITATION = re.compile(rf"[ \t]?(?:\[{_INSIDE})?\Z")
_RUN = re.compile(r"`+|~+")
_PLAIN = re.compile(r"[^\[\]\\`~\n \t]+|[\s\S]")
_CLOSES_UP = frozenset(" \t\n.,;:!?)，。；：！？）、")
"""Characters before which no blank is left where a citation was dropped."""


def remove_unknown_citations(text: str, ids: Collection[str]) -> str:
    """The text without citations of references that there are not: `[1, 9]` becomes `[1]`, and `[9]` nothing.

    Code and Markdown links stay as they are.
    """
    citations = CitationFilter(ids)
    return citations.feed(text) + citations.end()


class CitationFilter:
    """`known_only` for a text that comes in pieces: however it is split, the pieces given back join to the same text.

    What is held back is what may yet become a citation (at most 83 characters, as a rule three), or the run of
    backticks that may grow.
    """

    def __init__(self, ids: Collection[str]) -> None:
        self._ids = ids
        self._held = ""
        self._until = ""
        """What ends the code or the address we are in: a run of backticks or tildes, or `)`."""
        self._fenced = self._info = False
        """In a fenced block, and in its first line."""
        self._at_start = True
        """Nothing but blanks stands in this line yet."""
        self._owed: str | None = None
        """The blank that stood before a citation that was dropped just now."""

    def feed(self, piece: str) -> str:
        """What can be told of the text up to here."""
        return "".join(self._parts(self._held + piece, last=False))

    def end(self) -> str:
        """What was held back, when nothing follows."""
        return "".join(self._parts(self._held, last=True))

    def _parts(self, text: str, *, last: bool) -> Iterator[str]:
        at = 0
        while at < len(text):
            step = self._in_code(text, at, last) if self._until else self._in_prose(text, at, last)
            if step is None:
                break
            end, part = step
            yield part
            at = end
        self._held = text[at:]

    def _in_prose(self, text: str, at: int, last: bool) -> tuple[int, str] | None:
        """The end of the next bit and what becomes of it; None when more must be known."""
        if not last and (_PART_OF_CITATION.match(text, at) or text[at:] in ("\\", "]")):
            return None
        if cited := _CITATION.match(text, at):
            if not last and cited.end() == len(text):
                return None
            if (step := self._citation(cited, text)) is not None:
                return step
        if run := _RUN.match(text, at):
            return None if not last and run.end() == len(text) else self._open(run, at)
        if text[at] == "\\":
            return at + 2, self._plain(text[at : at + 2])
        if text.startswith("](", at):
            self._until = ")"
            return at + 2, self._plain("](")
        plain = _PLAIN.match(text, at)
        end = plain.end() if plain else at + 1
        if not last and end == len(text) and text[end - 1] in " \t":
            return None
        return end, self._plain(text[at:end])

    def _citation(self, cited: re.Match[str], text: str) -> tuple[int, str] | None:
        """What becomes of a bracket with numbers; None when it is none of a citation."""
        gap, inside = cited.groups()
        if text.startswith("(", cited.end()) or not _NUMBERS.fullmatch(inside):
            return None
        wanted, kept = self._members(inside)
        if len(kept) == len(wanted):
            return cited.end(), self._plain(cited.group())
        gap = gap if self._owed is None else self._owed or gap
        if not kept:
            self._owed = "" if self._at_start else gap
            return cited.end(), gap if self._at_start and gap else ""
        self._owed, self._at_start = None, False
        return cited.end(), f"{gap}[{', '.join(kept)}]"

    def _members(self, inside: str) -> tuple[list[str], list[str]]:
        """The numbers a citation names, ranges written out, and those among them that are known."""
        wanted: list[str] = []
        for first, final in _MEMBER.findall(inside):
            low, high = int(first), int(final or first)
            wanted += map(str, range(low, high + 1) if low <= high else (low, high))
        return wanted, [number for number in wanted if number in self._ids]

    def _plain(self, part: str) -> str:
        """Text that stays, behind the blank that is owed, unless that would stand before a full stop or a blank."""
        owed, self._owed = self._owed, None
        if owed is not None and part[0] in _CLOSES_UP:
            owed = ""
            if self._at_start and part[0] in " \t":
                part = part[1:]
        if part.endswith("\n"):
            self._at_start = True
        elif part.strip():
            self._at_start = False
        return (owed or "") + part

    def _open(self, run: re.Match[str], at: int) -> tuple[int, str]:
        """Code begins, at a run of backticks or of three tildes."""
        marks = run.group()
        fence = self._at_start and len(marks) >= 3
        if fence or marks[0] == "`":
            self._until, self._fenced, self._info = marks, fence, fence
        return run.end(), self._plain(marks)

    def _in_code(self, text: str, at: int, last: bool) -> tuple[int, str] | None:
        """Everything stays; what matters is where it ends."""
        if run := _RUN.match(text, at):
            if not last and run.end() == len(text):
                return None
            if self._closed_by(run.group()):
                self._until = ""
            self._at_start = False
            return run.end(), run.group()
        plain = _PLAIN.match(text, at)
        end = plain.end() if plain else at + 1
        part = text[at:end]
        if self._until == ")" and part[0] != "\n":
            return self._in_address(text, at, end)
        if part == "\n":
            self._at_start, self._info = True, False
            self._until = self._until if self._fenced else ""
        elif part.strip():
            self._at_start = False
        return end, part

    def _in_address(self, text: str, at: int, end: int) -> tuple[int, str]:
        """The address of a link ends at its parenthesis, or at a blank."""
        closing = text.find(")", at, end)
        if closing >= 0:
            self._until, end = "", closing + 1
        elif text[at] in " \t":
            self._until = ""
        return end, text[at:end]

    def _closed_by(self, marks: str) -> bool:
        if self._until == ")" or marks[0] != self._until[0]:
            return False
        if not self._fenced:
            return marks == self._until
        return len(marks) >= len(self._until) and (self._at_start or (self._info and marks[0] == "`"))
