"""Bodies and answers of the routes about branches."""

from typing import Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from contracts.chunking import Chunking
from runtime.branches import Branch
from services.gateway.strict_model import StrictModel


class BranchEntry(BaseModel):
    """A branch, and what is other in it; empty and null stand for what is as in its origin."""

    name: str
    workspace: str = Field(description="ask it by this workspace")
    origin: str
    created_at: AwareDatetime
    actor: str
    extract_model: str
    prompt: str
    entity_types: str
    chunking: Chunking | None = None
    sample: int | None = Field(default=None, description="so many documents of it; null: all")
    reason: str
    promoted: bool = Field(description="it answers for its origin")

    @classmethod
    def of(cls, branch: Branch, *, is_promoted: bool) -> Self:
        """Return the branch as the log has it."""
        event = branch.event
        settings = event.settings
        return cls(
            name=branch.name,
            workspace=branch.workspace,
            origin=branch.origin,
            created_at=branch.at,
            actor=branch.actor,
            extract_model=settings.extract_model,
            prompt=settings.prompt,
            entity_types=settings.entity_types,
            chunking=settings.chunking,
            sample=event.sample,
            reason=event.reason,
            promoted=is_promoted,
        )


class RollbackRequest(StrictModel):
    """Why the workspace is to answer itself again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "crews are missing"}]})

    reason: str = Field(default="", max_length=1000)


class RolledBack(BaseModel):
    """The branch that answered, and does no more."""

    rolled_back: str
