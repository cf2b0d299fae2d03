"""The routes about what names mean: aliases of one entity, decided or to be decided, and homonyms,
which are split.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from services.gateway.graph import aliases, homonyms
from services.gateway.graph.alias_models import (
    AliasDecisionRequest,
    AliasDecisionResponse,
    AliasEntry,
    AliasProposalEntry,
    SplitRequest,
)
from services.gateway.graph.alias_proposals import AliasSources, proposals
from services.gateway.graph.alias_rules import RULES, AliasRule
from services.gateway.graph.aliases import AliasState
from services.gateway.graph.dependencies import GraphDeps
from services.gateway.graph.editing import EditResult
from services.gateway.graph.models import PENDING_MESSAGE
from services.gateway.graph.routes import CHANGE_RESPONSES, Editor
from services.gateway.workspaces import Workspace

router = APIRouter(tags=["graph"])


@router.get("/graph/aliases")
async def alias_list(
    deps: GraphDeps, editor: Editor, state: AliasState | None = None
) -> list[AliasEntry]:
    """Return what was decided last about each name and entity: accepted, rejected or proposed."""
    edits = await deps.aliases.edits(await editor.partition())
    return [
        AliasEntry.of(alias) for alias in aliases.decided(edits) if state in (None, alias.state)
    ]


@router.get("/graph/aliases/proposals")
async def alias_proposals(
    deps: GraphDeps,
    workspace: Workspace,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    rule: Annotated[list[AliasRule] | None, Query(description="only of these rules")] = None,
) -> list[AliasProposalEntry]:
    """Return undecided aliases that rules find in the names of the graph or others proposed, the
    surest first.
    """
    sources = AliasSources(deps.graph, deps.passages, deps.aliases)
    partitions, _ = await deps.current_partitions.of(workspace)
    new_proposals = await proposals(sources, partitions, limit=limit, rules=rule or RULES)
    return [AliasProposalEntry.of(proposal) for proposal in new_proposals]


@router.post("/graph/aliases", responses=CHANGE_RESPONSES)
async def decide_alias(
    body: AliasDecisionRequest, deps: GraphDeps, editor: Editor, response: Response
) -> AliasDecisionResponse:
    """Accept names as aliases of an entity, reject, propose or undo them. Undone, all is as before,
    at no cost.
    """
    proposal_fields = {"proposed_by": body.proposed_by, "evidence": body.evidence}
    edit_result = await aliases.decide(
        editor, deps.aliases, body.decision, body.names, body.entity, **proposal_fields
    )
    return _decided(
        edit_result,
        response,
        f"{body.decision}: {', '.join(map(repr, body.names))} as {body.entity!r}",
    )


@router.post("/graph/entity/split", operation_id="split_entity", responses=CHANGE_RESPONSES)
async def split_entity(
    body: SplitRequest, deps: GraphDeps, editor: Editor, response: Response
) -> AliasDecisionResponse:
    """Let a name mean another entity in some documents and their later versions. `POST
    /operations/undo` undoes it.
    """
    edit_result = await homonyms.split(
        editor,
        deps.provenance,
        body.entity_name,
        body.new_entity_name,
        body.documents,
        body.evidence,
    )
    message = (
        f"{body.entity_name!r} means {body.new_entity_name!r} in {len(body.documents)} documents"
    )
    return _decided(edit_result, response, message)


def _decided(
    edit_result: EditResult[bool], response: Response, message: str
) -> AliasDecisionResponse:
    response.status_code = 200 if edit_result.result else 202
    return AliasDecisionResponse(
        status="success" if edit_result.result else "pending",
        message=message if edit_result.result else PENDING_MESSAGE.format(edit_result.sequence),
        sequence=edit_result.sequence,
    )
