"""Answers of the routes about events."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import AwareDatetime, BaseModel, Field

from contracts.values import FigureRef, TokenUsage
from runtime.bus import event_summary
from runtime.bus.points import MAX_SEQUENCE
from runtime.costs.prices import Prices
from services.gateway.feeds.reading import EventPage
from services.gateway.graph.document_passages import PassageWithGraph
from services.gateway.places import PLAIN, Places, shown_text

EventType = Literal[
    "DocumentAdded",
    "DocumentDeleted",
    "DocumentCancelled",
    "AccessChanged",
    "ChunksCreated",
    "FiguresListed",
    "FigureDescribed",
    "EntitiesExtracted",
    "GraphMerged",
    "DescriptionSummarized",
    "VectorsIndexed",
    "StageFailed",
    "GraphEdited",
    "RetryRequested",
    "BudgetSet",
    "DocumentErased",
    "ErasureRequested",
    "SupersessionStated",
    "TagsChanged",
    "BranchCreated",
    "BranchDropped",
    "BranchPromoted",
    "EmbeddingModelChosen",
]
"""A test compares it with the events that there are, but for those on subjects apart, which no feed
reads.
"""

EventTypes = Annotated[
    Sequence[EventType], Query(alias="type", max_length=32, description="of these types only")
]
After = Annotated[int | None, Query(ge=0, le=MAX_SEQUENCE, description="events behind this place")]
Before = Annotated[
    int | None, Query(ge=0, le=MAX_SEQUENCE, description="events in front of this place")
]
Limit = Annotated[int, Query(ge=1, le=500)]
DocumentId = Annotated[
    str,
    Path(
        min_length=1,
        max_length=512,
        examples=["doc-f8e5fc3935ce926dc54e926fdc8cf0ec"],
        description="its id",
    ),
]


class EventSummary(BaseModel):
    """One event in short, without the texts it carries."""

    sequence: int = Field(
        description="its place; in the order of the log for credentials of all workspaces only"
    )
    id: str = Field(description="empty for a message that is no event")
    time: AwareDatetime
    type: str
    document: str = Field(
        description="a document's id; `_graph` or `_sum-…` for what no document caused"
    )
    text: str = Field(description="what it says, in a few words")
    cause: str | None = Field(None, description="id of the event that caused it")
    correlation: str | None = Field(None, description="id of the event that began it all")
    trace_id: str | None = Field(None, description="W3C trace id")
    stage: str | None = Field(None, description="the service that failed, or is to try again")
    chunks: list[int] = Field([], description="orders of the chunks it is about")
    model: str | None = None
    tokens: TokenUsage | None = None
    duration_ms: int | None = Field(None, description="that a language model took")
    cached: bool | None = Field(None, description="true when no language model was asked")
    actor: str | None = Field(None, description="the principal who caused it")
    money: float | None = Field(
        None, description="what its tokens cost by MODEL_PRICES; null without a price"
    )
    currency: str | None = Field(None, description="of `money`")

    @classmethod
    def of(
        cls, summary: event_summary.EventSummary, prices: Prices, places: Places = PLAIN
    ) -> "EventSummary":
        """Return the summary as answers have it, with its place as the caller sees places."""
        money = _money(summary, prices)
        price_fields = {} if money is None else {"money": float(money), "currency": prices.currency}
        shown_fields = {
            "sequence": places.shown(summary.sequence),
            "text": shown_text(summary, places),
        }
        return cls.model_validate(
            {**vars(summary), "chunks": list(summary.chunks), **shown_fields, **price_fields}
        )


def _money(summary: event_summary.EventSummary, prices: Prices) -> Decimal | None:
    """Return what was paid for the event: nothing for what a cache gave."""
    tokens = summary.tokens
    model = summary.model
    if tokens is None or model is None or summary.cached:
        return None
    single, batch = tokens.by_price()
    money = prices.money(model, single.prompt, single.cached, single.completion)
    batch_money = prices.money(model, batch.prompt, batch.cached, batch.completion, in_batch=True)
    return None if money is None or batch_money is None else money + batch_money


class EventList(BaseModel):
    """A page of events, in the order of the log."""

    events: list[EventSummary]
    after: int | None = Field(description="give it as `after` to read on; null on an empty page")
    before: int | None = Field(
        description="give it as `before` to read what came earlier; null on an empty page"
    )
    remaining: int = Field(
        description="such events beyond this page, in the direction that was asked for"
    )

    @classmethod
    def of(cls, page: EventPage, prices: Prices, places: Places = PLAIN) -> "EventList":
        """Return the page as answers have it."""
        events = [EventSummary.of(summary, prices, places) for summary in page.events]
        first, last_sequence = (events[0].sequence, events[-1].sequence) if events else (None, None)
        return cls(events=events, after=last_sequence, before=first, remaining=page.remaining)


class WholeEvent(BaseModel):
    """One event with everything it carries."""

    sequence: int
    summary: EventSummary
    event: dict[str, Any] = Field(description="the CloudEvent, in the newest version of its schema")


class ChunkEntity(BaseModel):
    """What a chunk says of an entity."""

    name: str = Field(description="as the document has it: people may have renamed it since")
    type: str
    description: str


class ChunkRelation(BaseModel):
    """What a chunk says of two entities."""

    source: str
    target: str
    keywords: list[str]
    description: str
    weight: float


class DocumentChunk(BaseModel):
    """A chunk of a document."""

    id: str
    order: int
    content: str
    start: int | None = Field(
        description="its first character in the document's text; neighbours may overlap"
    )
    end: int | None = Field(description="the character behind its last one")
    page: int | None = Field(description="page on which it begins, the first being 1")
    page_breaks: list[int] = Field(
        default=[],
        description="characters of the passage at which its next pages begin",
        exclude_if=lambda breaks: not breaks,
    )
    headings: list[str]
    figures: list[FigureRef] = Field(
        default=[],
        description="that stand in it: GET /documents/{document_id}/figures/{sha256}",
    )
    tokens: int
    entities: list[ChunkEntity]
    relations: list[ChunkRelation]

    @classmethod
    def of(cls, chunk: PassageWithGraph) -> "DocumentChunk":
        """Return the chunk as answers have it."""
        passage = chunk.passage
        return cls(
            id=passage.id,
            order=passage.order,
            content=passage.content,
            start=passage.start,
            end=passage.end,
            page=passage.page,
            page_breaks=list(passage.page_breaks),
            headings=list(passage.headings),
            figures=list(passage.figures),
            tokens=passage.tokens,
            entities=[
                ChunkEntity(
                    name=contribution.names[0],
                    type=contribution.type,
                    description=contribution.description,
                )
                for contribution in chunk.contributions
                if len(contribution.names) == 1
            ],
            relations=[
                ChunkRelation(
                    source=contribution.names[0],
                    target=contribution.names[1],
                    keywords=list(contribution.keywords),
                    description=contribution.description,
                    weight=contribution.weight,
                )
                for contribution in chunk.contributions
                if len(contribution.names) == 2
            ],
        )


class DocumentChunks(BaseModel):
    """Chunks of a document, in order."""

    document_id: str
    file_path: str
    chunk_count: int
    chunks: list[DocumentChunk]
    after: int | None = Field(
        description="give it as `after` to read on; null when there is no more"
    )
