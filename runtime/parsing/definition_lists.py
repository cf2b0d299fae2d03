"""Definition lists of HTML as Markdown writes them: the term in a line of its own, `: ` before its
definition, and the rest of the definition indented.

The converter of the page drops the tags, so characters that no text may have stand in for them.
"""

import re
from dataclasses import dataclass, field

_LIST = "\ufdd0"
_TERM = "\ufdd1"
_DEFINITION = "\ufdd2"
_END = "\ufdd3"
_MARKS = re.compile(f"[{_LIST}{_TERM}{_DEFINITION}{_END}]")
_INDENT = "  "
_DEEPEST = 8
"""Lists within definitions of one another that are indented; deeper ones stand below these."""
_ATTRIBUTES = r"(?:\s(?>[^>\"']|\"[^\"]*\"|'[^']*')*+)?"
_TAGS = re.compile(rf"<(?:(dl|dt|dd){_ATTRIBUTES}|/(dl)\s*)>", re.IGNORECASE)
_REFERENCE = re.compile(r"&#(?:x0*fdd[0-3]|0*6497[6-9]);?", re.IGNORECASE)
_MARK_OF = {"dl": _LIST, "dt": _TERM, "dd": _DEFINITION}
_BLOCK = re.compile(r"#{1,6} |[-*+] |\d+\. |\||```|~~~|>")
"""The beginning of a line that a mark of a definition would take its meaning from."""


def mark_definitions(source: str) -> str:
    """Return a page whose definition lists are marked, for `definitions_as_markdown`."""
    if _TAGS.search(source) is None:
        return source
    plain_source = _REFERENCE.sub("", _MARKS.sub("", source))
    return _TAGS.sub(_marked, plain_source)


def _marked(tag: re.Match[str]) -> str:
    name = (tag[1] or "").lower()
    return tag[0] + _MARK_OF[name] if name else f"{_END}{tag[0]}"


def definitions_as_markdown(markdown: str) -> str:
    """Return the Markdown of a marked page with its definition lists written out."""
    if _MARKS.search(markdown) is None:
        return markdown
    writer = _Writer()
    for line in markdown.split("\n"):
        writer.write(line)
    return "\n".join(writer.lines)


@dataclass(slots=True)
class _Writer:
    lines: list[str] = field(default_factory=list[str])
    inside: list[bool] = field(default_factory=list[bool])
    """Of each list that is open, the outermost first: whether a definition of it is."""
    pending: str = ""
    """The mark of a term or a definition whose text has not come yet."""
    is_below_term: bool = False
    """Whether the text that was written last is a term."""

    def write(self, line: str) -> None:
        """Write a line, which may have marks anywhere; in a row of a table they are dropped."""
        signs = () if line.lstrip().startswith("|") else _MARKS.findall(line)
        for sign in signs:
            if sign != _END:
                self._read(sign)
        content = _MARKS.sub("", line).lstrip()
        if content:
            self._add(line[: len(line) - len(line.lstrip())], content)
            self.pending = ""
        elif self.lines and self.lines[-1]:
            self.lines.append("")
        for _ in range(min(signs.count(_END), len(self.inside))):
            self.inside.pop()
            self.pending = ""

    def _read(self, sign: str) -> None:
        if sign == _LIST:
            self.inside.append(False)
        elif self.inside:
            self.inside[-1] = sign == _DEFINITION
            self.pending = sign

    def _add(self, indent: str, content: str) -> None:
        """Add a line of text: a term, the beginning of a definition, or what follows either."""
        if self.pending == _DEFINITION and self._last_text().startswith("#"):
            self.inside[-1] = False  # the heading heads it
        depth = sum(self.inside[:_DEEPEST])
        if self.pending and self.is_below_term and not _BLOCK.match(content):
            self._drop_blank()
        if self.pending == _DEFINITION and self.inside[-1] and not _BLOCK.match(content):
            self.lines.append(f"{indent}{_INDENT * max(0, depth - 1)}: {content}")
        else:
            self.lines.append(f"{_INDENT * depth}{indent}{content}")
        self.is_below_term = self.pending == _TERM and not _BLOCK.match(content)

    def _last_text(self) -> str:
        return next((line.strip() for line in reversed(self.lines) if line.strip()), "")

    def _drop_blank(self) -> None:
        """Let a definition, or another term, stand right below a term."""
        if self.lines and not self.lines[-1]:
            self.lines.pop()
