"""What stands between fences and is no code: notes and warnings (MyST), files of settings with
comments, tables of aligned columns. Marks of notes that stand alone in their line are left out.

Fences are those of CommonMark 0.31, 4.5. Time is linear in the text.
"""

import re
from collections.abc import Iterator, Sequence

from offline.answers.drawn_tables import with_markdown_tables
from offline.answers.settings_files import comments_of, is_settings_file, settings_as_markdown
from offline.language.lines import fence

_NOTES = frozenset(
    """
    admonition attention caution danger dropdown error hint important note seealso tip topic
    versionadded versionchanged deprecated warning
    """.split()  # noqa: SIM905
)
"""Directives of MyST whose content is text."""
_DIRECTIVE = re.compile(r"\{([\w-]+)\}\s*(.*)")
_OPTION = re.compile(r"\s*:[\w-]+:.*")
_OF_SETTINGS = frozenset(
    """
    bash cfg conf config dotenv env ini properties sh shell text toml txt yaml yml
    """.split()  # noqa: SIM905
).union(("",))
"""What fences name that files of settings stand between."""
_OF_TABLES = frozenset(("", "text", "txt"))
_COMMENTED = 0.5
"""Comments for each setting from which a block explains its settings and is no mere example."""

_MARK = re.compile(
    r"[ \t]*(?::{3,}[ \t]*\{?[.\w-]*\}?|\{:[^{}\n]*\}|\{%[^%\n]*%\}"
    r"|\{\{[<%][^{}\n]*[%>]\}\})[ \t]*"
    r"|[ \t]*>[ \t]*\[![A-Z]+\][+-]?[ \t]*"
)
"""A line that begins or ends a note, or says how it looks: Docusaurus, VuePress, Pandoc, Kramdown,
Jekyll, Hugo, GitHub.
"""
_TITLED = re.compile(
    r"[ \t]*:{3,}[ \t]*\{?[a-z][\w-]*\}?(?:\[([^\n\]]+)\]|[ \t]+([^\n\s{][^\n]*?))[ \t]*"
)
_MAY_HAVE = re.compile(r"```|~~~|:::|^[ \t]*(?:\{[:%{]|> *\[!)", re.MULTILINE)


def with_fenced_text(text: str) -> str:
    """Return a text in Markdown in which what is no code stands between no fences."""
    if not _MAY_HAVE.search(text):
        return text
    return "\n".join(_unfenced(text.split("\n")))


def _unfenced(lines: Sequence[str]) -> Iterator[str]:
    number = 0
    above = ""
    while number < len(lines):
        line = lines[number]
        opening = fence(line, above)
        if opening:
            end = _end(lines, number, opening[1])
            inner = lines[number + 1 : end]
            text_lines = _text_lines(inner, opening[2].strip())
            yield from lines[number : end + 1] if text_lines is None else ("", *text_lines, "")
            number = end
        elif titled := _TITLED.fullmatch(line):
            yield from ("", f"**{titled[1] or titled[2]}**", "")
        elif _MARK.fullmatch(line):
            yield ""
        else:
            yield line
        above = line
        number += 1


def _end(lines: Sequence[str], number: int, marks: str) -> int:
    """Return the number of the line that ends the block that a line begins; that behind the last
    where none does, as in a passage that is cut there.
    """
    for place, line in enumerate(lines[number + 1 :], number + 1):
        content = line.strip()
        if content.startswith(marks) and not content.strip(marks[0]):
            return place
    return len(lines)


def _text_lines(inner: Sequence[str], name: str) -> list[str] | None:
    """Return the lines that stand for a block with text; None of one with code."""
    directive = _DIRECTIVE.fullmatch(name)
    if directive and directive[1] in _NOTES:
        while inner and _OPTION.fullmatch(inner[0]):
            inner = inner[1:]
        return [*([f"**{directive[2]}**", ""] if directive[2] else []), *_unfenced(inner)]
    block = "\n".join(inner)
    if name in _OF_SETTINGS and is_settings_file(block) and comments_of(block) >= _COMMENTED:
        return settings_as_markdown(block).split("\n")
    if name in _OF_TABLES:
        table = with_markdown_tables(block).split("\n")
        if table != list(inner) and all(row.lstrip()[:1] in ("|", "") for row in table):
            return table
    return None
