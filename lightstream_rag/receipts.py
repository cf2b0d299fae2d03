"""Methods that read the receipts of answers."""

from typing import Any

from lightstream_rag.flows import Flow, get, parse_as
from lightstream_rag.models import ResponseModel


class ReceiptSummary(ResponseModel):
    """A receipt in a list. `question` is None where only its hash was recorded; `documents` and
    `passages`: how many the answer rests on; `end`: `whole`, or how it ended.
    """

    id: str
    sequence: int
    asked_at: str
    asker: str | None = None
    form: str
    mode: str
    question: str | None = None
    documents: int = 0
    passages: int = 0
    by_model: bool = False
    end: str = "whole"


class Receipts(ResponseModel):
    """Receipts, the newest first."""

    receipts: list[ReceiptSummary]


class Receipt(ResponseModel):
    """A receipt: the event AnswerGiven as it stands in the log. `sha256`: its leaf in the audit
    chain.
    """

    id: str
    sequence: int
    recorded_at: str
    asker: str | None = None
    sha256: str
    event: dict[str, Any]


def receipts(
    *,
    since: str = "",
    asker: str = "",
    document: str = "",
    entity: str = "",
    passage: str = "",
    limit: int = 50,
) -> Flow[list[ReceiptSummary]]:
    """Return the newest receipts of answers, at most 1,000: of who asked, and of what they rest
    on.

    `since`: behind a sequence of the log or a time (ISO 8601); `document` and `passage` are ids.
    """
    named_conditions = {
        "since": since,
        "asker": asker,
        "document": document,
        "entity": entity,
        "passage": passage,
    }
    conditions = {name: value for name, value in named_conditions.items() if value}
    answer = yield from get("/receipts", parse_as(Receipts), limit=limit, **conditions)
    return answer.receipts


def receipt(id: str) -> Flow[Receipt]:
    """Return the receipt of an answer, by the id that came with it. Raises `NotFound`."""
    return get(f"/receipts/{id}", parse_as(Receipt))
