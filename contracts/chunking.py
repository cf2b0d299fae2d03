"""How a document is cut into chunks."""

from typing import Any, Literal, Self, get_args

from pydantic import Field, model_validator

from contracts.values import Value

Strategy = Literal["token", "recursive"]

OwnChunker = Literal["paragraph", "semantic"]
"""Ways of cutting that came after `Strategy` was closed: older readers refuse the document by the
name, and not the event.
"""

OWN_CHUNKERS = get_args(OwnChunker)
STRATEGIES = (*get_args(Strategy), *OWN_CHUNKERS)
"""Names of all ways of cutting that need no other package."""

LIGHTRAG_NAMES = {
    "fixed_token": "token",
    "recursive_character": "recursive",
    "semantic_vector": "semantic",
    "paragraph_semantic": "paragraph",
}
"""LightRAG's names of ways of cutting → ours."""

LIGHTRAG_LETTERS = {"F": "token", "R": "recursive", "V": "semantic", "P": "paragraph"}
"""LightRAG's letters of ways of cutting in LIGHTRAG_PARSER → ours."""

CHUNKER_PATTERN = r"^[a-z][a-z0-9_.-]{0,63}$"
"""The name of a chunker."""


class Chunking(Value):
    """How one document is to be cut; what is not said here is the service's setting.

    `chunker` goes before `strategy`, which readers of before it was added go by.
    """

    size: int | None = Field(default=None, ge=1, description="tokens")
    overlap: int | None = Field(default=None, ge=0, description="tokens")
    strategy: Strategy | None = Field(
        default=None,
        description=(
            "`token`: windows of tokens; `recursive`: at ends of paragraphs, lines, sentences …"
        ),
    )
    chunker: str | None = Field(
        default=None,
        pattern=CHUNKER_PATTERN,
        description=(
            "who cuts in place of `strategy`: `paragraph`, `semantic`, or a chunker of an "
            "installed package"
        ),
    )
    split_by_character: str | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="cut at this string first; needs the strategy `token`",
    )
    split_by_character_only: bool = Field(
        default=False, description="refuse a piece that is longer than `size`"
    )

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        if self.size is not None and self.overlap is not None and self.overlap >= self.size:
            raise ValueError(f"overlap {self.overlap} must be smaller than size {self.size}")
        if self.split_by_character_only and self.split_by_character is None:
            raise ValueError("split_by_character_only needs split_by_character")
        if self.split_by_character is not None and self.strategy == "recursive":
            raise ValueError(
                "split_by_character needs the strategy `token`: `recursive` has separators of "
                "its own"
            )
        if self.split_by_character is not None and self.chunker is not None:
            raise ValueError(
                "split_by_character needs the strategy `token`: a chunker has rules of its own"
            )
        return self

    def __str__(self) -> str:
        """Return in words what is said here: `by paragraph, of 100 tokens, 10 shared`."""
        name = self.chunker or self.strategy
        parts = [f"by {name}"] if name else []
        parts += [f"of {self.size} tokens"] if self.size is not None else []
        parts += [f"{self.overlap} shared"] if self.overlap is not None else []
        parts += [f"split at {self.split_by_character!r}"] if self.split_by_character else []
        return ", ".join(parts) or "as usual"

    @classmethod
    def by(cls, name: str | None, **values: Any) -> Self:
        """Return the chunking by a strategy or else a chunker of that name, ours or LightRAG's."""
        if name is not None:
            name = LIGHTRAG_NAMES.get(name, name)
            values["strategy" if name in get_args(Strategy) else "chunker"] = name
        return cls.model_validate(values)

    def bounded(self) -> Self:
        """The same. Raises ValueError for an overlap of more than half the size: it multiplies what
        is paid for.

        It is no rule of the value itself, so that events of before it was made can still be read.
        """
        if self.size is not None and self.overlap is not None and self.overlap > self.size // 2:
            max_overlap = self.size // 2
            raise ValueError(
                f"overlap {self.overlap} is more than half of size {self.size}: give at most "
                f"{max_overlap}"
            )
        return self

    def over(self, defaults: "Chunking") -> "Chunking":
        """What is said here, and the rest from `defaults`; of their overlap no more than half of a
        size said here.

        Raises ValueError where the two do not go together.
        """
        values = self.model_dump(exclude_none=True)
        if self.split_by_character is not None:
            values["strategy"] = "token"
        if self.size is not None and self.overlap is None and defaults.overlap is not None:
            values["overlap"] = min(defaults.overlap, self.size // 2)
        default_values = defaults.model_dump(exclude_none=True)
        if "strategy" in values and default_values.pop("chunker", None):
            default_values.pop("strategy", None)
        return Chunking.model_validate({**default_values, **values})
