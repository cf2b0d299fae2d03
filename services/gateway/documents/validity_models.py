"""Requests and answers about when documents hold and what they supersede."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from contracts.values import MAX_SUPERSEDED, Validity
from services.gateway.documents.supersession_rules import Rule, Supersession
from services.gateway.strict_model import Name, StrictModel, Timestamp
from services.query.status.document_status import DocumentStatus

DocumentId = Annotated[Name, Field(min_length=1, max_length=512)]


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
    supersedes: list[DocumentId] = Field(
        default=[], max_length=MAX_SUPERSEDED, description="ids of documents it amends or replaces"
    )
    authority: int = Field(
        default=0,
        ge=-100,
        le=100,
        description="of two in force that contradict each other the greater is preferred",
    )
    coexists_with: list[DocumentId] = Field(
        default=[], max_length=MAX_SUPERSEDED, description="ids of documents it leaves in force"
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
            coexists_with=tuple(dict.fromkeys(self.coexists_with)),
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
    coexists_with: Sequence[str] = Field(description="documents it leaves in force")
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
            coexists_with=validity.coexists_with,
            is_stated=validity is status.stated_validity,
        )


class ValidityStated(BaseModel):
    """The statement is in the log; questions follow within a moment."""

    document_id: str
    sequence: int
    unknown: list[str] = Field(
        description="ids in `supersedes` of which there is no document; should one come, it counts"
    )


class SupersessionDecision(StrictModel):
    """Whether a document supersedes another one, as a person decides."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"supersedes": "policy.md", "is_accepted": True}]},
    )

    supersedes: DocumentId = Field(description="id of the older document")
    is_accepted: bool = Field(
        description="false: both stay in force, and no rule proposes it again"
    )
    reason: str = Field(default="", max_length=1000)


class SupersessionProposal(BaseModel):
    """A document that seems to supersede another one. Nothing follows from it unless accepted."""

    document_id: str
    file_path: str
    supersedes: str
    superseded_file_path: str
    rule: Rule
    evidence: str = Field(description="why it seems so")

    @classmethod
    def of(cls, item: Supersession) -> Self:
        """Return the proposal as the route shows it."""
        return cls(
            document_id=item.successor.id,
            file_path=item.successor.file_path,
            supersedes=item.predecessor.id,
            superseded_file_path=item.predecessor.file_path,
            rule=item.rule,
            evidence=item.evidence,
        )


class SupersessionProposals(BaseModel):
    """What rules see in the names of documents, the surest first."""

    proposals: Sequence[SupersessionProposal]
    looked_at: int = Field(description="documents whose names were compared")
    documents: int = Field(description="documents that there are")
