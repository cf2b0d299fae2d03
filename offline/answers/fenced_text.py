"""What stands between fences and is no code: notes and warnings (MyST), files of settings with
comments, tables of aligned columns. Marks of notes that stand alone in their line are left out.

Fences are those of CommonMark 0.31, 4.5. Time is linear in the text.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence

from offline.answers.drawn_tables import with_markdown_tables
from offline.answers.settings_files import comments_of, is_settings_file, settings_as_markdown
from offline.language.lines import fence

_NOTES = frozenset(
    """
    admonition aside attention card caution danger details dropdown epigraph error glossary grid
    grid-item grid-item-card hint important margin note pull-quote seealso sidebar tab-item tab-set
    tip topic versionadded versionchanged deprecated warning
    """.split()  # noqa: SIM905
)
"""Directives of MyST whose content is text."""
_DIRECTIVE = re.compile(r"\{([\w-]+)\}\s*(.*)")
_TABLES = frozenset(("list-table", "csv-table"))
"""Directives of MyST whose content is a table, as reStructuredText writes it."""
_OPTION = re.compile(r"\s*:[\w-]+:.*")
_OF_SETTINGS = frozenset(
    """
    bash cfg conf config dotenv env ini properties sh shell text toml txt yaml yml
    """.split()  # noqa: SIM905
).union(("",))
"""What fences name that files of settings stand between."""
_OF_TABLES = frozenset(("", "text", "txt"))
_LONGEST_KEY = 48
"""Characters of a title that heads what is indented below it, whatever the width of the text."""
_DEEPEST = 5
"""Indented notes, one in the other, that are looked into."""
_COMMENTED = 0.5
"""Comments for each setting from which a block explains its settings and is no mere example."""

_MARK = re.compile(
    r"[ \t]*(?::{3,}[ \t]*\{?[.\w-]*\}?|\{:[^{}\n]*\}|\{%[^%\n]*%\}"
    r"|\{\{[<%][^{}\n]*[%>]\}\})[ \t]*"
    r"|[ \t]*\[![A-Za-z]+\][+-]?[ \t]*"
)
"""A line that begins or ends a note, or says how it looks: Docusaurus, VuePress, Pandoc, Kramdown,
Jekyll, Hugo, GitHub.
"""
_TITLED = re.compile(
    r"(?::{3,}[ \t]*\{?[a-z][\w-]*\}?(?:\[(?P<label>[^\]]+)\]|[ \t]+(?P<title>[^\s{].*))"
    r"|\[![A-Za-z]+\][+-]?[ \t]+(?P<callout>\S.*))"
)
"""The beginning of a note with its title: those above, and Obsidian's."""
_INDENTED_NOTE = re.compile(
    r"([ \t]*)(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?: [\w-]+){0,3}(?:[ \t]+\"(.*)\")?[ \t]*"
)
"""The beginning of a note of Python-Markdown, MkDocs, whose content is indented."""
_MAY_HAVE = re.compile(r"```|~~~|:::|^[ \t]*(?:\{[:%{]|\[!|!!!|\?\?\?)", re.MULTILINE)


def with_fenced_text(text: str) -> str:
    """Return a text in Markdown in which what is no code stands between no fences."""
    if not _MAY_HAVE.search(text):
        return text
    return "\n".join(_unfenced(text.split("\n")))


def _unfenced(lines: Sequence[str], depth: int = 0) -> Iterator[str]:
    notes: list[str] = []  # marks of those that a line stands in, the outermost first
    number = 0
    above = ""
    while number < len(lines):
        line = lines[number]
        opening = fence(line, above)
        note = _DIRECTIVE.fullmatch(opening[2].strip()) if opening else None
        if notes and _ends(line, notes[-1]):
            notes.pop()
            yield ""
        elif opening and note and note[1] in _NOTES:
            notes.append(opening[1])
            yield from _heading(note[2])
            number += _count_options(lines, number + 1)
        elif opening and note and note[1] in _TABLES:
            end = _end(lines, number, opening[1])
            yield f".. {note[1]}:: {note[2]}"
            yield from (f"   {inner}" for inner in lines[number + 1 : end])
            number = end
        elif opening:
            end = _end(lines, number, opening[1])
            text_lines = _text_lines(lines[number + 1 : end], opening[2].strip())
            yield from lines[number : end + 1] if text_lines is None else ("", *text_lines, "")
            number = end
        elif titled := _TITLED.fullmatch(line.strip()):
            yield from _heading(titled[titled.lastgroup or 0])
        elif depth < _DEEPEST and (indented := _INDENTED_NOTE.fullmatch(line)):
            end = _end_of_indented(lines, number + 1, len(indented[1]))
            yield from _indented_note(indented[2] or "", lines[number + 1 : end], depth + 1)
            number = end - 1
        elif _MARK.fullmatch(line):
            yield ""
        else:
            yield line
        above = line
        number += 1


def _heading(title: str) -> Sequence[str]:
    """Return the lines that stand for the beginning of a note."""
    is_of_words = title and not title.replace(" ", "").isdigit()  # else it counts columns
    return ("", f"**{title}**", "") if is_of_words else ("",)


def _indented_note(title: str, lines: Sequence[str], depth: int) -> Iterator[str]:
    """Yield the lines that stand for a note that stands in so many: its title heads its content
    alone, where that can be told by an indent.
    """
    content = textwrap.dedent("\n".join(lines)).split("\n")
    is_key = 0 < len(title) <= _LONGEST_KEY and title[-1].isalnum()
    yield from ("", title, "") if is_key else _heading(title)
    for line in _unfenced(content, depth):
        yield f"    {line}" if is_key and line else line
    yield ""


def _count_options(lines: Sequence[str], start: int) -> int:
    """Return how many lines from there on are options of a directive."""
    end = start
    while end < len(lines) and _OPTION.fullmatch(lines[end]):
        end += 1
    return end - start


def _ends(line: str, marks: str) -> bool:
    """Return whether a line ends the block that began with these marks."""
    content = line.strip()
    return content.startswith(marks) and not content.strip(marks[0])


def _end(lines: Sequence[str], number: int, marks: str) -> int:
    """Return the number of the line that ends the block that a line begins; that behind the last
    where none does, as in a passage that is cut there.
    """
    places = range(number + 1, len(lines))
    return next((place for place in places if _ends(lines[place], marks)), len(lines))


def _end_of_indented(lines: Sequence[str], start: int, indent: int) -> int:
    """Return the number of the line before which those end that are blank or deeper than so many
    characters.
    """
    places = range(start, len(lines))
    return next(
        (
            place
            for place in places
            if lines[place].strip() and len(lines[place]) - len(lines[place].lstrip()) <= indent
        ),
        len(lines),
    )


def _text_lines(inner: Sequence[str], name: str) -> Sequence[str] | None:
    """Return the lines that stand for a block of settings or a table; None of one with code."""
    block = "\n".join(inner)
    if name in _OF_SETTINGS and is_settings_file(block) and comments_of(block) >= _COMMENTED:
        return settings_as_markdown(block).split("\n")
    if name in _OF_TABLES:
        table = with_markdown_tables(block).split("\n")
        if table != list(inner) and all(row.lstrip()[:1] in ("|", "") for row in table):
            return table
    return None
