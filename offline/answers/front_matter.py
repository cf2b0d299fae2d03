"""What a document says of itself before it begins, written as a title and as lines with a label
each: the front matter of Markdown in YAML or TOML.
"""

import re
from collections.abc import Iterator, Sequence

from offline.language.lines import with_code

_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
"""The line before a front matter → the lines that may end it; Pandoc writes YAML's three dots."""
_MOST_LINES = 80
_TITLE = frozenset(("title", "titel", "titre", "título", "titolo", "название", "标题"))
_OF_PAGES = frozenset(
    """
    aliases comments cover draft featureimg id image imagealt img lang layout navorder order
    parent permalink published redirectfrom sidebar sidebarposition slug template theme thumbnail
    toc translationkey type url weight
    """.split()  # noqa: SIM905
)
"""Fields that say how a page is made, without the marks in their names."""
_MARKS = re.compile(r"[\W_]+")
_FIELD = re.compile(r"([\w.-]+(?: [\w.-]+){0,2})\s*[:=]\s*(.*)")
_LIST_ITEM = re.compile(r"\s*-\s+(.*)")
_EMPTY_OF_MEANING = re.compile(
    r"(?:true|false|null|~|\d{1,3}|[|>][+-]?|\{.*\}|!\S+)?", re.IGNORECASE
)
"""Values that tell a reader nothing: switches, weights, what goes on below."""
_COMMENT = re.compile(r"\s+#\s.*$")
_INDENTED = re.compile(r"\s+\S")
_OTHER_LINE = re.compile(r"\s*(?:#.*|\[.*|[\]}]+,?|-\s.*)?")
"""A comment, a section, the end of a list, an item, nothing."""


def front_matter(lines: Sequence[str]) -> tuple[list[str], int]:
    """Return the lines of text that stand for the front matter of a document, and the number of the
    first line behind it; nothing and 0 where it has none.
    """
    fence = lines[0].rstrip() if lines else ""
    if fence not in _FENCES:
        return [], 0
    ends = _FENCES[fence]
    end = next((at for at, line in enumerate(lines[1:_MOST_LINES], 1) if line.rstrip() in ends), 0)
    inner = [line for line in lines[1:end] if line.strip()]
    if not inner or _FIELD.match(inner[0]) is None or not all(map(_may_stand_inside, inner)):
        return [], 0
    fields = list(_fields(inner))
    title = next((value for name, value in fields if name.lower() in _TITLE), "")
    labelled_lines = [
        f"{name.replace('_', ' ')}: {value}"
        for name, value in fields
        if name.lower() not in _TITLE
        and _MARKS.sub("", name.lower()) not in _OF_PAGES
        and not value.startswith("/")
    ]
    return ["", *([f"# {title}", ""] if title else []), *labelled_lines, ""], end + 1


def told_front_matters(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines with each front matter as text: of the document, and, of pages that were
    joined, of each that has a title.
    """
    start = 0
    above = ""
    for number, (line, is_code) in enumerate(with_code(lines)):
        if number < start:
            continue
        if line.rstrip() in _FENCES and not above.strip() and not is_code:
            told_lines, length = front_matter(lines[number : number + _MOST_LINES + 1])
            if number == 0 or any(text.startswith("# ") for text in told_lines):
                yield from told_lines
                start = number + length
        if number >= start:
            yield line
            above = line


def _may_stand_inside(line: str) -> bool:
    """Return whether it is no line of a text, which may begin and end with a rule, too."""
    return any(form.match(line) for form in (_FIELD, _INDENTED)) or bool(
        _OTHER_LINE.fullmatch(line)
    )


def _fields(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the names with their values, those of a list and of several lines joined; what is below
    a name as names and values of their own says how a page is made.
    """
    name = ""
    values: list[str] = []
    joint = " "
    has_names_below = False
    for line in (*lines, "end:"):
        field = _FIELD.fullmatch(line.rstrip())
        item = _LIST_ITEM.fullmatch(line.rstrip())
        if field:
            if value := joint.join(values):
                yield name, value
            name = field[1]
            value = _value(field[2])
            values = [] if _EMPTY_OF_MEANING.fullmatch(value) else [value]
            joint = " "
            has_names_below = not field[2].strip()
        elif item:
            values.append(_value(item[1]))
            joint = ", "
        elif has_names_below and _FIELD.fullmatch(line.strip()):
            continue
        elif _INDENTED.match(line):
            values.append(line.strip())


def _value(text: str) -> str:
    """Return a value without quotes and brackets."""
    text = text if text[:1] in "\"'" else _COMMENT.sub("", text)
    text = text.strip()
    if text[:1] == "[" and text[-1:] == "]":
        return ", ".join(_value(item) for item in text[1:-1].split(",") if item.strip())
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
