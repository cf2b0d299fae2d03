"""Lists of references that a model made up: they are taken out, for the true ones stand beside the answer."""

import re
from collections.abc import Iterator, Mapping

TITLES = (
    "references", "reference", "reference list", "reference document list", "sources", "source", "source documents",
    "sources cited", "citations", "bibliography", "works cited", "quellen", "quellenverzeichnis", "literatur",
    "literaturverzeichnis", "references:", "références", "références bibliographiques", "bibliographie", "fuentes",
    "referencias", "bibliografía", "fonti", "riferimenti", "bibliografia", "fontes", "referências", "bronnen",
    "källor", "referenser", "источники", "список литературы", "参考文献", "参考资料", "參考文獻", "参考来源", "引用",
    "来源", "出典", "참고문헌", "참고 자료",
)  # fmt: skip
"""What such a list is called, alone in a line, in the languages that answers are often in."""

LONGEST_ENTRY = 600
"""Characters of a line that is held back because it may be one of such a list."""

_MARKS = " \t#*_>"
_ITEM = r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?"
_NUMBERED = re.compile(rf"{_ITEM}\\?\[\^?(\d{{1,3}})\\?\]:?[ \t]*(.*)", re.DOTALL)
_MAYBE_NUMBERED = re.compile(
    r"[ \t]*(?:(?:[-*+•]|\d{1,3}(?:[.)]|\Z))(?:[ \t]+|\Z))?(?:\\?(?:\[|\Z)\^?\d{0,3}(?:\\?\].*)?)?\Z"
)
_FILE = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t].*(?:https?://\S+|\.\w{1,5})[)\]>*_`]*[ \t]*", re.IGNORECASE)
_ADDRESS = re.compile(r"[`*_<(\[]*(?:https?://\S+|\S+\.\w{1,5})[`*_>)\]]*", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*(```|~~~)")


class ReferenceListFilter:
    """Takes made-up lists out of a text that comes in pieces, however it is split.

    That is: whatever stands in a list under a title such as `References`, and single lines that give a file or an
    address to a number which is not the one it has. `references`: file path to reference id, as they truly are.
    """

    def __init__(self, references: Mapping[str, str]) -> None:
        self._files = {id: path for path, id in references.items()}
        self._held = self._title = self._blanks = ""
        """The beginning of a line; a title that may begin a list; blank lines behind what was given back."""
        self._released = self._listing = self._code = False
        """Whether the line's beginning is given back; whether we are in a list, or in code."""

    def feed(self, piece: str) -> str:
        """What can be told of the text up to here."""
        return "".join(self._parts(self._held + piece, last=False))

    def end(self) -> str:
        """What was held back, when nothing follows."""
        return "".join(self._parts(self._held, last=True))

    def _parts(self, text: str, *, last: bool) -> Iterator[str]:
        *lines, rest = text.split("\n")
        self._held = ""
        for line in lines:
            yield self._line(line + "\n")
            self._released = False
        if last:
            yield self._line(rest) if rest else ""
            yield "" if self._title or self._listing else self._blanks
        elif self._released or (rest and not self._maybe(rest)):
            yield self._line(rest) if not self._released else rest
            self._released = True
        else:
            self._held = rest

    def _maybe(self, line: str) -> bool:
        """Whether more of the line must be seen: it may become a title, or one of a list."""
        if self._title or self._listing:
            return True
        if len(line) >= LONGEST_ENTRY:
            return False
        if not line.strip(_MARKS):
            return True
        if self._code or _FENCE.match(line):
            return False
        core = line.strip(_MARKS).lower()
        named = any(title.startswith(core) or core.startswith(title) for title in TITLES)
        return named or bool(_MAYBE_NUMBERED.match(line))

    def _line(self, line: str) -> str:
        """What becomes of a line, or of the beginning of one that is neither a title nor in a list."""
        if self._released:
            return line
        bare = line.strip()
        if not bare:
            self._blanks += line
            return ""
        listed = not self._code and bool(_NUMBERED.fullmatch(bare) or _FILE.fullmatch(bare))
        if self._title and listed:
            self._title, self._listing = "", True
        if self._listing:
            if listed or line.startswith(("  ", "\t")):
                self._blanks = ""
                return ""
            self._listing = False
        before, self._title = self._title, ""
        short = len(line) <= LONGEST_ENTRY and not self._code
        if short and bare.strip(f"{_MARKS}:：").lower() in TITLES:
            kept, self._title, self._blanks = before, self._blanks + line, ""
            return kept
        if short and self._forged(bare):
            self._title = before
            return ""
        if _FENCE.match(line):
            self._code = not self._code
        blanks, self._blanks = self._blanks, ""
        return before + blanks + line

    def _forged(self, line: str) -> bool:
        found = _NUMBERED.fullmatch(line)
        if not found or not _ADDRESS.fullmatch(found[2].strip()):
            return False
        return found[2].strip("`*_<>()[] \t") != self._files.get(found[1])
