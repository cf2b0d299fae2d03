"""Parses a model's answer in rows into entities and relations. Never raises: what cannot be read is
left out.

A row with the right number of fields is taken as it is; only the others are repaired, so no repair
can harm a valid row. Also parsed: rows on one line, delimiters that are misspelt or replaced by
another mark, and the older form `("entity"<|>name<|>type<|>description)##`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from contracts.values import ExtractedEntity, ExtractedRelation
from services.extractor.domain.fence import unescape
from services.extractor.domain.guidance import DEFAULT, DELIMITER, ExtractionConfig
from services.extractor.domain.legacy_format import legacy_rows, without_legacy_rows
from services.extractor.domain.row_collector import RowCollector

_COMPLETE = re.compile(r"<\|complete\|>", re.IGNORECASE)
_EXACT = re.compile(r"<\|#\|>\|?")
_KIND = re.compile(r"(?:^|[\s.)\]\"'!?;,*。])(entity|relationship|relation)[\"'*]*$", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?$")
_MISSPELT = re.compile(
    "|".join(
        (
            r"<\|\|#\|\|>",  # each pipe twice
            r"<\|#\|?\|?#?\|>\|?",  # as it should be; <|##|>, <|#||#|>; a pipe behind it
            r"<\|\\#\|>",  # escaped
            r"<.\|#\|>|<\|#\|.>",  # a stray character outside of a pipe
            r"<[^\s<>|]?#\|>|<\|#[^\s<>|]?>|<#>",  # a pipe is missing or is another character
            r"<\|\|#>",  # both pipes on one side
            r"<\|#\|\|?(?!>)|<\|#:",  # the end is missing
            r"(?<=\S)<\|{1,2}>(?=\S)",  # the hash is missing
            r"(?<=\S)<\|\|(?=[^\s#>|])",  # only the beginning is there
            r"\|\|#\|\||\|#\|>",  # the beginning is missing
        )
    )
)
"""A delimiter, or what models write instead of it. Of two that begin at one place the first
counts.
"""
_OTHER_MARK = re.compile(
    r"\W{0,4}(?:entity|relationship|relation)[\"'*`]{0,3}\s*(<[^<>\s\u2060]{1,8}>|<\|+|\|+>?|\t|::|;;)",
    re.I,
)


def parse_rows(
    answer: str, config: ExtractionConfig = DEFAULT
) -> tuple[tuple[ExtractedEntity, ...], tuple[ExtractedRelation, ...]]:
    """Return the entities and relations of an answer, in its order, each name and pair once."""
    collector = RowCollector(config.max_entities, config.max_records)
    for line in _lines(_COMPLETE.sub("\n", without_legacy_rows(answer))):
        for fields in _rows(line):
            _add_row(collector, fields)
    for fields, strength in legacy_rows(_COMPLETE.sub("\n", answer)):
        _add_row(collector, fields, strength)
    return tuple(collector.entities.values()), tuple(collector.relations.values())


def _lines(text: str) -> Iterator[str]:
    """Yield the lines; a line that begins with a delimiter is joined to the one above it."""
    row = ""
    for line in text.splitlines():
        if row and line.lstrip().startswith(DELIMITER):
            row += line.strip()
            continue
        yield row
        row = line
    yield row


def _rows(line: str) -> Iterator[list[str]]:
    """Yield the fields of each row in a line, without rows that cannot be read."""
    fields = _fields(_EXACT, line)
    if _is_sound(fields):
        yield fields
        return
    fields = _fields(_MISSPELT, line)
    if len(fields) == 1 and (separator := _OTHER_MARK.match(line)):
        fields = [field.strip() for field in line.strip(" |").split(separator[1])]
    yield from _split_rows(fields)


def _fields(delimiter: re.Pattern[str], line: str) -> list[str]:
    return [field.strip() for field in delimiter.split(line)]


def _kind(field: str) -> str:
    lower = field.lower()
    return "entity" if "entity" in lower else "relation" if "relation" in lower else ""


def _is_sound(fields: Sequence[str]) -> bool:
    kind = _kind(fields[0])
    if kind == "entity":
        return len(fields) == 4 or (len(fields) == 5 and not _KIND.match(fields[4]))
    return bool(kind) and (
        len(fields) == 5 or (len(fields) == 6 and _NUMBER.match(fields[5]) is not None)
    )


def _split_rows(fields: list[str]) -> Iterator[list[str]]:
    """Yield the rows in one line: a field that ends with the name of a kind may begin the next
    row.
    """
    begins = [place for place in range(1, len(fields)) if _KIND.search(fields[place])]
    row_starts = set(begins)
    start = 0
    first = fields[0]
    while start < len(fields):
        size = 4 if _kind(first) == "entity" else 5
        last_fields = [first, *fields[start + 1 : start + 7]]
        if len(fields) - start <= 6 and _is_sound(last_fields):
            yield last_fields
            return
        # Where the row is whole, the next one begins behind it; else at the first field that looks
        # like a beginning.
        next_start = next(
            (place for place in (start + size, start + size - 1) if place in row_starts), None
        )
        following = bisect_right(begins, start)
        place = next_start or (begins[following] if following < len(begins) else len(fields))
        if place - start in (size, size - 1) and _kind(first):
            yield _row_before([first, *fields[start + 1 : place + 1]], place - start, size)
        start = place
        first = _KIND.findall(fields[place])[-1] if place < len(fields) else ""


def _row_before(fields: Sequence[str], place: int, size: int) -> list[str]:
    """Return the row before `place`, with the text there that precedes the name of the next row's
    kind.
    """
    row = list(fields[:place])
    if place < min(size, len(fields)):
        row.append(
            _KIND.sub(
                lambda match: match[0][: match.start(1) - match.start()], fields[place]
            ).strip()
        )
    return row


def _add_row(collector: RowCollector, fields: Sequence[str], strength: str = "") -> None:
    """Add one row. An entity row with five fields is a relation.

    Of six fields the longer text is the description and the last one the strength.
    """
    kind, *values = (unescape(field) for field in fields)
    if _kind(kind) == "entity" and len(values) == 3:
        collector.add_entity(values[0], values[1], values[2])
    elif _kind(kind) and len(values) in (4, 5):
        keywords, description = values[2:4] if len(values) == 4 else sorted(values[2:4], key=len)
        strength = strength or "".join(values[4:])
        collector.add_relation(values[0], values[1], keywords, description, strength=strength)
