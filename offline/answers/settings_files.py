"""Files of settings (INI, TOML, YAML, `.env`, units of systemd) written as rows: each setting with
its value, and behind it what the comments above and beside it say.

A comment that stands apart is a paragraph; a section heads its settings. Time is linear in the
text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

_COMMENT = re.compile(r"\s*(?:#+|;+|//+)(?:\s|$)(?:\s*)(.*)|\s*[#;]\s*(?=[^\W\d_].*\s)(.*)")
_RULE = re.compile(r"[\W_]*")
_SECTION = re.compile(r"\s*\[{1,2}([^\[\]\n]{1,80})\]{1,2}\s*(?:[#;].*)?")
_EQUATION = re.compile(
    r"\s*(?:export\s+)?([#;]?\s?[A-Za-z_][\w.\-/]*|[#;]?\s?\"[^\"]+\")\s*=\s*(.*)"
)
_PAIR = re.compile(r"(\s*(?:- +)*)(['\"]?[\w./{}$*@-]+['\"]?)\s*:(?:\s+(.*))?")
_ITEM = re.compile(r"(\s*)- +(.*)")
_BESIDE = re.compile(r"\s+[#;]\s+(.*)$")
_SENTENCE = re.compile(r"[.,;]\s+\w+\s+\w")
_BLOCK = re.compile(r"[|>][+-]?\d?")
_FITTING_SHARE = 0.8
"""Share of the lines from which they are those of a file of settings."""
_FEWEST_SETTINGS = 2
_LOWER_CASE_SHARE = 0.8
"""Share of names in lower case from which `name: value` is YAML, and no list of fields."""
_TABLE = ("", "|  |", "| --- |")
_BAR = "\\|"


@lru_cache(maxsize=1 << 6)
def is_settings_file(text: str) -> bool:
    """Return whether nearly all lines of a text are settings, sections and comments."""
    lines = [line for line in text.splitlines() if line.strip()]
    equations = sum(_equation(line) is not None for line in lines)
    names = [match[2].strip("'\"") for line in lines if (match := _PAIR.fullmatch(line))]
    if equations >= len(names):
        others = (_COMMENT, _SECTION, _EQUATION)
        count = equations
    else:
        others = (_COMMENT, _PAIR, _ITEM)
        lower = sum(name[:1].islower() or not name[:1].isalpha() for name in names)
        count = len(names) if lower >= _LOWER_CASE_SHARE * len(names) else 0
    if count < _FEWEST_SETTINGS or (
        text.lstrip().startswith(("---", "+++")) and _ends_front_matter(lines)
    ):
        return False
    fitting = sum(any(other.fullmatch(line) for other in others) for line in lines)
    return fitting >= _FITTING_SHARE * len(lines)


def comments_of(text: str) -> float:
    """Return how many lines of comments a file of settings has for each setting."""
    lines = [line for line in text.splitlines() if line.strip()]
    settings = sum(bool(_equation(line) or _PAIR.fullmatch(line)) for line in lines)
    comments = sum(bool(_COMMENT.fullmatch(line)) and not _equation(line) for line in lines)
    return comments / max(1, settings)


def _ends_front_matter(lines: Sequence[str]) -> bool:
    return any(line.rstrip() == lines[0].rstrip() for line in lines[1:])


def settings_as_markdown(text: str) -> str:
    """Return a file of settings as Markdown."""
    return "\n".join(_Reader().lines(text.splitlines()))


@dataclass(slots=True)
class _Reader:
    comment: list[str] = field(default_factory=list[str])
    path: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """The names above in YAML, with their indents."""
    row: list[str] = field(default_factory=list[str])
    """The setting that is read, or those of an item of a list, and what it means."""
    meaning: list[str] = field(default_factory=list[str])
    item_indent: int = -1
    block_indent: int = -1
    """Of the name whose value stands in the lines below it."""

    def lines(self, lines: Sequence[str]) -> Iterator[str]:
        for line in lines:
            yield from self._line(line)
        yield from self._end()
        yield from self._paragraph()

    def _line(self, line: str) -> Iterator[str]:
        indent = len(line) - len(line.lstrip())
        if self.block_indent >= 0 and (indent > self.block_indent or not line.strip()):
            self.row += [line.strip()] if line.strip() else []
            return
        self.block_indent = -1
        equation = _equation(line)
        if section := _SECTION.fullmatch(line):
            yield from self._end()
            yield from self._paragraph()
            yield from ("", f"## {section[1]}", "")
        elif not line.strip():
            yield from self._end()
            yield from self._paragraph()
        elif equation:
            yield from self._end()
            value, beside = _parted(equation[2])
            self._begin(f"{equation[1].strip()} = {value}", beside)
        elif comment := _COMMENT.fullmatch(line):
            yield from self._comment(comment[1] or comment[2] or "", indent)
        elif pair := _PAIR.fullmatch(line):
            yield from self._pair(pair)
        elif item := _ITEM.fullmatch(line):
            self._leave(indent)
            value, beside = _parted(item[2])
            if self.item_indent != indent:
                yield from self._end()
                self._begin(f"{self._name('')}: {value}".lstrip(": "), beside)
                self.item_indent = indent
            else:
                self.row.append(value)
                self.meaning += [beside] if beside else []
        elif self.row:
            self.row.append(line.strip())
        else:
            yield line

    def _comment(self, text: str, indent: int) -> Iterator[str]:
        if self.row and indent > 20:  # goes on beside a setting
            self.meaning.append(text)
            return
        if not 0 <= self.item_indent <= indent:
            yield from self._end()
        if _RULE.fullmatch(text):
            yield from self._paragraph()
        else:
            self.comment.append(text)

    def _pair(self, pair: re.Match[str]) -> Iterator[str]:
        indent = len(pair[1].replace("-", " "))
        begins_item = "-" in pair[1]
        self._leave(indent)
        value, beside = _parted(pair[3] or "")
        name = pair[2].strip("'\"")
        is_inside = 0 <= self.item_indent <= indent and not begins_item
        if begins_item or not is_inside:
            yield from self._end()
        if value and not _BLOCK.fullmatch(value):
            if is_inside:
                self.row.append(f"; {self._within(name)}: {value}")
                self.meaning += [*self.comment, *([beside] if beside else [])]
                self.comment.clear()
            else:
                self._begin(f"{self._name(name)}: {value}", beside)
        elif value:
            self._begin(f"{self._name(name)}:", beside)
            self.block_indent = indent
        else:
            self.comment += [beside] if beside else []
            if not is_inside:
                yield from self._paragraph()
            self.path.append((indent, name))
        if begins_item:
            self.item_indent = indent

    def _name(self, name: str) -> str:
        return ".".join([above for _, above in self.path] + ([name] if name else []))

    def _within(self, name: str) -> str:
        """Return a name below an item of a list."""
        above = [above for indent, above in self.path if indent >= self.item_indent]
        return ".".join([*above, name])

    def _leave(self, indent: int) -> None:
        while self.path and self.path[-1][0] >= indent:
            self.path.pop()

    def _begin(self, row: str, beside: str) -> None:
        self.row = [row]
        self.meaning = [*self.comment, *([beside] if beside else [])]
        self.comment.clear()

    def _end(self) -> Iterator[str]:
        """Yield the row that is read."""
        self.item_indent = -1
        if not self.row:
            return
        row = " ".join(self.row).replace(" ; ", "; ")
        meaning = " ".join(filter(None, self.meaning))
        yield from _TABLE
        text = f"{row} ({meaning})" if meaning else row
        yield f"| {text.replace('|', _BAR)} |"
        self.row = []
        self.meaning = []

    def _paragraph(self) -> Iterator[str]:
        """Yield a comment that belongs to no setting."""
        if self.comment:
            yield from ("", " ".join(filter(None, self.comment)), "")
            self.comment.clear()


def _equation(line: str) -> re.Match[str] | None:
    """Return the match of a setting with its value, one that is commented out, too, unless it is a
    sentence: `# Default = 1. Setting this to 0 …`.
    """
    equation = _EQUATION.fullmatch(line)
    if equation and line.lstrip()[:1] in "#;" and _SENTENCE.search(equation[2]):
        return None
    return equation


def _parted(value: str) -> tuple[str, str]:
    """Return a value and the comment beside it."""
    beside = (
        None if value[:1] in "\"'" and value.rstrip()[-1:] == value[:1] else _BESIDE.search(value)
    )
    if beside is None:
        return value.strip(), ""
    return value[: beside.start()].strip(), beside[1].strip()
