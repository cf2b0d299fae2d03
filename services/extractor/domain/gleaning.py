"""The second round of an extraction: writes the first answer into the conversation, and merges both
answers.
"""

import json
from collections.abc import Mapping
from typing import TypeVar

from contracts.values import ExtractedEntity, ExtractedRelation
from services.extractor.domain.extraction import Extraction
from services.extractor.domain.fence import escape
from services.extractor.domain.guidance import COMPLETION_MARK, DELIMITER, ExtractionConfig

_Row = TypeVar("_Row", ExtractedEntity, ExtractedRelation)
_Key = TypeVar("_Key", str, tuple[str, str])


def render_answer(config: ExtractionConfig, extraction: Extraction) -> str:
    """Return the rows in the form the model was asked for; the same for a new answer and a cached
    one.
    """
    if config.json:
        rows = {
            "entities": [
                entity.model_dump(include={"name", "type", "description"})
                for entity in extraction.entities
            ],
            "relationships": [
                relation.model_dump(include={"source", "target", "description"})
                | {"keywords": ", ".join(relation.keywords)}
                for relation in extraction.relations
            ],
        }
        return json.dumps(rows, ensure_ascii=False)
    fields = [
        ("entity", entity.name, entity.type, entity.description) for entity in extraction.entities
    ]
    pairs = [
        (
            "relation",
            relation.source,
            relation.target,
            ", ".join(relation.keywords),
            relation.description,
        )
        for relation in extraction.relations
    ]
    return "\n".join(
        [
            *(DELIMITER.join(escape(field) for field in row) for row in (*fields, *pairs)),
            COMPLETION_MARK,
        ]
    )


def merge_rounds(first: Extraction, second: Extraction) -> Extraction:
    """Return the rows of both answers, each name and pair once, and the tokens of both together.

    A row of the second answer replaces one of the first only if its description is longer.
    """
    return Extraction(
        entities=_merge_rows(
            {entity.name: entity for entity in first.entities},
            {entity.name: entity for entity in second.entities},
        ),
        relations=_merge_rows(
            {(relation.source, relation.target): relation for relation in first.relations},
            {(relation.source, relation.target): relation for relation in second.relations},
        ),
        usage=first.usage + second.usage,
    )


def _merge_rows(first: Mapping[_Key, _Row], second: Mapping[_Key, _Row]) -> tuple[_Row, ...]:
    rows = dict(first)
    for key, row in second.items():
        if key not in rows or len(row.description) > len(rows[key].description):
            rows[key] = row
    return tuple(rows.values())
