"""Other light markup written as Markdown: headings, fields, definitions and rules of tables of
reStructuredText, AsciiDoc, MediaWiki and Org, and what documents say of themselves.

Time is linear in the text.
"""

import re
from collections.abc import Iterator, Sequence

from offline.answers.front_matter import told_front_matters
from offline.language.lines import fence

_MAY_HAVE = re.compile(
    r"^(?:(?:---|\+\+\+)$|={1,6} \S|:[\w-]|#\+|\S.*:: |\.\. |\|-+\+)",
    re.MULTILINE,
)
_HEADING = re.compile(r"(={1,6})\s+(\S.*?)(?:\s+=+)?")
"""A heading of AsciiDoc, or of MediaWiki."""
_OF_ASCIIDOC = re.compile(rf"\|={{3,}}|{_HEADING.pattern}")
_FIELD = re.compile(r":([^\W\d_][^:\n]{0,39}):(?:\s+(.*))?")
_OPTION = re.compile(r"\s+:[\w-]+:.*")
_DIRECTIVE = re.compile(r"\s*\.\. [\w-]+::.*")
_ADMONITION = re.compile(
    r"(\s*)\.\. (attention|caution|danger|error|hint|important|note|tip|warning)::(.*)"
)
_HIDDEN_DIRECTIVE = re.compile(
    r"\s*\.\. (?:contents|currentmodule|default-role|figure|highlight|image|include|index|meta"
    r"|module|only|raw|sectionauthor|tags|tabularcolumns|toc|toctree)::.*"
)
"""A directive whose words are no text."""
_TERM = re.compile(r"(?:[-*]\s+)?([^\s.:][^:]{0,60}?)\s*::\s+(\S.*)")
_ATTRIBUTES = re.compile(r"\[(?:[^\[\]]*[=,%][^\[\]]*|horizontal|qanda|quote|source|[A-Z]{3,9})\]")
_CAPTION = re.compile(r"\.([^\s.].{2,80})")
_AUTHOR = re.compile(r"[^\W\d_][^\W\d_]+(?: [^\W\d_][\w.'’-]*){1,3}(?: <[^<>\s]+>)?")
_REVISION = re.compile(r"(?:v[\d.]+(?:,\s.*)?|(?:v?[\d.]+,\s+)?\d{4}-\d\d-\d\d.*)")
_KEYWORD = re.compile(r"#\+(\w+):?\s*(.*)")
_STAR = re.compile(r"(\*{1,6})\s+(\S.*)")
_RULE = re.compile(r"\s*\|-+(?:\+-+)+\|?\s*")
_TOLD = frozenset(("author", "date", "email", "subtitle", "description", "keywords", "language"))
"""What a document in Org says of itself."""


def as_markdown(text: str) -> str:
    """Return the text with its marks as those of Markdown; what it has of Markdown stays."""
    if not _MAY_HAVE.search(text):
        return text
    return "\n".join(_Rewriter([*told_front_matters(text.split("\n"))]).lines())


class _Rewriter:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._is_org = any(line.startswith("#+") for line in lines)
        self._is_asciidoc = any(map(_OF_ASCIIDOC.fullmatch, lines))
        self._fenced = False

    def lines(self) -> Iterator[str]:
        above = ""
        in_field = False
        for number, line in enumerate(self._lines):
            if fence(line, above):
                self._fenced = not self._fenced
            in_field = _FIELD.fullmatch(line) is not None or (in_field and line[:1].isspace())
            if self._fenced:
                yield line
            elif not in_field or not line[:1].isspace():  # else it was read with the field
                yield from self._line(number, line, above)
            above = line

    def _line(self, number: int, line: str, above: str) -> Iterator[str]:
        if _OPTION.fullmatch(line) and (_DIRECTIVE.fullmatch(above) or _OPTION.fullmatch(above)):
            yield ""  # of a directive
        elif _HIDDEN_DIRECTIVE.fullmatch(line):
            yield ""
        elif admonition := _ADMONITION.fullmatch(line):
            yield f"{admonition[1]}{admonition[2].capitalize()}:{admonition[3]}"
        elif field := _FIELD.fullmatch(line):
            yield f"{field[1]}: {self._continued(number, field[2] or '')}".rstrip(": ")
        elif (term := _TERM.fullmatch(line)) and not above.rstrip().endswith(("::", ",")):
            yield from ("", term[1], f": {term[2]}")
        elif self._is_org and (line.startswith("#+") or _STAR.fullmatch(line)):
            yield from _of_org(line)
        elif _RULE.fullmatch(line):
            yield line.replace("+", "|")
        elif self._is_asciidoc:
            yield from self._of_asciidoc(number, line, above)
        else:
            yield line

    def _continued(self, number: int, value: str) -> str:
        """Return the value of a field with the lines that are indented below it."""
        parts = [value]
        for line in self._lines[number + 1 :]:
            if not line[:1].isspace() or not line.strip():
                break
            parts.append(line.strip())
        return " ".join(filter(None, parts))

    def _of_asciidoc(self, number: int, line: str, above: str) -> Iterator[str]:
        below = self._lines[number + 1] if number + 1 < len(self._lines) else ""
        title_above = self._lines[number - 2] if number > 1 else ""
        if heading := _HEADING.fullmatch(line):
            yield from (f"{'#' * len(heading[1])} {heading[2]}", "")
        elif above.startswith("= ") and _AUTHOR.fullmatch(line):
            yield f"author: {line}"
        elif (above.startswith("= ") or title_above.startswith("= ")) and _REVISION.fullmatch(line):
            yield f"revision: {line}"
        elif _ATTRIBUTES.fullmatch(line):
            yield ""
        elif (caption := _CAPTION.fullmatch(line)) and below.startswith(("[", "|")):
            yield from ("", f"{caption[1]}:", "")
        else:
            yield line


def _of_org(line: str) -> Iterator[str]:
    """Yield what stands for a line of Org: a heading, or a keyword."""
    if star := _STAR.fullmatch(line):
        yield from ("", f"{'#' * len(star[1])} {star[2]}", "")
        return
    keyword = _KEYWORD.fullmatch(line)
    name = keyword[1].lower() if keyword else ""
    if keyword and name == "title":
        yield from (f"# {keyword[2]}", "")
    elif keyword and name in _TOLD:
        yield f"{name}: {keyword[2]}"
    elif name.startswith(("begin_src", "end_src", "begin_example", "end_example")):
        yield f"```{keyword[2] if keyword else ''}"
