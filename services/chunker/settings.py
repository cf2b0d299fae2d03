"""The chunker's settings."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from contracts.chunking import CHUNKER_PATTERN, Chunking
from contracts.text import MAX_TEXT_BYTES
from contracts.values import MAX_FIGURES
from runtime.models.roles import VISION, RoleSettings, language_model, wants_descriptions
from runtime.plugins.chunking import check_chunker
from services.chunker.domain.document import MAX_CHUNKS
from services.chunker.domain.figures import FigureLimits


class ChunkerSettings(RoleSettings):
    """LightRAG's names and defaults."""

    chunk_size: int = Field(default=1200, ge=1, description="tokens")
    chunk_overlap_size: int = Field(default=100, ge=0, description="tokens")
    chunk_strategy: str = Field(
        default="token",
        pattern=CHUNKER_PATTERN,
        description=(
            "`token`, `recursive`, `paragraph`, `semantic`, or a chunker of an installed package"
        ),
    )
    max_text_bytes: int = Field(
        default=MAX_TEXT_BYTES, ge=1, description="longest text of a document"
    )

    max_chunks_per_document: int = Field(
        default=MAX_CHUNKS,
        ge=1,
        description="a document that would make more fails, before any is extracted",
    )

    vlm_max_image_bytes: int = Field(
        default=5 * 1024 * 1024, ge=1, description="of a figure that is described"
    )
    vlm_min_image_pixel: int = Field(
        default=64, ge=1, description="sides of a figure that is described, at least"
    )
    vlm_max_figures: int = Field(
        default=MAX_FIGURES,
        ge=0,
        le=MAX_FIGURES,
        description="figures of a document that are described",
    )

    figure_describer: Literal["embedded", "apart"] = Field(
        default="embedded",
        description="who has figures described: this process, or one of its own",
    )

    @field_validator("chunk_strategy")
    @classmethod
    def _is_there(cls, name: str) -> str:
        check_chunker(Chunking.by(name))
        return name

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> Self:
        if self.chunk_overlap_size > self.chunk_size // 2:
            raise ValueError(
                f"CHUNK_OVERLAP_SIZE {self.chunk_overlap_size} must be at most half of CHUNK_SIZE"
            )
        return self

    @property
    def chunking(self) -> Chunking:
        """Return the chunking of documents that set none themselves."""
        return Chunking.by(
            self.chunk_strategy, size=self.chunk_size, overlap=self.chunk_overlap_size
        )

    @property
    def describes_figures(self) -> bool:
        """Return whether figures are listed to be described; a process apart has the model."""
        if self.figure_describer == "apart":
            return wants_descriptions(self)
        return language_model(self, VISION) is not None

    @property
    def figure_limits(self) -> FigureLimits:
        """Return which figures are described, where a model is there for it."""
        return FigureLimits(
            self.vlm_max_figures, self.vlm_max_image_bytes, self.vlm_min_image_pixel
        )
