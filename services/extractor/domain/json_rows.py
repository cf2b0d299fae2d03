"""Parses a model's answer in JSON into entities and relations. Never raises: what cannot be read is
left out.

Every entity and relation is an object without objects inside, so each is parsed on its own,
wherever it stands: between fences, amid prose, in an answer that was cut off. A malformed one does
not affect the others.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from contracts.values import ExtractedEntity, ExtractedRelation
from runtime.text.repaired_json import repaired_json
from services.extractor.domain.guidance import DEFAULT, ExtractionConfig
from services.extractor.domain.row_collector import RowCollector

_OBJECT = re.compile(r"(?=\{\s*\"\w{1,40}\"\s*:)")
_ESCAPE = re.compile(r"\\(?:([\"\\/nrt]|u[0-9a-fA-F]{4}|[bf](?![a-zA-Z]))|)")
"""A backslash, with what makes it an escape; nobody means the backspace of `\\beta` or the form
feed of `\\frac`.
"""
_DECODER = json.JSONDecoder(strict=False)
_LONGEST = 10_000
"""Characters of one object that are read."""

_NAMES = ("name", "entity_name", "entity")
_TYPES = ("type", "entity_type")
_SOURCES = ("source", "src", "source_entity", "src_id")
_TARGETS = ("target", "tgt", "target_entity", "tgt_id")
_DESCRIPTIONS = ("description", "entity_description", "relationship_description")
_KEYWORDS = ("keywords", "relationship_keywords")


def parse_json(
    answer: str, config: ExtractionConfig = DEFAULT
) -> tuple[tuple[ExtractedEntity, ...], tuple[ExtractedRelation, ...]]:
    """Return the entities and relations of an answer, in its order, each name and pair once."""
    collector = RowCollector(config.max_entities, config.max_records)
    for values in _objects(answer):
        source = _text(values, _SOURCES)
        target = _text(values, _TARGETS)
        description = _text(values, _DESCRIPTIONS)
        if source and target:
            collector.add_relation(source, target, _text(values, _KEYWORDS), description)
        elif name := _text(values, _NAMES):
            collector.add_entity(name, _text(values, _TYPES) or "other", description)
    return tuple(collector.entities.values()), tuple(collector.relations.values())


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    for piece in _OBJECT.split(text):
        if piece.startswith("{"):
            yield _object(piece[:_LONGEST])


def _object(piece: str) -> Mapping[str, Any]:
    """Return one object, repaired if need be; an empty one if it is no object or is cut off."""
    escaped_piece = _ESCAPE.sub(lambda match: match[0] if match[1] else r"\\", piece)
    try:
        value: Any = _DECODER.raw_decode(escaped_piece)[0]
    except (ValueError, RecursionError):
        value = _repaired(escaped_piece)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _repaired(piece: str) -> Any:
    """Return the object as json-repair reads it; None for one that is cut off, whose texts would be
    incomplete.
    """
    if "}" not in piece:
        return None
    value: Any = repaired_json(piece)
    # Behind the object may stand anything, up to the next one.
    if not isinstance(value, list):
        return value
    values = cast(list[Any], value)
    return values[0] if values else None


def _text(values: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return the first of these values that is a text, a number or a list of them, as text; empty
    if none is.
    """
    for key in keys:
        value = values.get(key)
        if isinstance(value, list):
            value = ",".join(
                str(part) for part in cast(list[Any], value) if isinstance(part, str | int | float)
            )
        if isinstance(value, str | int | float) and str(value).strip():
            return str(value)
    return ""
