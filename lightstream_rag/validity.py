"""Methods about when documents hold and what they supersede."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict
from urllib.parse import quote

from lightstream_rag.flows import Call, Flow, get, json_body, parse_as, request
from lightstream_rag.models import DocumentValidity, ResponseModel, ValidityStated


class Validity(TypedDict, total=False):
    """Since when and until when a document holds, the ids of the documents that it supersedes and
    that it leaves in force, and its authority: of two in force that contradict each other the
    greater is preferred. Times must have a time zone.
    """

    valid_from: datetime | None
    valid_until: datetime | None
    supersedes: Sequence[str]
    authority: int
    coexists_with: Sequence[str]


class SupersessionProposal(ResponseModel):
    """A document that, by its name, may supersede another one; `evidence` says why."""

    document_id: str
    file_path: str
    supersedes: str
    superseded_file_path: str
    rule: str
    evidence: str = ""


class SupersessionProposals(ResponseModel):
    """Undecided proposals, the surest first; of how many of the documents names were compared."""

    proposals: list[SupersessionProposal]
    looked_at: int
    documents: int


def document_validity(id: str) -> Flow[DocumentValidity]:
    """Return when a document holds, what it supersedes and what supersedes it."""
    return get(_validity_path(id), parse_as(DocumentValidity))


def state_validity(id: str, validity: Validity, *, reason: str = "") -> Flow[ValidityStated]:
    """State when a document holds and what it supersedes, in place of what was said before."""
    body = json_body(**validity, reason=reason)
    return request(Call("PUT", _validity_path(id), parse_as(ValidityStated), body, idempotent=True))


def withdraw_validity(id: str, *, reason: str = "") -> Flow[ValidityStated]:
    """Take back what was stated of a document: what it was added with holds again."""
    return request(
        Call(
            "DELETE",
            _validity_path(id),
            parse_as(ValidityStated),
            params={"reason": reason},
            idempotent=True,
        )
    )


class ContradictingStatement(ResponseModel):
    """What one chunk says."""

    document_id: str
    file_path: str
    chunk_id: str
    statement: str
    authority: int = 0


class ContradictingPair(ResponseModel):
    """Two statements of different documents that seem to contradict each other, that of greater
    authority first.
    """

    first: ContradictingStatement
    second: ContradictingStatement


class Contradictions(ResponseModel):
    """The pairs, and how many descriptions by documents in force were compared."""

    contradictions: list[ContradictingPair]
    looked_at: int


def contradictions(name: str, other: str = "") -> Flow[Contradictions]:
    """Return what documents in force say differently of an entity, or of its relation to the
    other.
    """
    names = {"name": name, **({"other": other} if other else {})}
    return get("/graph/contradictions", parse_as(Contradictions), **names)


def supersession_proposals(
    limit: int = 50, *, rules: Sequence[str] = ()
) -> Flow[SupersessionProposals]:
    """Return documents that, by their names, may supersede others and of which nobody has decided;
    only by `rules` if given.
    """
    return get(
        "/documents/supersessions/proposals",
        parse_as(SupersessionProposals),
        limit=limit,
        **({"rule": list(rules)} if rules else {}),
    )


def decide_supersession(
    id: str, supersedes: str, *, is_accepted: bool, reason: str = ""
) -> Flow[ValidityStated]:
    """Decide that the document supersedes another one, or that both stay in force and no rule
    proposes it again. The other decision takes this one back.
    """
    body = json_body(supersedes=supersedes, is_accepted=is_accepted, reason=reason)
    path = f"{_validity_path(id)}/decisions"
    return request(Call("POST", path, parse_as(ValidityStated), body, idempotent=True))


def _validity_path(id: str) -> str:
    return f"/documents/{quote(id, safe='')}/validity"
