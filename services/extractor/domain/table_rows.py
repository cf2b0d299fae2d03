"""Parses a Markdown table into entities and relations, by the names of its columns. Never
raises.
"""

import re
from collections.abc import Iterator, Mapping

from contracts.values import ExtractedEntity, ExtractedRelation
from services.extractor.domain.guidance import DEFAULT, ExtractionConfig
from services.extractor.domain.row_collector import RowCollector

_RULE = re.compile(r"\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*")
_COLUMNS = {
    "name": "name",
    "entity": "name",
    "entity name": "name",
    "type": "type",
    "entity type": "type",
    "category": "type",
    "description": "description",
    "entity description": "description",
    "relationship description": "description",
    "source": "source",
    "source entity": "source",
    "subject": "source",
    "from": "source",
    "target": "target",
    "target entity": "target",
    "object": "target",
    "to": "target",
    "keywords": "keywords",
    "relationship": "keywords",
    "relation": "keywords",
    "predicate": "keywords",
}
"""What a column is, by its heading in lower case."""


def parse_table(
    answer: str, config: ExtractionConfig = DEFAULT
) -> tuple[tuple[ExtractedEntity, ...], tuple[ExtractedRelation, ...]]:
    """Return the entities and relations of the tables of an answer, each name and pair once."""
    collector = RowCollector(config.max_entities, config.max_records)
    for row in _rows(answer):
        description = row.get("description", "")
        if "source" in row and "target" in row:
            keywords = row.get("keywords", "")
            collector.add_relation(row["source"], row["target"], keywords, description or keywords)
        elif "name" in row:
            collector.add_entity(row["name"], row.get("type") or "other", description)
    return tuple(collector.entities.values()), tuple(collector.relations.values())


def _rows(answer: str) -> Iterator[Mapping[str, str]]:
    """Yield the cells of each row below a heading and its rule, by what their columns are."""
    columns: list[str] = []
    before = ""
    for line in answer.splitlines():
        if "|" not in line:
            columns = []
        elif _RULE.fullmatch(line.strip()):
            columns = [_COLUMNS.get(cell.lower(), "") for cell in _cells(before)]
        elif columns:
            yield {
                column: cell for column, cell in zip(columns, _cells(line), strict=False) if column
            }
        before = line


def _cells(line: str) -> list[str]:
    return [cell.strip(" \t*_`") for cell in line.strip().strip("|").split("|")]
