"""Caches descriptions of figures in the document store, so that none is paid for twice."""

from contracts.values import TokenUsage
from runtime.stores.documents.paid_results import PaidResults
from runtime.stores.documents.port import Row, Rows
from services.chunker.port import Description

TABLE = "figure_descriptions"


class DescriptionCache(PaidResults[Description]):
    """`Descriptions` over `Rows`."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows, TABLE, _row, _description)


def _row(description: Description) -> Row:
    return {
        "text": description.text,
        "usage": description.usage.model_dump(),
        "payer": description.payer,
    }


def _description(row: Row) -> Description:
    return Description(row["text"], TokenUsage(**row["usage"]), row["payer"])
