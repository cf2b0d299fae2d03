"""The routes about conversations: everybody reads and changes those of their own account alone."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Request

from contracts.ids import sha256
from contracts.subjects import token
from runtime.errors import NotFound
from services.gateway.auth.permissions import Principal
from services.gateway.auth.viewers import shows_no_documents
from services.gateway.conversations.dependencies import ConversationDeps
from services.gateway.conversations.models import (
    ConversationEntry,
    ConversationList,
    ConversationRemoval,
    ConversationRequest,
)
from services.gateway.conversations.store import Conversation
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.errors import Conflict

router = APIRouter(tags=["conversations"])

ConversationId = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$", examples=["m2k4c1-0f9a7b3e"])
]

NAMED = ("user:", "key:")
"""What the names of principals begin with that are an account or a key of their own."""


@router.get("/conversations")
@shows_no_documents
async def conversations(
    request: Request, deps: ConversationDeps, workspace: Workspace
) -> ConversationList:
    """Return what the caller asked before in this workspace, by conversation, without answers."""
    owner = _owner(request, workspace)
    of_owner = await deps.of(owner) if owner else []
    entries = [ConversationEntry.model_validate(asdict(conversation)) for conversation in of_owner]
    return ConversationList(are_kept=owner is not None, conversations=entries)


@router.put("/conversations/{id}", responses=error_responses(409))
@shows_no_documents
async def keep_conversation(
    request: Request,
    id: ConversationId,
    body: ConversationRequest,
    deps: ConversationDeps,
    workspace: Workspace,
) -> ConversationEntry:
    """Keep a conversation for the caller's account; the right to read is enough."""
    owner = _owner(request, workspace)
    if owner is None:
        raise Conflict(
            "conversations are kept for accounts and keys, and this request has neither: sign in, "
            "or keep them yourself"
        )
    conversation = Conversation(id=id, **body.model_dump())
    await deps.keep(owner, conversation)
    return ConversationEntry.model_validate(asdict(conversation))


@router.delete("/conversations/{id}", responses=error_responses(404))
@shows_no_documents
async def remove_conversation(
    request: Request, id: ConversationId, deps: ConversationDeps, workspace: Workspace
) -> ConversationRemoval:
    """Remove a conversation of the caller."""
    owner = _owner(request, workspace)
    if owner is None or not await deps.remove(owner, id):
        raise NotFound(f"no conversation of yours is called {id}: GET /conversations lists them")
    return ConversationRemoval(id=id)


def _owner(request: Request, workspace: str) -> str | None:
    """Return the key of whose conversations a request is about, None for nobody's: its account, or
    whom an application asks for.
    """
    principal: Principal = request.state.principal
    if not principal.name.startswith(NAMED):
        return None
    viewer = request.state.viewer
    other_owners = viewer.principals if viewer and viewer != principal.viewer else ()
    return f"{token(workspace)}.{sha256(chr(10).join((principal.name, *other_owners)))[:40]}"
