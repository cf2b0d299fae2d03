"""Methods about who may see a document."""

from collections.abc import Sequence
from typing import TypedDict

from lightstream_rag.flows import Call, Flow, get, json_body, parse_as, request
from lightstream_rag.models import ResponseModel


class Access(TypedDict, total=False):
    """Who may see a document: `user:…`, `group:…` and `everyone`, who is allowed where `allow` is
    left out; `deny` wins.
    """

    allow: Sequence[str]
    deny: Sequence[str]


class StatedAccess(ResponseModel):
    """Two lists of principals."""

    allow: list[str]
    deny: list[str]


class DocumentAccess(ResponseModel):
    """Who may see a document. `access` None: everyone of the workspace; `changed_at`, `changed_by`:
    when and in whose name that was said, None where it never was; `older_lists`: of older texts, of
    which something is left until the new one is processed, and which must admit who sees it, too.
    """

    document_id: str
    access: StatedAccess | None = None
    changed_at: str | None = None
    changed_by: str | None = None
    older_lists: tuple[StatedAccess, ...] = ()


class AccessExplanation(DocumentAccess):
    """Whether somebody sees a document, and why."""

    principals: list[str]
    is_visible: bool
    reason: str


class AccessChange(ResponseModel):
    """A change that the log has; `is_new` is False where the same was said already."""

    document_id: str
    is_new: bool


def document_access(document_id: str) -> Flow[DocumentAccess]:
    """Return who may see a document. Raises NotFound."""
    return get("/documents/access", parse_as(DocumentAccess), doc_id=document_id)


def change_document_access(
    document_id: str, access: Access | None, *, reason: str = ""
) -> Flow[AccessChange]:
    """Change who may see a document; None: everyone. Nothing of it is extracted again. Raises
    NotFound.
    """
    return request(
        Call(
            "PUT",
            "/documents/access",
            parse_as(AccessChange),
            json_body(access=access, reason=reason),
            params={"doc_id": document_id},
            idempotent=True,
        )
    )


def explain_document_access(
    document_id: str, principals: Sequence[str] = (), *, at: str = "now"
) -> Flow[AccessExplanation]:
    """Return whether somebody of these principals sees a document, or could at a time, and why."""
    return get(
        "/documents/access/explain",
        parse_as(AccessExplanation),
        doc_id=document_id,
        principals=",".join(principals),
        at=at,
    )
