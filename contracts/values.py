"""The parts events are made of: chunks, versions, rows of an extraction, revisions, token
counts.
"""

import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from contracts.ids import UNKNOWN_SOURCE
from contracts.text import one_line

Scalar = str | int | float | bool | None

KNOWLEDGE_LIMIT = 200 * 1024
"""Bytes of JSON that knowledge inside its event may take; more of it stands beside the log."""


class Value(BaseModel):
    """A part of an event. Unknown fields are ignored: the writer may be newer than the reader."""

    model_config = ConfigDict(frozen=True, extra="ignore")


PLACE_PATTERN = r"^[a-z0-9_-]{1,64}\.[a-z0-9_-]{1,128}$"
"""Where a long text stands: the workspace's token, a dot, and a name."""


class BlobRef(Value):
    """A text too long for an event, kept in KB_BLOBS among those of its workspace."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of its UTF-8 bytes")
    size: int = Field(ge=0, description="bytes")
    parts: int = Field(ge=1, description="messages `blob.<place>.<0 … parts-1>`")
    place: str | None = Field(
        default=None,
        pattern=PLACE_PATTERN,
        description=(
            "the workspace's token, a dot, and the SHA-256 or another name; absent: the SHA-256 "
            "alone"
        ),
    )

    @property
    def key(self) -> str:
        """Return where its parts stand: the subjects are `blob.<key>.<number>`."""
        return self.place or self.sha256


MAX_FIGURES = 100
"""Figures that one document may have."""

MAX_CAPTION = 300
"""Characters of what a document says of a figure."""

MAX_FIGURE_DESCRIPTION = 8000
"""Characters of what a model says of a figure."""


class FigureRef(Value):
    """A figure of a document as passages name it."""

    number: int = Field(ge=1, description="as the text names it: [Figure 2]")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of the picture's bytes")
    width: int = Field(ge=1, description="pixels")
    height: int = Field(ge=1, description="pixels")
    caption: str = Field(
        default="", max_length=MAX_CAPTION, description="what the document says of it"
    )
    page: int | None = Field(default=None, ge=1, description="where it stands, from 1")
    description: str | None = Field(
        default=None,
        max_length=MAX_FIGURE_DESCRIPTION,
        exclude_if=lambda text: text is None,
        description="what a model says of it, in the passage that this is the text of",
    )


class Figure(FigureRef):
    """A picture of a document, kept in KB_BLOBS among those of its workspace."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    blob: BlobRef
    box: tuple[float, float, float, float] | None = Field(
        default=None,
        description="left, top, right and bottom edge, as shares of the width or height of a page",
    )

    @property
    def ref(self) -> FigureRef:
        """Return it as passages name it."""
        return FigureRef(**{name: getattr(self, name) for name in FigureRef.model_fields})


def figure_label(number: int, caption: str) -> str:
    """Return how a text names its figure of that number."""
    return f"[Figure {number}: {caption}]" if caption else f"[Figure {number}]"


MAX_SUPERSEDED = 100
"""Documents that one document may take the place of."""


class Validity(Value):
    """Since when and until when a document holds, what it takes the place of, and how much weight
    its publisher gives it.

    A document without one has always held, until another takes its place.
    """

    valid_from: AwareDatetime | None = Field(
        default=None, description="from when it holds; absent: it always did"
    )
    valid_until: AwareDatetime | None = Field(
        default=None, description="from when it holds no longer; absent: never"
    )
    supersedes: tuple[Annotated[str, Field(min_length=1, max_length=512)], ...] = Field(
        default=(),
        max_length=MAX_SUPERSEDED,
        description="ids of the documents that it amends or replaces, from `valid_from` on",
    )
    authority: int = Field(
        default=0,
        ge=-100,
        le=100,
        description="of two in force that contradict each other the greater is preferred",
    )
    coexists_with: tuple[Annotated[str, Field(min_length=1, max_length=512)], ...] = Field(
        default=(),
        max_length=MAX_SUPERSEDED,
        description="ids of documents that it leaves in force; no rule proposes them any more",
    )

    @model_validator(mode="after")
    def _can_hold(self) -> Self:
        if self.valid_from and self.valid_until and self.valid_until <= self.valid_from:
            raise ValueError("`valid_until` must be later than `valid_from`")
        if contradictory_ids := sorted({*self.supersedes} & {*self.coexists_with}):
            raise ValueError(f"superseded and in force beside it: {', '.join(contradictory_ids)}")
        return self


MAX_WARNINGS = 20
"""Warnings that one event carries at most, and that a document keeps of each kind of event."""

MAX_WARNING = 500
"""Characters of one warning."""

DocumentWarnings = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=MAX_WARNING)], ...],
    Field(
        max_length=MAX_WARNINGS, description="what may be missing or wrong, in sentences for people"
    ),
]


def document_warnings(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct sentences in their order, each on one line, as many and as long as an
    event may carry.

    Of too many the last says how many more there were.
    """
    lines = dict.fromkeys(
        " ".join(one_line(" ".join(sentence.split())).split()) for sentence in sentences
    )
    distinct = [_shortened(line) for line in lines if line]
    if len(distinct) <= MAX_WARNINGS:
        return tuple(distinct)
    left_out = len(distinct) - MAX_WARNINGS + 1
    return (*distinct[: MAX_WARNINGS - 1], f"{left_out} more warnings")


def _shortened(line: str) -> str:
    return line if len(line) <= MAX_WARNING else line[: MAX_WARNING - 1] + "…"


class DocumentVersion(Value):
    """The version of the document that an event is about."""

    id: str
    version: int = Field(
        description="log sequence of the DocumentAdded; a later text has a higher one"
    )
    added_at: AwareDatetime
    file_path: str = UNKNOWN_SOURCE
    deleted: bool = Field(
        default=False, description="the version is the DocumentDeleted: there is no text any more"
    )


class ChunkRef(Value):
    """A chunk by name and place."""

    id: str
    order: int = Field(ge=0)


class ExtractedEntity(Value):
    """One row of what a chunk says."""

    name: str
    type: str
    description: str
    grounded: bool = Field(default=True, description="the passage contains the name")


class ExtractedRelation(Value):
    """One row of what a chunk says about two entities."""

    source: str
    target: str
    keywords: tuple[str, ...] = ()
    description: str
    weight: float = 1.0
    grounded: bool = Field(default=True, description="the passage contains both names")


class CustomExtraction(Value):
    """Entities and relations of a chunk as the publisher gives them, without a language model."""

    entities: tuple[ExtractedEntity, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()


class Chunk(ChunkRef):
    """A passage of a document."""

    tokens: int = Field(ge=0)
    content: str
    headings: tuple[str, ...] = Field(default=(), description="path of headings, outermost first")
    start: int | None = Field(
        default=None, ge=0, description="its first character, in the sanitised text"
    )
    end: int | None = Field(default=None, ge=0, description="the character behind its last one")
    page: int | None = Field(default=None, ge=1, description="where it begins; the first page is 1")
    page_breaks: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        default=(),
        exclude_if=lambda breaks: not breaks,
        description="characters of it at which the next pages begin",
    )
    given: CustomExtraction | None = Field(
        default=None, description="what it says; it is not extracted then"
    )
    figures: tuple[FigureRef, ...] = Field(
        default=(),
        max_length=MAX_FIGURES,
        exclude_if=lambda figures: not figures,
        description="the figures that stand in it",
    )


class CustomChunk(Value):
    """A ready passage."""

    content: str = Field(min_length=1, max_length=100_000)
    source_id: str = Field(
        default="", max_length=512, description="what entities and relations call it"
    )
    headings: tuple[Annotated[str, Field(max_length=256)], ...] = Field(
        default=(), max_length=16, description="path of headings, outermost first"
    )


class CustomEntity(Value):
    """An entity as the publisher gives it."""

    name: str = Field(min_length=1, max_length=512)
    type: str = Field(default="", max_length=256)
    description: str = Field(default="", max_length=20_000)
    source_id: str = Field(default="", max_length=512, description="the chunk it is from")


class CustomRelation(Value):
    """A relation between two entities as the publisher gives it."""

    source: str = Field(min_length=1, max_length=512)
    target: str = Field(min_length=1, max_length=512)
    description: str = Field(default="", max_length=20_000)
    keywords: tuple[Annotated[str, Field(max_length=256)], ...] = Field(default=(), max_length=64)
    weight: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    source_id: str = Field(default="", max_length=512, description="the chunk it is from")


class CustomKnowledge(Value):
    """Ready passages, entities and relations: a document that is neither cut nor extracted."""

    chunks: tuple[CustomChunk, ...] = ()
    entities: tuple[CustomEntity, ...] = ()
    relations: tuple[CustomRelation, ...] = ()

    @model_validator(mode="after")
    def _is_something(self) -> Self:
        if not (self.chunks or self.entities or self.relations):
            raise ValueError("the knowledge is empty; give at least one chunk, entity or relation")
        return self

    @property
    def size(self) -> int:
        """Return the bytes that it takes as JSON."""
        return len(json.dumps(self.model_dump(), ensure_ascii=False).encode())


_COUNTS = ("prompt", "completion", "cached", "calls")


def _batch_count(description: str) -> Any:
    # Most events have none, and are written as before.
    return Field(default=0, exclude_if=lambda count: count == 0, description=description)


class TokenUsage(Value):
    """What a language model counted."""

    prompt: int = 0
    completion: int = 0
    cached: int = Field(default=0, description="part of `prompt` the provider had cached")
    calls: int = Field(
        default=0, description="calls they were counted in; older releases did not say"
    )
    batch_prompt: int = _batch_count("part of `prompt` that was read in batches")
    batch_completion: int = _batch_count("part of `completion` that was written in batches")
    batch_cached: int = _batch_count("part of `cached` that was read in batches")
    batch_calls: int = _batch_count("calls among them that were lines of batches")

    def __add__(self, usage: "TokenUsage") -> "TokenUsage":
        return TokenUsage(**{name: count + getattr(usage, name) for name, count in self})

    def without(self, usage: "TokenUsage") -> "TokenUsage":
        """Return these counts without those of a part of them."""
        return TokenUsage(**{name: max(0, count - getattr(usage, name)) for name, count in self})

    def as_batch(self) -> "TokenUsage":
        """Return these counts as those of lines of a batch, which have a price of their own."""
        counts = {f"batch_{name}": getattr(self, name) for name in _COUNTS}
        return self.model_copy(update=counts)

    def by_price(self) -> "tuple[TokenUsage, TokenUsage]":
        """Return the part of these counts that was paid at the price of single calls, and the part
        that was paid at that of batches.
        """
        counts = {name: getattr(self, f"batch_{name}") for name in _COUNTS}
        batch_usage = TokenUsage(**counts).as_batch()
        return self.without(batch_usage), batch_usage


class EntityRevision(Value):
    """An entity whose merged state changed. The text itself is in the graph, never in the log."""

    name: str
    revision: int


class RelationRevision(Value):
    """A relation whose merged state changed; `source` and `target` are sorted."""

    source: str
    target: str
    revision: int
