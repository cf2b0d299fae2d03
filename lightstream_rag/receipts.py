"""Methods that read the receipts of answers."""

from typing import Any

from lightstream_rag.flows import Call, Flow, get, json_body, parse_as, request
from lightstream_rag.models import ResponseModel


class ReceiptSummary(ResponseModel):
    """A receipt in a list. `question` is None where only its hash was recorded; `documents` and
    `passages`: how many the answer rests on; `changed_passages`: how many of these are not in the
    documents any more as they were; `edited_items`: entities and relations that it rests on and
    people have edited since; `end`: `whole`, or how it ended.
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
    changed_passages: int = 0
    edited_items: int = 0
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


class Verification(ResponseModel):
    """What was verified of a receipt by the log: passages as they were, those of erased documents,
    and a sentence for each that is not as it was.
    """

    id: str
    passages: int
    erased_passages: int
    problems: list[str]


class Replay(ResponseModel):
    """What is the same when a question is asked once more; None where there is nothing to compare.
    `missing`, `new`: ids of evidence that only then, or only now, was found.
    """

    id: str
    evidence: bool
    prompt: bool | None = None
    answer: bool | None = None
    text: str | None = None
    missing: list[str]
    new: list[str]
    notes: list[str]


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


def verification(id: str) -> Flow[Verification]:
    """Compare a receipt with its hashes, and with the passages in the log. Raises `NotFound`."""
    return get(f"/receipts/{id}/verification", parse_as(Verification))


def replay(id: str, *, query: str = "", answer: bool = True) -> Flow[Replay]:
    """Ask the question of a receipt once more, from the same place of the log with the same
    settings.

    `query`: the question, for a receipt that has its hash alone. Without `answer` none is written.
    """
    body = json_body(query=query, answer=answer)
    path = f"/receipts/{id}/replay"
    return request(Call("POST", path, parse_as(Replay), body, idempotent=True))
