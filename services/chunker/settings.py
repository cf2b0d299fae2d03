"""The chunker's settings."""

from typing import Self

from pydantic import Field, model_validator

from contracts.text import MAX_TEXT_BYTES
from contracts.values import Chunking, Strategy
from runtime.settings import Settings
from services.chunker.domain.document import MAX_CHUNKS


class ChunkerSettings(Settings):
    """LightRAG's names and defaults."""

    chunk_size: int = Field(default=1200, ge=1, description="tokens")
    chunk_overlap_size: int = Field(default=100, ge=0, description="tokens")
    chunk_strategy: Strategy = Field(default="token", description="`token` or `recursive`")
    max_text_bytes: int = Field(
        default=MAX_TEXT_BYTES, ge=1, description="longest text of a document"
    )

    max_chunks_per_document: int = Field(
        default=MAX_CHUNKS,
        ge=1,
        description="a document that would make more fails, before any is extracted",
    )

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
        return Chunking(
            size=self.chunk_size, overlap=self.chunk_overlap_size, strategy=self.chunk_strategy
        )
