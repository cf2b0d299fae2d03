"""Requests and answers about aliases and homonyms. They are ours: LightRAG has none."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from services.gateway.graph.alias_proposals import AliasProposal
from services.gateway.graph.aliases import Alias, AliasState, Decision
from services.gateway.graph.models import Name, Prose
from services.gateway.strict_model import StrictModel


class AliasDecisionRequest(StrictModel):
    """A decision on names that may mean an entity."""

    decision: Decision = Field(examples=["propose"])
    names: list[Name] = Field(min_length=1, max_length=1000, examples=[["A. Marlow"]])
    entity: Name = Field(description="that they mean", examples=["Ada Marlow"])
    proposed_by: Annotated[Prose, Field(max_length=256)] = Field(
        default="", description="`rule:<name>` or `model:<name>`", examples=["rule:surname"]
    )
    evidence: Annotated[Prose, Field(max_length=2000)] = Field(
        default="", description="why they mean it"
    )


class SplitRequest(StrictModel):
    """A name that means another entity in some documents."""

    entity_name: Name = Field(examples=["Mercury"])
    new_entity_name: Name = Field(
        description="of the other entity, which may be there", examples=["Mercury (planet)"]
    )
    documents: list[Annotated[str, Field(min_length=1, max_length=512)]] = Field(
        min_length=1,
        max_length=1000,
        description="ids or file names, which speak of it",
        examples=[["sky.md"]],
    )
    evidence: Annotated[Prose, Field(max_length=2000)] = Field(
        default="", description="why it means another"
    )


class AliasDecisionResponse(BaseModel):
    """A decision that is in the log. `pending`: the graph does not show it yet."""

    status: Literal["success", "pending"]
    message: str
    sequence: int


class AliasEntry(BaseModel):
    """What was decided last about a name and an entity. `at`: microseconds since 1970."""

    name: str
    entity: str
    state: AliasState
    at: int
    editor: str = ""
    proposed_by: str = ""
    evidence: str = ""

    @classmethod
    def of(cls, alias: Alias) -> "AliasEntry":
        """Return the entry of a decision."""
        return cls(
            name=alias.name,
            entity=alias.target,
            state=alias.state,
            at=alias.at,
            editor=alias.editor,
            proposed_by=alias.proposed_by,
            evidence=alias.evidence,
        )


class AliasProposalEntry(BaseModel):
    """A name that may mean an entity. `support`: chunks that speak of one or the other, as far as
    is known.
    """

    name: str
    entity: str
    proposed_by: str
    evidence: str = ""
    support: int = 0

    @classmethod
    def of(cls, proposal: AliasProposal) -> "AliasProposalEntry":
        """Return the entry of a proposal."""
        return cls(
            name=proposal.name,
            entity=proposal.target,
            proposed_by=proposal.proposed_by,
            evidence=proposal.evidence,
            support=proposal.support,
        )
