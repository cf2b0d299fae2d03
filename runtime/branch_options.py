"""What whoever asks for a branch may say of it: the one list of its options, for the command, the
HTTP API and the process that takes orders.
"""

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from contracts.chunking import STRATEGIES, Chunking
from contracts.events import BranchSettings
from contracts.events.branches import MAX_INSTRUCTIONS
from runtime.errors import ConfigurationError

NOTHING_OTHER = (
    "say what is to be other: extract_model, prompt, entity_types, chunk_size, chunk_overlap or "
    "chunking"
)
"""Of options by which a branch would be as its origin."""


def check_instructions(text: str) -> None:
    """Raise ValueError for instructions that do not tell the model the form in which answers are
    read.
    """
    if "{form}" not in text:
        raise ValueError(
            "the prompt lacks {form}, where it is told in which form answers are read; it may have "
            "{types}, {rows}, {entities}, {language} and {examples}, too"
        )


class BranchOptions(BaseModel):
    """A branch that is asked for: what is to be other in it, and what it may cost. What is left out
    is as in its origin.
    """

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1, max_length=64, description="a-z, 0-9, _ and -")
    extract_model: str = Field(
        default="", max_length=256, description="at the endpoint that extracts"
    )
    prompt: str = Field(
        default="", max_length=MAX_INSTRUCTIONS, description="instructions, with {form}"
    )
    entity_types: str = Field(
        default="", max_length=MAX_INSTRUCTIONS, description="YAML, as ENTITY_TYPE_PROMPT_FILE has"
    )
    chunk_size: int | None = Field(default=None, ge=1, description="tokens of a chunk")
    chunk_overlap: int | None = Field(default=None, ge=0, description="tokens that two share")
    chunking: str = Field(
        default="",
        max_length=64,
        description="token, recursive, paragraph, semantic, or that of a plugin",
    )
    sample: int | None = Field(default=None, ge=1, description="so many documents; null: all")
    budget: float | None = Field(
        default=None, ge=0, le=1e12, description="what it may cost, in money"
    )
    budget_tokens: int | None = Field(default=None, ge=0, le=10**15)

    @field_validator("prompt")
    @classmethod
    def _names_form(cls, prompt: str) -> str:
        if prompt:
            check_instructions(prompt)
        return prompt

    @field_validator("entity_types")
    @classmethod
    def _is_guidance(cls, entity_types: str) -> str:
        if entity_types:
            # Who has no types of its own reads no YAML.
            from runtime.extraction_guidance import parse_guidance  # noqa: PLC0415

            try:
                parse_guidance(entity_types.encode(), "the branch's entity types")
            except ConfigurationError as error:
                raise ValueError(str(error)) from None
        return entity_types

    @field_validator("chunk_overlap")
    @classmethod
    def _fits(cls, overlap: int | None, info: ValidationInfo) -> int | None:
        Chunking.model_construct(size=info.data.get("chunk_size"), overlap=overlap).bounded()
        return overlap

    @field_validator("chunking")
    @classmethod
    def _exists(cls, name: str) -> str:
        if name:
            # Who carries options to a command checks none of them, and needs no packages.
            from runtime.plugins.chunking import check_chunker  # noqa: PLC0415

            try:
                chunking = Chunking.by(name)
            except ValidationError:
                strategies = ", ".join(STRATEGIES)
                raise ValueError(f"there is no strategy {name!r}, but {strategies}") from None
            check_chunker(chunking)
        return name

    @property
    def settings(self) -> BranchSettings:
        """Return what is other, as the log has it."""
        chunking = Chunking.by(
            self.chunking or None, size=self.chunk_size, overlap=self.chunk_overlap
        )
        return BranchSettings(
            extract_model=self.extract_model,
            prompt=self.prompt,
            entity_types=self.entity_types,
            chunking=None if chunking == Chunking() else chunking,
        )

    @property
    def has_difference(self) -> bool:
        """Return whether anything is other than in the origin."""
        return self.settings != BranchSettings()
