"""Sources: places whose documents are kept in step with the log, and how far that is.

They stand on subjects apart (`subjects.QUESTIONS`): no answer and no cache changes with them. They
name documents by their ids, which are hashes, and hold no word of them.
"""

from typing import Annotated, Literal

from pydantic import Field

from contracts.events.base import Event
from contracts.values import Value

SOURCES = "_sources"
"""Aggregate id of the sources of a workspace."""

MAX_SYNCED = 1000
"""Documents that one event names as added, and as gone."""

SourceState = Literal["active", "paused", "forgotten"]
SourceName = Annotated[str, Field(min_length=1, max_length=1024)]
DocumentId = Annotated[str, Field(min_length=1, max_length=512)]


class SourceDocument(Value):
    """A document as its source had it."""

    id: DocumentId
    version: str = Field(
        max_length=128, description="what the source said of it: a hash, a time and a size"
    )


class SourceSynced(Event):
    """Documents of a source were read into the log, or are gone from it."""

    source: SourceName = Field(description="its address, without secrets, or a name")
    documents: tuple[SourceDocument, ...] = Field(
        default=(), max_length=MAX_SYNCED, description="what was read anew"
    )
    removed_ids: tuple[DocumentId, ...] = Field(
        default=(), max_length=MAX_SYNCED, description="what was deleted, as the source has it not"
    )
    cursor: str = Field(
        default="", max_length=256, description="the state of the source, as a commit; empty: none"
    )
    is_end: bool = Field(
        default=True, description="false: a part of a run, of which more is to come"
    )
    item_count: int = Field(default=0, ge=0, description="documents that the source has")
    refusal_count: int = Field(default=0, ge=0, description="documents that could not be read")
    kept_count: int = Field(
        default=0, ge=0, description="gone from the source, and kept as they were too many at once"
    )
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return SOURCES


class SourceSet(Event):
    """Somebody paused a source, resumed it, or forgot it: then nothing of it counts as read."""

    source: SourceName
    state: SourceState
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return SOURCES
