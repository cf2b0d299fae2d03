"""Parses a model's answer, in rows or in JSON as it was asked for, or else in the form that the
model chose.
"""

from contracts.values import ExtractedEntity, ExtractedRelation
from services.extractor.domain.guidance import ExtractionConfig
from services.extractor.domain.json_rows import parse_json
from services.extractor.domain.rows import parse_rows
from services.extractor.domain.table_rows import parse_table

Rows = tuple[tuple[ExtractedEntity, ...], tuple[ExtractedRelation, ...]]


def parse_answer(answer: str, config: ExtractionConfig, *, cut: bool = False) -> Rows:
    """Return the entities and relations of an answer: by the parser of the form that was asked for,
    else by another.

    `cut`: the answer ended before its end; a row that is not whole then is left out, unless it is
    the only one.
    """
    before, newline, _ = answer.rstrip().rpartition("\n")
    lines = before if cut and newline else answer
    parsers = [lambda: parse_rows(lines, config), lambda: parse_json(answer, config)]
    if config.json:
        parsers.reverse()
    parsers.append(lambda: parse_table(lines, config))
    for parse in parsers:
        entities, relations = parse()
        if entities or relations:
            return entities, relations
    return (), ()
