"""What becomes of the figures of a document where a model describes them."""

from pydantic import Field

from contracts.events.base import Event
from contracts.values import (
    MAX_FIGURE_DESCRIPTION,
    MAX_FIGURES,
    ChunkRef,
    DocumentVersion,
    Figure,
    TokenUsage,
    Value,
)


class ListedFigure(Value):
    """A figure that waits for a description, and the chunk that this becomes."""

    figure: Figure
    chunk: ChunkRef
    headings: tuple[str, ...] = Field(
        default=(), description="path of headings where it stands, outermost first"
    )


class FiguresListed(Event):
    """These figures of a document wait for a description.

    Each becomes a chunk, and a part of ChunksCreated, behind those of the document's text, which
    are counted with them.
    """

    document: DocumentVersion
    figures: tuple[ListedFigure, ...] = Field(min_length=1, max_length=MAX_FIGURES)
    parts: int = Field(ge=1, description="of the whole document; the last ones are the figures'")
    chunk_count: int = Field(ge=1, description="chunks of the whole document")
    text_count: int | None = Field(
        default=None,
        ge=1,
        exclude_if=lambda count: count is None,
        description="those of its text; older releases did not say",
    )

    @property
    def aggregate_id(self) -> str:
        return self.document.id

    @property
    def chunks(self) -> tuple[ChunkRef, ...]:
        """The chunks that the descriptions become."""
        return tuple(listed_figure.chunk for listed_figure in self.figures)


class FigureDescribed(Event):
    """What a model sees in a figure of a document."""

    document: DocumentVersion
    number: int = Field(ge=1, description="as the text names it: [Figure 2]")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of the picture's bytes")
    chunk: ChunkRef
    text: str = Field(min_length=1, max_length=MAX_FIGURE_DESCRIPTION)
    model: str
    prompt_version: str
    cache_key: str = Field(description="sha256 over model, prompt version, picture and caption")
    usage: TokenUsage = TokenUsage()
    duration_ms: int = 0
    cached: bool = False

    @property
    def aggregate_id(self) -> str:
        return self.document.id

    @property
    def ordinal(self) -> int:
        return self.number
