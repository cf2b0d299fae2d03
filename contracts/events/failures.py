"""What went wrong, and what is to be tried again."""

from pydantic import Field

from contracts.events.base import Event, Stage
from contracts.events.graph import GRAPH, SUMMARY_PREFIX
from contracts.values import ChunkRef, DocumentVersion

DOCUMENT_EVENTS = {
    "DocumentAdded",
    "DocumentDeleted",
    "ChunksCreated",
    "FiguresListed",
    "EntitiesExtracted",
    "RetryRequested",
}
"""Events that are always about a document, whatever its id."""


class StageFailed(Event):
    """A stage gave an event up, and why."""

    stage: Stage
    document_id: str
    document: DocumentVersion | None = None
    chunks: tuple[ChunkRef, ...] = ()
    cause_type: str = Field(description="the event that could not be handled")
    error_type: str
    message: str = Field(max_length=2000)
    attempt: int = Field(ge=1)
    retry_may_help: bool
    file_path: str = Field(
        default="", max_length=4096, description="of a document that could not be read, if it said"
    )

    @property
    def aggregate_id(self) -> str:
        return self.document_id

    @property
    def of_graph(self) -> bool:
        """Whether what was given up is about the graph, not a document: an edit, a summary, or what
        follows of one.
        """
        if self.document or self.cause_type in DOCUMENT_EVENTS:
            return False
        is_graph_id = self.document_id == GRAPH or self.document_id.startswith(SUMMARY_PREFIX)
        return is_graph_id or self.cause_type in {"GraphEdited", "DescriptionSummarized"}

    @property
    def ordinal(self) -> int:
        return self.chunks[0].order if self.chunks else 0


class RetryRequested(Event):
    """A failed document, or one of its chunks, is to be tried again."""

    document_id: str
    stage: Stage | None = None
    chunk_id: str | None = None
    reason: str = Field(
        default="", max_length=1000, description="why, in words of who asked for it"
    )

    @property
    def aggregate_id(self) -> str:
        return self.document_id
