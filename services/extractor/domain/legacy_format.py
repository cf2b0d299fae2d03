"""Parses rows in the form that older prompts asked for, which some models still write.

`("entity"<|>name<|>type<|>description)##("relationship"<|>source<|>target<|>description<|>keywords<|>strength)##…`,
the keywords of the passage in a record of their own at the end. A bracket or a `##` may be missing.
"""

import re
from collections.abc import Iterator

_BEGIN = re.compile(
    r"\([ \t]*[\"'“”]?(entity|relationship|relation|content_keywords)[\"'“”]?\s*(?=<\|#?\|?>)",
    re.IGNORECASE,
)
_DELIMITER = re.compile(r"<\|#?\|?>")
_END = re.compile(r"##|\)[ \t]*(?:\n|\Z)|\n(?=[^\w\n(]{0,4}(?:entity|relation))", re.IGNORECASE)


def without_legacy_rows(text: str) -> str:
    """Return the text with a line break in place of each such record."""
    texts: list[str] = []
    start = 0
    for begin, end, _ in _records(text):
        texts.append(text[start:begin])
        start = end
    return "\n".join([*texts, text[start:]])


def legacy_rows(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield each record's fields in today's order, and the strength of a relation, empty without
    one.

    The order is kind, name, type, description or kind, source, target, keywords, description.
    """
    for _, _, record in _records(text):
        kind, *values = (field.strip() for field in _DELIMITER.split(record))
        strength = ""
        if kind.startswith("relation") and len(values) in (4, 5) and "<|#|>" not in record:
            strength = values[4] if len(values) == 5 else ""
            values = [values[0], values[1], values[3], values[2]]
        if not kind.startswith("content"):
            yield [kind, *values], strength


def _records(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield for each record where it begins, where it ends, and its kind and fields without
    brackets.
    """
    begins = list(_BEGIN.finditer(text))
    limits = [*(begin.start() for begin in begins), len(text)][1:]
    for begin, limit in zip(begins, limits, strict=True):
        end_match = _END.search(text, begin.end(), limit)
        end = end_match.end() if end_match else limit
        body = text[begin.end() : end_match.start() if end_match else limit].strip()
        if end_match is None or not end_match[0].startswith(")"):
            body = body.removesuffix(")")
        yield begin.start(), end, begin[1].lower() + body
