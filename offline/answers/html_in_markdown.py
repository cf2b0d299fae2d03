"""HTML within Markdown, written as Markdown: headings, paragraphs, items, definitions, tables, what
folds away below a summary, and characters by their names. Tags that say how words look are left
out.

CommonMark 0.31, 4.6 and 6.6. Code between fences and backticks stays as it is, and so does what no
tag ends: `<file>` may be a word of the text. Time is linear in the text.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from html import unescape
from itertools import groupby
from operator import itemgetter

from offline.language.lines import with_code

_MAY_HAVE = re.compile(r"</?[A-Za-z]|&[a-z#]", re.IGNORECASE)
_HIDDEN = ("style", "script", "svg", "template")
"""Elements whose content is no text."""
_HEADING = re.compile(
    r"^((?:[ \t]*<[^<>\n]*>){0,3}?[ \t]*)<(h[1-6]|summary)(?:\s[^<>]*)?>"
    r"((?:(?!</?\2\b)[\s\S]){0,600})</\2>",
    re.IGNORECASE | re.MULTILINE,
)
_TABLE = re.compile(r"^[ \t]*<table(?:\s[^<>]*)?>", re.IGNORECASE | re.MULTILINE)
_TABLE_END = re.compile(r"</table>", re.IGNORECASE)
_ROW = re.compile(r"<tr(?:\s[^<>]*)?>", re.IGNORECASE)
_CELL = re.compile(r"<t[dh](?:\s[^<>]*)?>", re.IGNORECASE)
_BOLD = r"<(?:b|strong)>[^<>]*</?(?:b|strong)>"
_HEADER = re.compile(
    rf"\s*(?:<th[\s>]|(?:<td(?:\s[^<>]*)?>\s*(?:{_BOLD}\s*)?</td>\s*)+</tr>)", re.IGNORECASE
)
"""The beginning of a row that names columns, or the whole of one whose cells are bold or empty."""
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_TAG = re.compile(r"(`{1,3})[^`\n]+\1|<(/?)([a-z][a-z\d]*)(\s[^<>]*)?/?>", re.IGNORECASE)
"""A piece of code, or a tag with its attributes."""
_CLOSING = re.compile(r"</([a-z][a-z\d]*)\s*>", re.IGNORECASE)
_ALONE = re.compile(
    r"^(?:[ \t]*</?(?:[A-Z][A-Za-z.]+|a|article|center|div|figure|hr|img|kbd|p|picture|section"
    r"|source|span|sub|sup)(?:\s[^<>\n]*)?/?>)+[ \t]*$",
    re.MULTILINE,
)
"""A line with nothing but tags, or components of MDX."""
_ENTITY = re.compile(r"(`{1,3})[^`\n]+\1|&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,5});", re.IGNORECASE)
"""A piece of code, or a character by its name or its number."""
_SMALL_DIGITS = re.compile(r"<(su[pb])>(\d{1,3})</\1>", re.IGNORECASE)
_NOTE = re.compile(r"<sup>(?=\[|[^\W\d]{3})", re.IGNORECASE)
"""The beginning of a remark in small letters behind a word."""
_SMALL = {
    "sup": str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"),
    "sub": str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"),
}
_BLOCK = re.compile(
    r"[ \t]*</?(?:article|aside|blockquote|center|dd|details|div|dl|dt|figure|footer|header|li|main"
    r"|nav|ol|p|section|summary|table|ul|h[1-6])\b",
    re.IGNORECASE,
)
"""The beginning of a line from which on, until an empty one, indents tell nothing."""
_WITHOUT_END = frozenset("br dd dt hr img input li p source wbr".split())  # noqa: SIM905
"""Tags that need no closing one."""
_LOOKS = frozenset(
    """
    a abbr audio b big br button caption cite code col colgroup del dfn em figure font i iframe img
    input ins kbd label mark picture q s samp small source span strike strong sub sup time tt u var
    video wbr
    """.split()  # noqa: SIM905
)
_STRUCTURE = {
    "li": ("\n- ", "\n"),
    "dt": ("\n\n", "\n"),
    "dd": ("\n: ", "\n"),
    **dict.fromkeys(("td", "th"), ("", " ")),
    **dict.fromkeys(
        """
        address article aside blockquote center div figcaption footer h1 h2 h3 h4 h5 h6 header hr
        main nav ol p section table tbody thead tr ul
        """.split(),  # noqa: SIM905
        ("\n\n", "\n\n"),
    ),
}
"""What opening and closing tags are written as; rows and cells are of tables that are cut."""
_SUMMARY, _FOLD_END, _LIST_END = "<summary>", "</details>", "</dl>"
"""Beginnings of lines: where what folds away begins and ends, and where definitions end."""
_SECTION = re.compile(r"#{1,6}\s+\S.*")
_DEEPEST = 6


def without_html(text: str) -> str:
    """Return Markdown whose HTML is written as Markdown."""
    if not _MAY_HAVE.search(text):
        return text
    closed_names = _WITHOUT_END.union(map(str.lower, _CLOSING.findall(text)))
    parts: list[str] = []
    for is_code, lines in groupby(with_code(text.split("\n")), itemgetter(1)):
        part = "\n".join(line for line, _ in lines)
        parts.append(part if is_code else _rewritten(part, closed_names))
    return "\n".join(_with_sections("\n".join(parts).split("\n")))


def _rewritten(text: str, closed_names: Collection[str]) -> str:
    """Return lines outside of code without HTML; tags of other names are words of the text."""

    def written(match: re.Match[str]) -> str:
        code, end, name = match[1], match[2], (match[3] or "").lower()
        if code or (name not in closed_names and "=" not in (match[4] or "")):
            return match[0]
        if name in ("details", "dl"):
            return f"\n\n</{name}>\n\n" if end else "\n\n"
        if name in _STRUCTURE:
            return _STRUCTURE[name][bool(end)]
        return "" if name in _LOOKS else match[0]

    for name in _HIDDEN:
        if name in closed_names:
            text = _replaced(text, *_element(name), lambda _: "")
    text = _ALONE.sub("", "\n".join(_without_indents(text.split("\n"))))
    text = _replaced(_HEADING.sub(_heading, text), _TABLE, _TABLE_END, _table)
    text = _NOTE.sub(" ", _SMALL_DIGITS.sub(_small_digits, text))
    text = _TAG.sub(written, text)
    return _ENTITY.sub(_character, text)


@cache
def _element(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the forms of the tags that begin and end an element."""
    opening = re.compile(rf"<{name}(?:\s[^<>]*)?>", re.IGNORECASE)
    return opening, re.compile(rf"</{name}\s*>", re.IGNORECASE)


def _replaced(
    text: str, opening: re.Pattern[str], closing: re.Pattern[str], write: Callable[[str], str]
) -> str:
    """Return the text with each element that ends replaced by what is written of its content."""
    pieces: list[str] = []
    start = 0
    while (start_tag := opening.search(text, start)) and (
        end_tag := closing.search(text, start_tag.end())
    ):
        pieces += (text[start : start_tag.start()], write(text[start_tag.end() : end_tag.start()]))
        start = end_tag.end()
    return "".join((*pieces, text[start:]))


def _without_indents(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines, those of a block of HTML without their indents."""
    is_html = False
    for line in lines:
        is_html = bool(line.strip()) and (is_html or _BLOCK.match(line) is not None)
        yield line.strip() if is_html else line


def _heading(match: re.Match[str]) -> str:
    prefix, name, content = match.groups()
    words = " ".join(_ANY_TAG.sub("", content).split())
    beginning = f"{'#' * int(name[1])} " if name[1].isdigit() else _SUMMARY
    return f"{prefix}\n\n{beginning}{words}\n\n" if words else prefix


def _table(content: str) -> str:
    return "\n".join(("", *_table_lines(content), ""))


def _table_lines(content: str) -> Iterator[str]:
    """Yield the lines of a table; what stands in a single column is text."""
    written_rows = _ROW.split(content)[1:]
    rows = [
        [" ".join(_ANY_TAG.sub(" ", cell).split()).replace("|", "/") for cell in cells]
        for cells in (_CELL.split(row)[1:] for row in written_rows)
    ]
    width = max(map(len, rows), default=0)
    if width < 2:
        yield from (line for row in rows for line in ("", *row))
        return
    if not _HEADER.match(written_rows[0]):
        rows.insert(0, [])
    for number, row in enumerate(rows):
        yield f"| {' | '.join(row + [''] * (width - len(row)))} |"
        if number == 0:
            yield f"|{' --- |' * width}"


def _small_digits(match: re.Match[str]) -> str:
    return match[2].translate(_SMALL[match[1].lower()])


def _character(match: re.Match[str]) -> str:
    return match[0] if match[1] else unescape(match[0]).replace("\xa0", " ")


def _with_sections(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines, a summary as a heading below that of its section; behind what folds away,
    and behind definitions, the heading of the section stands once more.
    """
    section = ""
    outer_sections: list[str] = []
    for line, is_code in with_code(lines):
        written_line = line
        if is_code:
            pass
        elif line.startswith(_SUMMARY):
            outer_sections.append(section)
            level = len(section) - len(section.lstrip("#")) + 1
            section = f"{'#' * min(level, _DEEPEST)} {line.removeprefix(_SUMMARY)}"
            written_line = section
        elif line == _FOLD_END:
            section = outer_sections.pop() if outer_sections else section
            written_line = section
        elif line == _LIST_END:
            written_line = section
        elif _SECTION.fullmatch(line):
            section = line
        yield written_line
