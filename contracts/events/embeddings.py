"""Which model embeds the texts of a workspace."""

from pydantic import Field

from contracts.events.base import Event

EMBEDDING = "_embedding"
"""Aggregate id of what is said of the embedding model of a workspace."""


class EmbeddingModelChosen(Event):
    """A workspace and its branches have vectors of this model from now on, whatever the others
    have; without a name those of the whole stack again.
    """

    model: str = Field(
        default="", max_length=200, description="as EMBEDDING_MODEL names it; empty: the stack's"
    )
    dimension: int = Field(default=0, ge=0, le=65536, description="numbers of a vector of it")
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return EMBEDDING
