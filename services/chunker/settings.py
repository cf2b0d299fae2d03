"""The chunker's settings."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from contracts.chunking import CHUNKER_PATTERN, LIGHTRAG_LETTERS, LIGHTRAG_NAMES, Chunking
from contracts.text import MAX_TEXT_BYTES
from contracts.values import MAX_FIGURES
from runtime.models.roles import VISION, RoleSettings, language_model, wants_descriptions
from runtime.plugins.chunking import check_chunker
from services.chunker.domain.defaults import ChunkingDefaults
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
    chunk_strategy_workspaces: str = Field(
        default="",
        description="another way in single workspaces, as `legal:paragraph; notes:recursive`",
    )
    chunk_f_size: int | None = Field(default=None, ge=1, description="of `token`")
    chunk_f_overlap_size: int | None = Field(default=None, ge=0, description="of `token`")
    chunk_r_size: int | None = Field(default=None, ge=1, description="of `recursive`")
    chunk_r_overlap_size: int | None = Field(default=None, ge=0, description="of `recursive`")
    chunk_v_size: int | None = Field(default=None, ge=1, description="of `semantic`")
    chunk_v_overlap_size: int | None = Field(default=None, ge=0, description="of `semantic`")
    chunk_p_size: int | None = Field(default=None, ge=1, description="of `paragraph`")
    chunk_p_overlap_size: int | None = Field(default=None, ge=0, description="of `paragraph`")
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

    @field_validator("chunk_strategy_workspaces")
    @classmethod
    def _are_there(cls, text: str) -> str:
        for way in _ways(text).values():
            check_chunker(Chunking.by(way))
        return text

    @model_validator(mode="after")
    def _overlaps_of_ways_are_smaller(self) -> Self:
        for letter, way in LIGHTRAG_LETTERS.items():
            overlap = self._of_way(letter).overlap or 0
            size = self._of_way(letter).size or self.chunk_size
            if overlap > size // 2:
                raise ValueError(
                    f"CHUNK_{letter}_OVERLAP_SIZE {overlap} must be at most half of the {size} "
                    f"tokens of a chunk by {way}"
                )
        return self

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
    def chunking_defaults(self) -> ChunkingDefaults:
        """Return how documents are cut that do not say it, by workspace and way."""
        sizes = {way: self._of_way(letter) for letter, way in LIGHTRAG_LETTERS.items()}
        return ChunkingDefaults(self.chunking, _ways(self.chunk_strategy_workspaces), sizes)

    def _of_way(self, letter: str) -> Chunking:
        """Return size and overlap of a way by its letter, where they are its own."""
        name = f"chunk_{letter.lower()}"
        return Chunking.model_construct(
            size=getattr(self, f"{name}_size"), overlap=getattr(self, f"{name}_overlap_size")
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


def _ways(text: str) -> dict[str, str]:
    """Return ways of cutting by workspace. Raises ValueError for a part that is no pair."""
    ways: dict[str, str] = {}
    for part in filter(str.strip, text.replace(",", ";").split(";")):
        workspace, colon, way = (piece.strip() for piece in part.partition(":"))
        if not (workspace and colon and way):
            raise ValueError(f"{part.strip()!r} is no workspace:way, as legal:paragraph")
        ways[workspace] = LIGHTRAG_NAMES.get(way, way)
    return ways
