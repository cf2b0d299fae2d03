"""Caches extractions in the document store, so that none is paid for twice."""

from contracts.values import ExtractedEntity, ExtractedRelation, TokenUsage
from runtime.stores.documents.paid_results import PaidResults
from runtime.stores.documents.port import Row, Rows
from services.extractor.domain.extraction import Extraction


class ExtractionCache(PaidResults[Extraction]):
    """`Extractions` over `Rows`."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows, "extractions", _row, _extraction)


def _row(extraction: Extraction) -> Row:
    return {
        "entities": [vars(entity) for entity in extraction.entities],
        "relations": [
            {**vars(relation), "keywords": [*relation.keywords]}
            for relation in extraction.relations
        ],
        "usage": extraction.usage.model_dump(),
        "payer": extraction.payer,
        "warnings": [*extraction.warnings],
    }


def _extraction(row: Row) -> Extraction:
    return Extraction(
        tuple(ExtractedEntity(**entity) for entity in row["entities"]),
        tuple(ExtractedRelation(**relation) for relation in row["relations"]),
        TokenUsage(**row["usage"]),
        row.get("payer", ""),
        tuple(row.get("warnings", ())),
    )
