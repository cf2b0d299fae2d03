"""Parses rows in the form that older prompts asked for, which some models still write.

`("entity"<|>name<|>type<|>description)##("relationship"<|>source<|>target<|>description<|>keywords<|>strength)##…`,
the keywords of the passage in a record of their own at the end. A bracket, a `##` or a part of a
delimiter may be missing.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_WHOLE = r"(?:(?<=[\"'”])[<|>](?=<\|#?\|?>))?<\|#?\|{0,2}>(?:[<|>](?=[ \t]*[\"'“]))?"
"""A delimiter, which may have a mark too many between it and a quotation mark."""
_SLIP = r"(?<![<|#>])(?!##)[<|#>]{2,4}(?![<|#>])"
"""Marks of a delimiter of which some were lost, doubled or exchanged."""
_BEGIN = re.compile(
    r"\([ \t]*[\"'“”]?(entity|relationship|relation|content_keywords)[\"'“”]?"
    rf"\s*({_WHOLE}|{_SLIP}|(?<=[\"'”])[<|>](?![<|#>]))",
    re.IGNORECASE,
)
_DELIMITER = re.compile(_WHOLE)
_MISSPELT = re.compile(
    rf"{_WHOLE}|(?<=[\"'”])[ \t]*[<|#>]{{1,4}}(?=[ \t]*(?:[\"'“]|-?\d+(?:\.\d+)?\s*\Z))|{_SLIP}"
)
"""A delimiter, or what is left of one: any mark between a quotation mark and another one or a last
number, elsewhere more than one.
"""
_NUMBER = re.compile(r"[\"'“]?-?\d+(?:\.\d+)?[\"'”]?")
_END = re.compile(r"##|\)[ \t]*(?:\n|\Z)|\n(?=[^\w\n(]{0,4}(?:entity|relation))", re.IGNORECASE)

_SIZES = {"entity": (3,), "relation": (4, 5), "relationship": (4, 5)}
"""How many fields a row of each kind has behind its kind."""


class _Record(NamedTuple):
    """A record: where it begins and ends in the text, its kind, the delimiter behind that, and its
    fields as they are written.
    """

    begin: int
    end: int
    kind: str
    delimiter: str
    body: str

    def fields(self) -> list[str]:
        """Return the fields behind the kind. A delimiter that lost a part counts where their
        number is wrong without it, or where the strength of a relation stands behind it.
        """
        sizes = _SIZES[self.kind]
        fields = _split(_DELIMITER, self.body)
        mended_fields = _split(_MISSPELT, self.body)
        if len(fields) not in sizes:
            return mended_fields
        has_strength = len(mended_fields) == max(sizes) and _NUMBER.fullmatch(mended_fields[-1])
        return mended_fields if has_strength else fields


def without_legacy_rows(text: str) -> str:
    """Return the text with a line break in place of each such record."""
    texts: list[str] = []
    start = 0
    for record in _records(text):
        texts.append(text[start : record.begin])
        start = record.end
    return "\n".join([*texts, text[start:]])


def legacy_rows(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield each record's fields in today's order, and the strength of a relation, empty without
    one.

    The order is kind, name, type, description or kind, source, target, keywords, description.
    """
    for record in _records(text):
        if record.kind not in _SIZES:
            continue
        fields = record.fields()
        strength = ""
        if record.kind != "entity" and len(fields) in (4, 5) and not _is_todays(record):
            strength = fields[4].lstrip("<|> ") if len(fields) == 5 else ""
            fields = [fields[0], fields[1], fields[3], fields[2]]
        yield [record.kind, *fields], strength


def _is_todays(record: _Record) -> bool:
    """Return whether the record has today's delimiter, and so today's order."""
    return "<|#|>" in record.delimiter + record.body


def _split(delimiter: re.Pattern[str], body: str) -> list[str]:
    return [field.strip() for field in delimiter.split(body)]


def _records(text: str) -> Iterator[_Record]:
    """Yield the records of the text, in its order."""
    begins = list(_BEGIN.finditer(text))
    limits = [*(begin.start() for begin in begins), len(text)][1:]
    for begin, limit in zip(begins, limits, strict=True):
        end_match = _END.search(text, begin.end(), limit)
        end = end_match.end() if end_match else limit
        body = text[begin.end() : end_match.start() if end_match else limit].strip()
        if end_match is None or not end_match[0].startswith(")"):
            body = body.removesuffix(")")
        yield _Record(begin.start(), end, begin[1].lower(), begin[2], body)
