"""The chunker's settings."""

from typing import Self

from pydantic import Field, field_validator, model_validator

from contracts.chunking import CHUNKER_PATTERN, Chunking
from contracts.text import MAX_TEXT_BYTES
from runtime.plugins.chunking import check_chunker
from runtime.settings import Settings
from services.chunker.domain.document import MAX_CHUNKS


class ChunkerSettings(Settings):
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
