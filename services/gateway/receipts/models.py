"""Receipts as the API shows them."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from contracts.events import AnswerEnd, AnswerGiven, ReceiptForm
from contracts.spelling import one_spelling
from runtime.bus.points import FORM
from runtime.receipts.reading import ReceiptFilter, StoredReceipt
from services.gateway.places import Places


class ReceiptConditions(BaseModel):
    """Which receipts are wanted: those that meet all conditions."""

    model_config = ConfigDict(extra="forbid")

    since: str = Field(default="", max_length=64, description=f"behind it: {FORM}")
    asker: str = Field(default="", max_length=256, examples=["key:reader"])
    document: str = Field(
        default="", max_length=512, description="answers that rest on the document of this id"
    )
    entity: str = Field(default="", max_length=512, description="on the entity of this name")
    passage: str = Field(default="", max_length=600, description="on the passage of this id")
    limit: int = Field(default=50, ge=1, le=1000)

    def filter(self, asker: str) -> ReceiptFilter:
        """Return the conditions as receipts are read by."""
        return ReceiptFilter(asker, self.document, one_spelling(self.entity), self.passage)


class ReceiptSummary(BaseModel):
    """A receipt in a list. `question` is null where only its hash was recorded."""

    id: str
    sequence: int = Field(description="its place in the log")
    asked_at: datetime
    asker: str | None
    form: ReceiptForm
    mode: str
    question: str | None
    documents: int = Field(description="documents that the answer rests on")
    passages: int
    changed_passages: int = Field(
        description="of these, how many are not in the documents any more as they were"
    )
    edited_items: int = Field(
        description="entities and relations that it rests on and people have edited since; 0 for "
        "those from whom documents may be hidden"
    )
    by_model: bool
    end: AnswerEnd

    @classmethod
    def of(
        cls, receipt: StoredReceipt, places: Places, *, changed_passages: int, edited_items: int
    ) -> "ReceiptSummary":
        """Return the summary as a caller with these places sees it."""
        event = receipt.event
        return cls(
            id=event.receipt,
            sequence=places.shown(receipt.sequence),
            asked_at=event.asked_at,
            asker=receipt.asker,
            form=event.form,
            mode=event.settings.mode,
            question=event.question.text,
            documents=len(event.evidence.documents),
            passages=len(event.evidence.passages),
            changed_passages=changed_passages,
            edited_items=edited_items,
            by_model=event.by_model,
            end=event.end,
        )


class Receipts(BaseModel):
    """Receipts, the newest first."""

    receipts: list[ReceiptSummary]


class ReceiptResponse(BaseModel):
    """A receipt: the event of an answer, and where the log has it."""

    id: str
    sequence: int = Field(description="its place in the log")
    recorded_at: datetime = Field(description="when the log took it")
    asker: str | None
    sha256: str = Field(description="its leaf in the audit chain of questions and answers")
    event: AnswerGiven

    @classmethod
    def of(
        cls, receipt: StoredReceipt, places: Places, *, hides_revisions: bool
    ) -> "ReceiptResponse":
        """Return the receipt as a caller with these places sees it. Revisions count what hidden
        documents changed, too.
        """
        event = without_revisions(receipt.event) if hides_revisions else receipt.event
        return cls(
            id=receipt.event.receipt,
            sequence=places.shown(receipt.sequence),
            recorded_at=receipt.published_at,
            asker=receipt.asker,
            sha256=receipt.leaf,
            event=shown_event(event, places),
        )


class VerificationResponse(BaseModel):
    """What was verified of a receipt by the log."""

    id: str
    passages: int = Field(description="whose text in the log has the hash that the receipt names")
    erased_passages: int = Field(description="passages of erased documents")
    problems: list[str] = Field(description="what is not as it was, a sentence each")


class ReplayRequest(BaseModel):
    """How a question is asked once more."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"answer": False}]})

    query: str = Field(
        default="",
        max_length=65536,
        description="the question, for a receipt that has its hash alone",
    )
    answer: bool = Field(
        default=True, description="false: compare evidence and prompt, and have no answer written"
    )


class ReplayResponse(BaseModel):
    """What is the same as in the receipt; null where there is nothing to compare."""

    id: str
    evidence: bool = Field(description="the same passages, entities and relations were found")
    prompt: bool | None = Field(description="the prompt is the same to the character")
    answer: bool | None = Field(description="so is the answer, of a model that may vary it")
    text: str | None = Field(description="the answer of now")
    missing: list[str] = Field(description="evidence of then that is not found now, by id")
    new: list[str] = Field(description="evidence of now that was not found then")
    notes: list[str] = Field(description="why they may differ, in sentences")


def shown_event(event: AnswerGiven, places: Places) -> AnswerGiven:
    """Return the event with its sequences as a caller with these places sees them."""
    if not places.key:
        return event
    passages = tuple(
        passage.model_copy(update={"version": places.shown(passage.version)})
        for passage in event.evidence.passages
    )
    evidence = event.evidence.model_copy(update={"passages": passages})
    return event.model_copy(update={"position": places.shown(event.position), "evidence": evidence})


def without_revisions(event: AnswerGiven) -> AnswerGiven:
    """Return the event with 0 for each revision of an entity or a relation."""
    evidence = event.evidence
    entities = tuple(item.model_copy(update={"revision": 0}) for item in evidence.entities)
    relations = tuple(item.model_copy(update={"revision": 0}) for item in evidence.relations)
    graph = {"entities": entities, "relations": relations}
    return event.model_copy(update={"evidence": evidence.model_copy(update=graph)})
