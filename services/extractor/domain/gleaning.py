"""The second round: the first answer as the model is shown it, and the two answers made one."""

import json
from collections.abc import Mapping
from typing import TypeVar

from contracts.values import ExtractedEntity, ExtractedRelation, TokenUsage
from services.extractor.domain.extraction import Extraction
from services.extractor.domain.fence import escape
from services.extractor.domain.guidance import COMPLETION_MARK, DELIMITER, ExtractionConfig

_Row = TypeVar("_Row", ExtractedEntity, ExtractedRelation)
_Key = TypeVar("_Key", str, tuple[str, str])


def render_answer(config: ExtractionConfig, extraction: Extraction) -> str:
    """The rows in the form the model was asked for: the same for an answer just given and one remembered."""
    if config.json:
        rows = {
            "entities": [entity.model_dump(include={"name", "type", "description"}) for entity in extraction.entities],
            "relationships": [
                relation.model_dump(include={"source", "target", "description"})
                | {"keywords": ", ".join(relation.keywords)}
                for relation in extraction.relations
            ],
        }
        return json.dumps(rows, ensure_ascii=False)
    fields = [("entity", entity.name, entity.type, entity.description) for entity in extraction.entities]
    pairs = [
        ("relation", relation.source, relation.target, ", ".join(relation.keywords), relation.description)
        for relation in extraction.relations
    ]
    return "\n".join([*(DELIMITER.join(escape(field) for field in row) for row in (*fields, *pairs)), COMPLETION_MARK])


def merge_rounds(first: Extraction, second: Extraction) -> Extraction:
    """Both answers: names and pairs, as they were written, that only the second has, and the longer description.

    The second row replaces the first only when its description is strictly longer. What both cost adds up.
    """
    return Extraction(
        entities=_merged(
            {entity.name: entity for entity in first.entities}, {entity.name: entity for entity in second.entities}
        ),
        relations=_merged(
            {(relation.source, relation.target): relation for relation in first.relations},
            {(relation.source, relation.target): relation for relation in second.relations},
        ),
        usage=added(first.usage, second.usage),
    )


def added(first: TokenUsage, second: TokenUsage) -> TokenUsage:
    """What two calls cost."""
    return TokenUsage(
        prompt=first.prompt + second.prompt,
        completion=first.completion + second.completion,
        cached=first.cached + second.cached,
    )


def _merged(first: Mapping[_Key, _Row], second: Mapping[_Key, _Row]) -> tuple[_Row, ...]:
    rows = dict(first)
    for key, row in second.items():
        if key not in rows or len(row.description) > len(rows[key].description):
            rows[key] = row
    return tuple(rows.values())
