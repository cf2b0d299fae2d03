"""Requests and answers about when documents hold and what they supersede."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from contracts.values import MAX_SUPERSEDED, Validity
from services.gateway.strict_model import Name, StrictModel, Timestamp
from services.query.status.document_status import DocumentStatus

SupersededId = Annotated[Name, Field(min_length=1, max_length=512)]


class ValidityBody(StrictModel):
    """Since when and until when a document holds, what it supersedes, and its weight."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"valid_from": "2026-05-01T00:00:00Z", "supersedes": ["policy.md"]}]
        },
    )

    valid_from: Timestamp | None = Field(default=None, description="absent: it always held")
    valid_until: Timestamp | None = Field(default=None, description="from then on it does not")
    supersedes: list[SupersededId] = Field(
        default=[], max_length=MAX_SUPERSEDED, description="ids of documents it amends or replaces"
    )
    authority: int = Field(
        default=0,
        ge=-100,
        le=100,
        description="the greater, the weightier; nothing is ordered by it",
    )

    @model_validator(mode="after")
    def _can_be_so(self) -> Self:
        self.validity()
        return self

    def validity(self) -> Validity:
        """Return it as events have it. Raises ValueError for contradictory values."""
        return Validity(
            valid_from=self.valid_from,
            valid_until=self.valid_until,
            supersedes=tuple(dict.fromkeys(self.supersedes)),
            authority=self.authority,
        )


class ValidityStatement(ValidityBody):
    """The same with the reason of whoever states it."""

    reason: str = Field(default="", max_length=1000)


class DocumentValidity(BaseModel):
    """When a document holds, what it supersedes and by what it is superseded."""

    document_id: str
    valid_from: AwareDatetime | None
    valid_until: AwareDatetime | None
    supersedes: Sequence[str]
    superseded_by: Sequence[str] = Field(
        description="documents that say so, whether they hold yet, still, or not"
    )
    authority: int
    is_stated: bool = Field(
        description="true: somebody stated it afterwards; false: as the document was added"
    )

    @classmethod
    def of(cls, status: DocumentStatus, superseded_by: Sequence[str]) -> Self:
        """Return the validity of a document as the status projection has it."""
        validity = status.validity or Validity()
        return cls(
            document_id=status.id,
            valid_from=validity.valid_from,
            valid_until=validity.valid_until,
            supersedes=validity.supersedes,
            superseded_by=superseded_by,
            authority=validity.authority,
            is_stated=validity is status.stated_validity,
        )


class ValidityStated(BaseModel):
    """The statement is in the log; questions follow within a moment."""

    document_id: str
    sequence: int
    unknown: list[str] = Field(
        description="ids in `supersedes` of which there is no document; should one come, it counts"
    )
