"""Removes reference lists that a model invented; the true references are returned beside the
answer.
"""

import re
from collections.abc import Iterator, Mapping

from services.query.answering.buffering import BufferingFilter

TITLES = (
    "references",
    "reference",
    "reference list",
    "reference document list",
    "sources",
    "source",
    "source documents",
    "sources cited",
    "citations",
    "bibliography",
    "works cited",
    "quellen",
    "quellenverzeichnis",
    "literatur",
    "literaturverzeichnis",
    "références",
    "références bibliographiques",
    "bibliographie",
    "fuentes",
    "referencias",
    "bibliografía",
    "fonti",
    "riferimenti",
    "bibliografia",
    "fontes",
    "referências",
    "bronnen",
    "källor",
    "referenser",
    "источники",
    "список литературы",
    "参考文献",
    "参考资料",
    "參考文獻",
    "参考来源",
    "引用",
    "来源",
    "出典",
    "참고문헌",
    "참고 자료",
)
"""Titles of such lists, each alone in a line, in the languages that answers are often in."""

LONGEST_ENTRY = 600
"""Longest line, in characters, that is buffered because it may belong to such a list."""

_MARKS = " \t#*_>:："
"""What may stand around a title."""

_ITEM = r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?"
_NUMBERED = re.compile(rf"{_ITEM}\\?\[\^?(\d{{1,3}})\\?\]:?[ \t]*(.*)", re.DOTALL)
_MAYBE_NUMBERED = re.compile(
    r"[ \t]*(?:(?:[-*+•]|\d{1,3}(?:[.)]|\Z))(?:[ \t]+|\Z))?(?:\\?(?:\[|\Z)\^?\d{0,3}(?:\\?\].*)?)?\Z"  # noqa: E501
)
_FILE = re.compile(
    r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t].*(?:https?://\S+|\.\w{1,5})[)\]>*_`]*[ \t]*", re.IGNORECASE
)
_ADDRESS = re.compile(r"[`*_<(\[]*(?:https?://\S+|\S+\.\w{1,5})[`*_>)\]]*", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*(```|~~~)")


class ReferenceListFilter(BufferingFilter):
    """Removes invented lists from a streamed text; the output is the same however the input is
    split.

    It removes lists under a title such as `References`, and single lines that assign a wrong file
    or address to a number. `references` maps each file path to its true reference id.
    """

    def __init__(self, references: Mapping[str, str]) -> None:
        super().__init__()
        self._files = {id: path for path, id in references.items()}
        self._title = ""
        """A title that may begin a list, and the blank lines before it."""
        self._blank_lines = ""
        """Those after the last output."""
        self._is_released = False
        """Whether the start of the current line was already returned."""
        self._in_list = False
        self._in_code = False

    def _parts(self, text: str, *, is_last: bool) -> Iterator[str]:
        *lines, last_line = text.split("\n")
        self._buffer = ""
        for line in lines:
            yield self._line(line + "\n")
            self._is_released = False
        if is_last:
            yield self._line(last_line) if last_line else ""
            yield "" if self._title or self._in_list else self._blank_lines
        elif self._is_released or (last_line and not self._may_be_removed(last_line)):
            yield self._line(last_line) if not self._is_released else last_line
            self._is_released = True
        else:
            self._buffer = last_line

    def _may_be_removed(self, line: str) -> bool:
        """Return whether the line must be buffered because it may become a title or an entry of a
        list.
        """
        if self._title or self._in_list:
            return True
        if len(line) >= LONGEST_ENTRY:
            return False
        if not line.strip(_MARKS):
            return True
        if self._in_code or _FENCE.match(line):
            return False
        core = line.strip(_MARKS).lower()
        may_be_title = any(title.startswith(core) or core.startswith(title) for title in TITLES)
        return may_be_title or bool(_MAYBE_NUMBERED.match(line))

    def _line(self, line: str) -> str:
        """Return the output for a line, or for the start of a line that is neither a title nor in a
        list.
        """
        if self._is_released:
            return line
        bare = line.strip()
        if not bare:
            self._blank_lines += line
            return ""
        is_entry = not self._in_code and bool(_NUMBERED.fullmatch(bare) or _FILE.fullmatch(bare))
        if self._title and is_entry:
            self._title = ""
            self._in_list = True
        if self._in_list:
            if is_entry or line.startswith(("  ", "\t")):
                self._blank_lines = ""
                return ""
            self._in_list = False
        title = self._title
        self._title = ""
        is_short = len(line) <= LONGEST_ENTRY and not self._in_code
        if is_short and bare.strip(_MARKS).lower() in TITLES:
            self._title = self._blank_lines + line
            self._blank_lines = ""
            return title
        if is_short and self._has_wrong_reference(bare):
            self._title = title
            return ""
        if _FENCE.match(line):
            self._in_code = not self._in_code
        blank_lines = self._blank_lines
        self._blank_lines = ""
        return title + blank_lines + line

    def _has_wrong_reference(self, line: str) -> bool:
        match = _NUMBERED.fullmatch(line)
        if not match or not _ADDRESS.fullmatch(match[2].strip()):
            return False
        return match[2].strip("`*_<>()[] \t") != self._files.get(match[1])
