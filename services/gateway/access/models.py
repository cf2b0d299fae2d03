"""Requests and answers about who may see a document."""

from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field

from contracts.access import EVERYONE, MAX_PRINCIPALS, Access, PrincipalName
from publishing.access import AccessState
from services.gateway.access.explaining import ordered
from services.gateway.strict_model import StrictModel


class AccessOption(StrictModel):
    """Who may see documents: whoever is allowed by a principal and denied by none."""

    allow: list[PrincipalName] = Field(
        default=[EVERYONE],
        max_length=MAX_PRINCIPALS,
        description="`user:…`, `group:…`, `everyone`; empty: nobody",
        examples=[["group:legal", "user:ann"]],
    )
    deny: list[PrincipalName] = Field(
        default=[], max_length=MAX_PRINCIPALS, description="wins over `allow`"
    )

    def access(self) -> Access:
        """Return it as events have it."""
        return Access(allow=tuple(self.allow), deny=tuple(self.deny))


class AccessChange(StrictModel):
    """Who may see a document from now on. Without `access` everyone of the workspace may."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"access": {"allow": ["group:council"]}, "reason": "closed session"}]
        }
    )

    access: AccessOption | None = None
    reason: str = Field(default="", max_length=1000)


class AccessChanged(BaseModel):
    """A change of access that the log has durably."""

    document_id: str
    is_new: bool = Field(description="false: the same was said already")


class DocumentAccess(BaseModel):
    """Who may see a document."""

    document_id: str
    access: Access | None = Field(description="null: everyone of the workspace")
    changed_at: datetime | None = Field(description="when that was said; null: never")
    changed_by: str | None = Field(description="in whose name, where the log has it")
    older_lists: list[Access] = Field(
        description=(
            "of older texts for others, of which something is left until the new one is "
            "processed: who sees the document is admitted by each of them, too"
        )
    )

    @classmethod
    def of(cls, id: str, state: AccessState) -> "DocumentAccess":
        """Return who may see the document of this id."""
        stated = state.stated
        return cls(
            document_id=id,
            access=state.access,
            changed_at=datetime.fromtimestamp(stated.at / 1e6, UTC) if stated else None,
            changed_by=(stated.actor or None) if stated else None,
            older_lists=ordered(state.texts.older_lists),
        )


class Explanation(DocumentAccess):
    """Whether somebody may see a document, or could at a time, and why."""

    principals: list[str]
    is_visible: bool
    reason: str
