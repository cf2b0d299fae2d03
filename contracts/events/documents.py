"""What happens to a document on its way to chunks and to what they say."""

from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator

from contracts.access import Access
from contracts.chunking import Chunking
from contracts.events.base import Event
from contracts.ids import UNKNOWN_SOURCE
from contracts.tags import MAX_TAGS, Tag
from contracts.values import (
    KNOWLEDGE_LIMIT,
    MAX_FIGURES,
    BlobRef,
    Chunk,
    ChunkRef,
    CustomKnowledge,
    DocumentVersion,
    DocumentWarnings,
    ExtractedEntity,
    ExtractedRelation,
    Figure,
    Scalar,
    TokenUsage,
    Validity,
    Value,
)


class DocumentAdded(Event):
    """A document exists, or has a new text."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["text"]}, {"required": ["blob"]}, {"required": ["knowledge"]}]
        }
    )

    document_id: str = Field(min_length=1, max_length=512)
    text: str | None = Field(
        default=None, description="inline; longer than 200 KiB goes to KB_BLOBS"
    )
    blob: BlobRef | None = None
    blob_kind: Literal["text", "knowledge"] = Field(
        default="text", description="what `blob` is: a text, or knowledge as JSON"
    )
    knowledge: CustomKnowledge | None = Field(
        default=None, description="instead of a text: what a text would have said"
    )
    file_path: str = Field(default=UNKNOWN_SOURCE, max_length=4096)
    track_id: str | None = Field(default=None, max_length=256)
    metadata: dict[str, Scalar] = Field(default_factory=dict[str, Scalar])
    chunking: Chunking | None = None
    pages: tuple[int, ...] = Field(
        default=(),
        max_length=10_000,
        description="characters of the text as published at which its pages begin",
    )
    warnings: DocumentWarnings = ()
    access: Access | None = Field(
        default=None,
        description=(
            "who may see it; absent: as was said of the document before, and at first everyone of "
            "the workspace"
        ),
    )
    validity: Validity | None = None
    original: BlobRef | None = Field(
        default=None,
        description="the file that the text was read from, kept in KB_BLOBS where that is wanted",
    )
    figures: tuple[Figure, ...] = Field(
        default=(),
        max_length=MAX_FIGURES,
        exclude_if=lambda figures: not figures,
        description="the pictures of the file, as the text names them: [Figure 2: its caption]",
    )

    @model_validator(mode="after")
    def _exactly_one_text(self) -> Self:
        if (self.text, self.blob, self.knowledge).count(None) != 2:
            raise ValueError("give exactly one of `text`, `blob` and `knowledge`")
        if self.knowledge and (size := self.knowledge.size) > KNOWLEDGE_LIMIT:
            raise ValueError(
                f"the knowledge has {size:,} bytes, at most {KNOWLEDGE_LIMIT:,} are taken inside "
                "an event: put it into KB_BLOBS, or split it"
            )
        if self.pages and (self.pages[0] < 0 or list(self.pages) != sorted(self.pages)):
            raise ValueError("`pages` must not be negative and must not go back")
        if self.validity and self.document_id in self.validity.supersedes:
            raise ValueError("a document cannot supersede itself")
        return self

    @property
    def aggregate_id(self) -> str:
        return self.document_id

    @property
    def blobs(self) -> tuple[BlobRef, ...]:
        """What of it stands beside the log."""
        figures = (figure.blob for figure in self.figures)
        return tuple(ref for ref in (self.blob, self.original, *figures) if ref)


class DocumentDeleted(Event):
    """The document is to leave no trace."""

    document_id: str = Field(min_length=1, max_length=512)
    track_id: str | None = None
    reason: str = Field(
        default="", max_length=1000, description="why, in words of who asked for it"
    )

    @property
    def aggregate_id(self) -> str:
        return self.document_id


class AccessChanged(Event):
    """Others may see the document from now on; nothing of it is worked on again."""

    document_id: str = Field(min_length=1, max_length=512)
    access: Access | None = Field(
        default=None, description="who may see it; absent: everyone of the workspace"
    )
    newest_text_only: bool = Field(
        default=False,
        exclude_if=lambda newest_text_only: not newest_text_only,
        description=(
            "true: texts before the newest one keep their lists while anything is left of them"
        ),
    )
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return self.document_id


class SupersessionStated(Event):
    """Somebody says of a document when it holds and what it takes the place of.

    It holds in place of what the document's event says, for this and all later versions of it, up
    to a deletion. Without `validity` it takes back what was stated before.
    """

    document_id: str = Field(min_length=1, max_length=512)
    validity: Validity | None = None
    editor: str = Field(default="", max_length=256, description="who says it")
    reason: str = Field(default="", max_length=1000)

    @model_validator(mode="after")
    def _of_others(self) -> Self:
        if self.validity and self.document_id in self.validity.supersedes:
            raise ValueError("a document cannot supersede itself")
        return self

    @property
    def aggregate_id(self) -> str:
        return self.document_id


class TagsChanged(Event):
    """Somebody gives the document these tags, and no others.

    They hold in place of the `tags` in the document's metadata, for this and all later versions of
    it, up to a deletion.
    """

    document_id: str = Field(min_length=1, max_length=512)
    tags: tuple[Tag, ...] = Field(max_length=MAX_TAGS, description="empty: it has none")
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return self.document_id


class DocumentCancelled(Event):
    """Work on this version of the document is to stop where it stands; a later version is worked on
    as usual.

    What was done by then stays and can be found, until the document is deleted or has a new
    version.
    """

    document: DocumentVersion
    editor: str = Field(default="", max_length=256, description="who asked for it")

    @property
    def aggregate_id(self) -> str:
        return self.document.id


class ErasedEvent(Value):
    """What stays of an event that was erased."""

    sequence: int = Field(ge=1, description="its place in the log, which is empty now")
    sha256: str = Field(
        pattern=r"^[0-9a-f]{64}$", description="its leaf in the hash chain of its workspace"
    )
    is_apart: bool = Field(
        default=False,
        description="it was of questions and answers, which have a hash chain of their own",
    )


class DocumentErased(Event):
    """The document's events and all that was made of them are erased for good; nothing of what it
    said stands here.

    It comes in parts: first those that list the events about to be removed, last the receipt of
    what was removed.
    """

    document_id: str = Field(min_length=1, max_length=512)
    erased: tuple[ErasedEvent, ...] = Field(default=(), max_length=2000)
    part: int = Field(
        default=0, ge=0, description="of this erasure; a part with a receipt is the last"
    )
    counts: dict[str, int] = Field(
        default_factory=dict[str, int], description="what was removed, by store"
    )
    receipt: str | None = Field(
        default=None, pattern=r"^[0-9a-f]{64}$", description="sha256 of the receipt"
    )
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return self.document_id

    @property
    def ordinal(self) -> int:
        return self.part


class ErasureRequested(Event):
    """Somebody who may write asks that the document be erased; an operator has `lightstream erase`
    do it.

    It is erased with the document's other events, so those that stand in the log are still to be
    done.
    """

    document_id: str = Field(min_length=1, max_length=512)
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return self.document_id


class ChunksCreated(Event):
    """One part of a document's chunks."""

    document: DocumentVersion
    part: int = Field(ge=0)
    parts: int | None = Field(
        default=None, ge=1, description="how many there are; the last part says it at the latest"
    )
    chunk_count: int | None = Field(
        default=None, ge=1, description="chunks of the whole document; likewise"
    )
    text_count: int | None = Field(
        default=None,
        ge=1,
        exclude_if=lambda count: count is None,
        description="those of its text, where figures are counted with them; likewise",
    )
    chunks: tuple[Chunk, ...]
    warnings: DocumentWarnings = ()

    @property
    def aggregate_id(self) -> str:
        return self.document.id

    @property
    def ordinal(self) -> int:
        return self.part


class EntitiesExtracted(Event):
    """What one chunk says."""

    document: DocumentVersion
    chunk: ChunkRef
    entities: tuple[ExtractedEntity, ...]
    relations: tuple[ExtractedRelation, ...]
    model: str
    prompt_version: str
    cache_key: str = Field(description="sha256 over model, prompt version and text of the chunk")
    usage: TokenUsage = TokenUsage()
    duration_ms: int = 0
    cached: bool = False
    warnings: DocumentWarnings = ()

    @property
    def aggregate_id(self) -> str:
        return self.document.id

    @property
    def ordinal(self) -> int:
        return self.chunk.order
