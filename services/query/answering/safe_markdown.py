"""Markdown of a model made harmless: no picture is loaded, no link runs anything, and no HTML but a few plain tags.

Documents can make a model write whatever they like, and pages show answers as Markdown: a picture is fetched without
anybody having clicked, which sends away what its address holds. Code stays as it is, but only where every reader of
Markdown takes it for code; wherever readers may differ, the text is treated as prose.
"""

import html
import re
from collections.abc import Callable, Iterator

SAFE = frozenset({"http", "https", "mailto", "tel", "ftp", "ftps"})
"""Schemes of links that are kept; addresses without a scheme are kept too."""

NOWHERE = "#"
"""Stands in the place of an address that is not kept."""

LONGEST = 4096
"""Characters of an address or of code in a line that are held back until their end is seen."""

_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})([^\n]*)(\n|\Z)")
_MAYBE_FENCE = re.compile(r" {0,3}(`{1,2}|~{1,2}|`{3,}[^`\n]*|~{3,}[^\n]*)?\Z")
_RUN = re.compile(r"`+|~+")
_PICTURE = re.compile(r"(!+)(?:\[(.)?|\Z)", re.DOTALL)
_ADDRESS = re.compile(r"\][(:][ \t]*(?:\n[ \t>]*)?")
_MAYBE_ADDRESS = re.compile(r"\](?:[(:][ \t]*(?:\n[ \t>]*)?)?\Z")
_PLACE = re.compile(r"<[^<>\n]*>?|[^\s<]\S*|")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}):[^\s<>]*>")
_MAIL = re.compile(r"<[\w.!#$%&'*+/=?^{|}~-]+@[A-Za-z0-9.-]+>", re.ASCII)
_MAYBE_AUTOLINK = re.compile(r"<[^\s<>]*\Z")
_PLAIN_TAG = re.compile(r"</?(?:br|sub|sup|b|i|em|strong|u|s|del|ins|mark|small|kbd|think) ?/?>", re.IGNORECASE)
_TAG = re.compile(r"<(?:/?[A-Za-z][A-Za-z0-9-]*(?=[\s/>]|\Z)|[!?])")
_PROSE = re.compile(r"[^\\!\]<`~\n]+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_UNSEEN = re.compile(r"[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060\ufeff]")
_SPECIAL = re.compile(r"[\[\]<`]")

Step = tuple[int, str] | None
"""The end of the next bit and what becomes of it; None when more must be known."""


def safe(text: str) -> str:
    """The text without what loads or runs anything."""
    filtered = SafeMarkdown()
    return filtered.feed(text) + filtered.end()


class SafeMarkdown:
    """`safe` for a text that comes in pieces: however it is split, the pieces given back join to the same text."""

    def __init__(self) -> None:
        self._held = ""
        self._fence: re.Match[str] | None = None
        """The line that began the code we are in."""
        self._blank = self._at_start = True
        """Of this line: nothing but blanks up to here; nothing at all."""
        self._sure = True
        """Whether code can still be told from prose: once readers may differ, nothing is code any more."""
        self._spans = self._no_html = True
        """The same for code inside lines, until a blank line begins a new paragraph."""

    def feed(self, piece: str) -> str:
        """What can be told of the text up to here."""
        text = (self._held + piece).replace("\r\n", "\n")
        if text.endswith("\r"):
            return self._told(text[:-1].replace("\r", "\n"), "\r")
        return self._told(text.replace("\r", "\n"), "")

    def _told(self, text: str, kept: str) -> str:
        told = "".join(self._parts(text, last=False))
        self._held += kept
        return told

    def end(self) -> str:
        """What was held back, when nothing follows."""
        return "".join(self._parts(self._held.replace("\r", "\n"), last=True))

    def _parts(self, text: str, *, last: bool) -> Iterator[str]:
        at = 0
        while at < len(text):
            step = self._in_fence(text, at, last) if self._fence else self._in_prose(text, at, last)
            if step is None:
                break
            end, part = step
            self._note(text[at:end])
            yield part
            at = end
        self._held = text[at:]

    def _note(self, taken: str) -> None:
        """Where in its line the text now stands."""
        *before, line = taken.split("\n")
        for number, passed in enumerate(before):
            if not passed.strip() and (self._blank or number):
                self._spans = self._no_html = True
            self._blank = self._at_start = True
        self._blank = self._blank and not line.strip()
        self._at_start = self._at_start and not line

    def _in_fence(self, text: str, at: int, last: bool) -> Step:
        """Everything stays, a line at a time; what matters is where it ends."""
        newline = text.find("\n", at)
        if newline < 0 and not last:
            return None
        end = len(text) if newline < 0 else newline + 1
        line = text[at:end]
        assert self._fence
        indent, marks = len(self._fence[1]), self._fence[2]
        bare = line.strip(" \t\n")
        if len(line) - len(line.lstrip(" ")) < indent and bare:
            # Inside of a list that is the end of it, elsewhere it is not.
            self._fence, self._sure = None, False
            return self._in_prose(text, at, last)
        if len(bare) >= len(marks) and set(bare) == {marks[0]}:
            self._fence = None
            self._sure = self._sure and not line.startswith(("    ", "\t"))
        return end, line

    def _in_prose(self, text: str, at: int, last: bool) -> Step:
        if self._at_start and self._sure and self._no_html:
            if not last and _MAYBE_FENCE.match(text, at):
                return None
            if (fence := _FENCE.match(text, at)) and not (fence[2][0] == "`" and "`" in fence[3]):
                self._fence = fence
                return fence.end(), fence[0]
        steps: dict[str, Callable[[str, int, bool], Step]] = {
            "\\": self._escape, "!": self._picture, "]": self._address, "<": self._tag, "`": self._run, "~": self._run,
        }  # fmt: skip
        if step := steps.get(text[at]):
            return step(text, at, last)
        prose = _PROSE.match(text, at)
        end = prose.end() if prose else at + 1
        return end, text[at:end]

    def _escape(self, text: str, at: int, last: bool) -> Step:
        if at + 1 == len(text) and not last:
            return None
        end = at + 1 if text.startswith("\n", at + 1) else at + 2
        return end, text[at:end]

    def _picture(self, text: str, at: int, last: bool) -> Step:
        """A picture becomes the link it would be without its mark; a mark in front of a citation stays."""
        found = _PICTURE.match(text, at)
        if found is None:
            end = at + len(text[at:]) - len(text[at:].lstrip("!"))
            return end, text[at:end]
        if found[2] is None:
            return (len(text), found[1] + text[found.end(1) :]) if last else None
        alone = len(found[1]) == 1 and not (found[2].isdecimal() or found[2] == "^")
        return found.end(1), "" if alone else f"{found[1]} "

    def _address(self, text: str, at: int, last: bool) -> Step:
        """The address of a link, or of the definition of one."""
        if not last and _MAYBE_ADDRESS.match(text, at):
            return None
        if not (opened := _ADDRESS.match(text, at)):
            return at + 1, "]"
        found = _PLACE.match(text, opened.end())
        end = found.end() if found else opened.end()
        if text.startswith("](", at) and not text.startswith("<", opened.end()):
            end = _balanced(text, opened.end(), end)
        if end == len(text) and not last and end - at < LONGEST:
            return None
        place = text[opened.end() : end]
        if unsafe(place) or len(place) >= LONGEST:
            return end, opened[0] + NOWHERE
        # What is no link after all is read as prose.
        return (opened.end(), opened[0]) if _SPECIAL.search(place) else (end, text[at:end])

    def _tag(self, text: str, at: int, last: bool) -> Step:
        if not last and len(text) - at < LONGEST and _MAYBE_AUTOLINK.match(text, at):
            return None
        if plain := _PLAIN_TAG.match(text, at):
            # Alone in a line it may begin a block of HTML, in which nothing is code.
            self._no_html = self._no_html and not self._blank
            return plain.end(), plain[0]
        if (linked := _AUTOLINK.match(text, at)) and linked[1].lower() in SAFE:
            return linked.end(), linked[0]
        if mail := _MAIL.match(text, at):
            return mail.end(), mail[0]
        return at + 1, "&lt;" if linked or _TAG.match(text, at) else "<"

    def _run(self, text: str, at: int, last: bool) -> Step:
        """Backticks or tildes that begin no fence: code inside of the line, where that is certain."""
        run = _RUN.match(text, at)
        assert run
        if run.end() == len(text) and not last:
            return None
        if len(run[0]) > 2:
            self._sure = False
        if run[0][0] == "~" or not (self._sure and self._spans and self._no_html):
            return run.end(), run[0]
        newline = text.find("\n", at)
        limit = len(text) if newline < 0 else newline
        for closing in _RUN.finditer(text, run.end(), limit):
            if closing[0] != run[0]:
                continue
            if closing.end() == len(text) and not last:
                return None
            if "|" not in text[run.end() : closing.start()]:  # the cells of a table would be read apart
                return closing.end(), text[at : closing.end()]
            break
        else:
            if newline < 0 and not last and len(text) - at < LONGEST:
                return None
        self._spans = False
        return run.end(), run[0]


def _balanced(text: str, start: int, end: int) -> int:
    """Where an address in parentheses ends: at a blank, or at the one that closes none of its own."""
    depth = 0
    for place in range(start, end):
        if text[place] == "(" and text[place - 1] != "\\":
            depth += 1
        elif text[place] == ")" and text[place - 1] != "\\":
            depth -= 1
            if depth < 0:
                return place
    return end


def unsafe(address: str) -> bool:
    """Whether an address has a scheme that is not kept, however it is written."""
    plain = _UNSEEN.sub("", html.unescape(_ESCAPED.sub(r"\1", address.strip("<>"))))
    scheme, colon, _ = plain.partition(":")
    return bool(colon) and not re.search(r"[/?#]", scheme) and scheme.lower() not in SAFE
