"""Sanitises a model's Markdown: images become links, unsafe addresses `#`, and HTML text, except
for a few tags.

A document can inject instructions into the model's prompt, and pages show answers as Markdown: a
browser fetches an image without a click and so sends out the data in its address. Code is left
unchanged, but only where every Markdown parser reads it as code; where parsers may differ, the text
is treated as prose. Time is linear in the text, however small its pieces are.
"""

import html
import re
from collections.abc import Callable, Iterator

from services.query.answering.buffering import BufferingFilter, filtered

SAFE = frozenset({"http", "https", "mailto", "tel", "ftp", "ftps"})
"""Schemes of links that are allowed; addresses without a scheme are allowed too."""

NOWHERE = "#"
"""Replaces an address that is not allowed."""

LONGEST = 4096
"""Limit of buffered characters while the end of an address or of inline code has not arrived."""

_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})([^\n]*)(\n|\Z)")
_MAYBE_FENCE = re.compile(r" {0,3}+(`{1,2}|~{1,2}|`{3,}+[^`\n]*+|~{3,}+[^\n]*+)?\Z")
_RUN = re.compile(r"`+|~+")
_PICTURE = re.compile(r"(!+)(?:\[(.)?|\Z)", re.DOTALL)
_ADDRESS = re.compile(r"\][(:][ \t]*(?:\n[ \t>]*)?")
_MAYBE_ADDRESS = re.compile(r"\](?:[(:][ \t]*(?:\n[ \t>]*)?)?\Z")
_ANGLED = re.compile(r"<[^<>\n]*>?")
_NO_BLANKS = re.compile(r"\S*")
_PARENTHESIS = re.compile(r"(?<!\\)[()]")
_SCHEME = re.compile(r"(?:[^:/?#&\[\]()<>`]|&(?:\\?#)?)*:?")
"""What may be a scheme, however obfuscated: it ends at a colon, and before a character that no
scheme can have.
"""
_MARKS = re.compile(r"!*")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}):[^\s<>]*>")
_MAIL = re.compile(r"<[\w.!#$%&'*+/=?^{|}~-]+@[A-Za-z0-9.-]+>", re.ASCII)
_MAYBE_AUTOLINK = re.compile(r"<[^\s<>]*\Z")
_PLAIN_TAG = re.compile(
    r"</?(?:br|sub|sup|b|i|em|strong|u|s|del|ins|mark|small|kbd|think) ?/?>", re.IGNORECASE
)
_TAG = re.compile(r"<(?:/?[A-Za-z][A-Za-z0-9-]*(?=[\s/>]|\Z)|[!?])")
_PROSE = re.compile(r"[^\\!\]<`~\n]+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_UNSEEN = re.compile(r"[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060\ufeff]")
_SPECIAL = re.compile(r"[\[\]<`]")

Step = tuple[int, str] | None
"""The end offset of the next part of the text and its replacement; None if more input is needed."""


def safe(text: str) -> str:
    """Return the text without anything that loads or runs when it is shown."""
    return filtered(text, SafeMarkdown())


class SafeMarkdown(BufferingFilter):
    """Streaming form of `safe`: the returned pieces join to the same text however the input is
    split.
    """

    def __init__(self) -> None:
        super().__init__()
        self._fence: re.Match[str] | None = None
        """The opening line of the current code block; None outside of one."""
        self._is_blank = True
        """Whether the current line has only blanks so far."""
        self._at_start = True
        """Whether the current line is empty so far."""
        self._trusts_code = True
        """Whether code is certain to be code; once parsers may differ, the rest of the text is
        prose.
        """
        self._trusts_spans = True
        """Whether inline code is certain; a blank line resets it to True."""
        self._no_html = True
        """Whether no HTML block has begun; a blank line resets it to True."""
        self._line_end = 0
        """Offset in the current text: the end of the line that was searched for last."""
        self._word_end = 0
        """Offset in the current text: the end of the run without blanks that was searched for
        last.
        """
        self._closing: dict[int, int] = {}
        """Of that run: the offset of the closing parenthesis, by the offset behind the opening
        one.
        """

    def _parts(self, text: str, *, is_last: bool) -> Iterator[str]:
        # A line feed may follow a carriage return at the end, and both together are one line break.
        carriage_return = "\r" if text.endswith("\r") and not is_last else ""
        text = text.removesuffix(carriage_return).replace("\r\n", "\n").replace("\r", "\n")
        self._line_end = 0
        self._word_end = 0
        at = 0
        while at < len(text):
            step = (
                self._in_fence(text, at, is_last)
                if self._fence
                else self._in_prose(text, at, is_last)
            )
            if step is None:
                break
            end, part = step
            self._track_line(text[at:end])
            yield part
            at = end
        self._buffer = text[at:] + carriage_return

    def _track_line(self, text: str) -> None:
        """Update the state of the current line and paragraph after this part of the input."""
        *ended_lines, line = text.split("\n")
        for number, ended_line in enumerate(ended_lines):
            if not ended_line.strip() and (self._is_blank or number):
                self._trusts_spans = True
                self._no_html = True
            self._is_blank = True
            self._at_start = True
        self._is_blank = self._is_blank and not line.strip()
        self._at_start = self._at_start and not line

    def _in_fence(self, text: str, at: int, is_last: bool) -> Step:
        """Return the next line of a code block unchanged, and leave the block where it ends."""
        newline = text.find("\n", at)
        if newline < 0 and not is_last:
            return None
        end = len(text) if newline < 0 else newline + 1
        line = text[at:end]
        assert self._fence
        indent = len(self._fence[1])
        fence_line = self._fence[2]
        bare = line.strip(" \t\n")
        if len(line) - len(line.lstrip(" ")) < indent and bare:
            # In a list this ends the code block; elsewhere it does not.
            self._fence = None
            self._trusts_code = False
            return self._in_prose(text, at, is_last)
        if len(bare) >= len(fence_line) and set(bare) == {fence_line[0]}:
            self._fence = None
            self._trusts_code = self._trusts_code and not line.startswith(("    ", "\t"))
        return end, line

    def _in_prose(self, text: str, at: int, is_last: bool) -> Step:
        if self._at_start and self._trusts_code and self._no_html:
            if not is_last and _MAYBE_FENCE.match(text, at):
                return None
            if (fence := _FENCE.match(text, at)) and not (fence[2][0] == "`" and "`" in fence[3]):
                self._fence = fence
                return fence.end(), fence[0]
        steps: dict[str, Callable[[str, int, bool], Step]] = {
            "\\": self._escape,
            "!": self._picture,
            "]": self._address,
            "<": self._tag,
            "`": self._run,
            "~": self._run,
        }
        if step := steps.get(text[at]):
            return step(text, at, is_last)
        prose = _PROSE.match(text, at)
        end = prose.end() if prose else at + 1
        return end, text[at:end]

    def _escape(self, text: str, at: int, is_last: bool) -> Step:
        if at + 1 == len(text) and not is_last:
            return None
        end = at + 1 if text.startswith("\n", at + 1) else at + 2
        return end, text[at:end]

    def _picture(self, text: str, at: int, is_last: bool) -> Step:
        """Turn an image into a link by removing its `!`; keep a `!` in front of a citation."""
        match = _PICTURE.match(text, at)
        if match is None:
            exclamations = _MARKS.match(text, at)
            end = exclamations.end() if exclamations else at + 1
            return end, text[at:end]
        if match[2] is None:
            return (len(text), match[1] + text[match.end(1) :]) if is_last else None
        is_without_text = len(match[1]) == 1 and not (match[2].isdecimal() or match[2] == "^")
        return match.end(1), "" if is_without_text else f"{match[1]} "

    def _address(self, text: str, at: int, is_last: bool) -> Step:
        """Replace the address of a link or of a link definition if it is unsafe."""
        if not is_last and _MAYBE_ADDRESS.match(text, at):
            return None
        if not (opening := _ADDRESS.match(text, at)):
            return at + 1, "]"
        end = self._address_end(text, opening.end(), in_parentheses=text.startswith("](", at))
        if end == len(text) and not is_last and end - at < LONGEST:
            return None
        if end - opening.end() >= LONGEST:
            return end, opening[0] + NOWHERE
        address = text[opening.end() : end]
        if unsafe(address):
            return end, opening[0] + NOWHERE
        # If this is no link after all, its text is read as prose.
        return (opening.end(), opening[0]) if _SPECIAL.search(address) else (end, text[at:end])

    def _address_end(self, text: str, begin: int, *, in_parentheses: bool) -> int:
        """Return where an address ends: at a blank, or at the parenthesis that closes it."""
        if bracketed_address := _ANGLED.match(text, begin):
            return bracketed_address.end()
        if begin >= self._word_end:
            word = _NO_BLANKS.match(text, begin)
            self._word_end = word.end() if word else begin
            self._closing = _closing_parentheses(text, begin, self._word_end)
        return self._closing.get(begin, self._word_end) if in_parentheses else self._word_end

    def _tag(self, text: str, at: int, is_last: bool) -> Step:
        if not is_last and len(text) - at < LONGEST and _MAYBE_AUTOLINK.match(text, at):
            return None
        if plain_tag := _PLAIN_TAG.match(text, at):
            # At the start of a line it may begin an HTML block, in which nothing is code.
            self._no_html = self._no_html and not self._is_blank
            return plain_tag.end(), plain_tag[0]
        if (autolink := _AUTOLINK.match(text, at)) and autolink[1].lower() in SAFE:
            return autolink.end(), autolink[0]
        if mail := _MAIL.match(text, at):
            return mail.end(), mail[0]
        return at + 1, "&lt;" if autolink or _TAG.match(text, at) else "<"

    def _run(self, text: str, at: int, is_last: bool) -> Step:
        """Return inline code unchanged where it is certain; else the run of backticks or tildes as
        prose.
        """
        run = _RUN.match(text, at)
        assert run
        if run.end() == len(text) and not is_last:
            return None
        if len(run[0]) > 2:
            self._trusts_code = False
        if run[0][0] == "~" or not (self._trusts_code and self._trusts_spans and self._no_html):
            return run.end(), run[0]
        if at >= self._line_end:
            newline = text.find("\n", at)
            self._line_end = len(text) if newline < 0 else newline
        for closing in _RUN.finditer(text, run.end(), self._line_end):
            if closing[0] != run[0]:
                continue
            if closing.end() == len(text) and not is_last:
                return None
            if "|" not in text[run.end() : closing.start()]:  # a table would split it into cells
                return closing.end(), text[at : closing.end()]
            break
        else:
            if self._line_end == len(text) and not is_last and len(text) - at < LONGEST:
                return None
        self._trusts_spans = False
        return run.end(), run[0]


def _closing_parentheses(text: str, start: int, end: int) -> dict[int, int]:
    """Return the offset of each closing parenthesis by the offset behind its opening one.

    A parenthesis that was opened right before `start` counts too.
    """
    closing: dict[int, int] = {}
    open_starts = [start]
    for parenthesis in _PARENTHESIS.finditer(text, start, end):
        if parenthesis[0] == "(":
            open_starts.append(parenthesis.end())
        elif open_starts:
            closing[open_starts.pop()] = parenthesis.start()
    return closing


def unsafe(address: str) -> bool:
    """Return whether an address has a scheme that is not allowed, even if the scheme is
    obfuscated.
    """
    beginning = _SCHEME.match(address.lstrip("<"))
    plain_address = _UNSEEN.sub(
        "", html.unescape(_ESCAPED.sub(r"\1", beginning[0] if beginning else ""))
    )
    scheme, colon, _ = plain_address.partition(":")
    return bool(colon) and not re.search(r"[/?#]", scheme) and scheme.lower() not in SAFE
