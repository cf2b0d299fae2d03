"""The routes about the graph. No logic: a request becomes a call, its result becomes an answer."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from services.gateway.auth.permissions import Principal
from services.gateway.graph import browsing, editing
from services.gateway.graph.dependencies import GraphDeps
from services.gateway.graph.editing import EditResult, GraphEditor
from services.gateway.graph.models import (
    IGNORED_FIELDS,
    DeletionResponse,
    EditResponse,
    EntitiesMergeRequest,
    EntityCreateRequest,
    EntityDeleteRequest,
    EntityUpdateRequest,
    EntityUpdateResponse,
    EntityValues,
    Exists,
    Name,
    RelationCreateRequest,
    RelationDeleteRequest,
    RelationUpdateRequest,
    RelationValues,
    Subgraph,
    deletion_response,
    edit_response,
    operation_summary,
    parse_values,
)
from services.gateway.graph.reading import GraphAsOf, GraphNow
from services.gateway.reference.links import ENTITY, ENTITY_NAMES, RELATION
from services.gateway.reference.responses import Responses, error_responses
from services.gateway.workspaces import Workspace
from services.query.lookup import entity_names

router = APIRouter(tags=["graph"])


async def graph_editor(request: Request, deps: GraphDeps, workspace: Workspace) -> GraphEditor:
    """Return the editor of the workspace's graph for the principal of the request."""
    principal: Principal = request.state.principal
    return GraphEditor(
        deps.log, deps.graph, deps.pointers, workspace, deps.edit_timeout, principal.name
    )


Editor = Annotated[GraphEditor, Depends(graph_editor)]

ACCEPTED: Responses = {202: {"description": "the log has it; the graph does not show it yet"}}
CHANGE_RESPONSES: Responses = {**ACCEPTED, **error_responses(404)}


@router.get("/graph/label/list", responses=ENTITY_NAMES)
async def labels(present: GraphNow) -> list[str]:
    """Return the names of all entities, sorted."""
    return await entity_names.names(present.graph, present.partition)


@router.get("/graph/label/popular")
async def popular(
    present: GraphNow, limit: Annotated[int, Query(ge=1, le=1000)] = 300
) -> list[str]:
    """Return the names of the entities with the most relations."""
    return await present.graph.hubs(present.partition, limit=limit)


@router.get("/graph/label/search")
async def search(
    then: GraphAsOf,
    q: Annotated[str, Query(max_length=512, examples=["elm"])],
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> list[str]:
    """Return the names that contain a text, the most similar first."""
    return await entity_names.search(then.graph, then.partition, q, limit)


@router.get("/graphs", operation_id="graphs")
async def graphs(
    deps: GraphDeps,
    then: GraphAsOf,
    label: Annotated[
        str,
        Query(
            min_length=1,
            max_length=512,
            description="a name, or * for the whole graph",
            examples=["*"],
        ),
    ],
    max_depth: Annotated[int, Query(ge=1, le=100)] = 3,
    max_nodes: Annotated[int, Query(ge=1)] = 1000,
) -> Subgraph:
    """Return the entities around a name and the relations between them, at most MAX_GRAPH_NODES
    entities.
    """
    limit = min(max_nodes, deps.max_nodes)
    part = await browsing.neighbourhood(then.graph, then.partition, label, max_depth, limit)
    return Subgraph.of(part)


@router.get("/graph/entity/exists", operation_id="entity_exists")
async def exists(
    present: GraphNow, name: Annotated[Name, Query(examples=["Ada Marlow"])]
) -> Exists:
    """Return whether an entity of that name exists."""
    known_name = await entity_names.known_name(present.graph, present.partition, name)
    return Exists(exists=bool(await present.graph.entities(present.partition, [known_name])))


@router.post("/graph/entity/create", responses={**ACCEPTED, **ENTITY})
async def create_entity(
    body: EntityCreateRequest, editor: Editor, response: Response
) -> EditResponse:
    """Create an entity."""
    values = parse_values(
        EntityValues, body.entity_data, ignored_names=(*IGNORED_FIELDS, "entity_name")
    ).values()
    edit_result = await editing.create_entity(editor, body.entity_name, values)
    return edit_response(
        _with_status(edit_result, response), f"Entity '{edit_result.key[0]}' created successfully"
    )


@router.post(
    "/graph/entity/edit", operation_id="edit_entity", responses={**CHANGE_RESPONSES, **ENTITY}
)
async def edit_entity(
    body: EntityUpdateRequest, editor: Editor, response: Response
) -> EntityUpdateResponse:
    """Change the values of an entity, rename it, or both."""
    values = parse_values(EntityValues, body.updated_data)
    edit_result = await editing.edit_entity(
        editor, body.entity_name, values.values(), body.rename_options(values)
    )
    answer = edit_response(
        _with_status(edit_result, response),
        "Entity merged successfully" if edit_result.was_merged else "Entity updated successfully",
    )
    return EntityUpdateResponse(
        **answer.model_dump(), operation_summary=operation_summary(edit_result, body.entity_name)
    )


@router.post(
    "/graph/entities/merge", operation_id="merge_entities", responses={**CHANGE_RESPONSES, **ENTITY}
)
async def merge_entities(
    body: EntitiesMergeRequest, editor: Editor, response: Response
) -> EditResponse:
    """Merge several entities into one."""
    edit_result = await editing.merge_entities(
        editor, body.entities_to_change, body.entity_to_change_into
    )
    message = (
        f"Successfully merged {len(body.entities_to_change)} entities into '{edit_result.key[0]}'"
    )
    return edit_response(_with_status(edit_result, response), message)


@router.delete("/graph/entity/delete", operation_id="delete_entity", responses=CHANGE_RESPONSES)
async def delete_entity(
    body: EntityDeleteRequest, editor: Editor, response: Response
) -> DeletionResponse:
    """Hide an entity and its relations, until a later document mentions it."""
    edit_result = await editing.delete_entity(editor, body.entity_name)
    message = (
        f"Entity Delete: remove '{body.entity_name}' and its {edit_result.relations} relations"
    )
    return deletion_response(_with_status(edit_result, response), message)


@router.post(
    "/graph/relation/create",
    operation_id="create_relation",
    responses={**CHANGE_RESPONSES, **RELATION},
)
async def create_relation(
    body: RelationCreateRequest, editor: Editor, response: Response
) -> EditResponse:
    """Create a relation between two entities."""
    values = parse_values(RelationValues, body.relation_data, ignored_names=IGNORED_FIELDS).values()
    edit_result = await editing.create_relation(
        editor, body.source_entity, body.target_entity, values
    )
    message = (
        f"Relation created successfully between '{body.source_entity}' and '{body.target_entity}'"
    )
    return edit_response(_with_status(edit_result, response), message)


@router.post(
    "/graph/relation/edit", operation_id="edit_relation", responses={**CHANGE_RESPONSES, **RELATION}
)
async def edit_relation(
    body: RelationUpdateRequest, editor: Editor, response: Response
) -> EditResponse:
    """Change the values of a relation."""
    values = parse_values(RelationValues, body.updated_data).values()
    edit_result = await editing.edit_relation(editor, body.source_id, body.target_id, values)
    return edit_response(_with_status(edit_result, response), "Relation updated successfully")


@router.delete("/graph/relation/delete", operation_id="delete_relation", responses=CHANGE_RESPONSES)
async def delete_relation(
    body: RelationDeleteRequest, editor: Editor, response: Response
) -> DeletionResponse:
    """Hide a relation, until a later document mentions it."""
    edit_result = await editing.delete_relation(editor, body.source_entity, body.target_entity)
    message = (
        f"Relation Delete: remove the relation between '{body.source_entity}' and "
        f"'{body.target_entity}'"
    )
    return deletion_response(_with_status(edit_result, response), message)


def _with_status(edit_result: EditResult[Any], response: Response) -> EditResult[Any]:
    """Set 202 as the status code while the graph does not show the edit, and return the edit."""
    response.status_code = 200 if edit_result.result else 202
    return edit_result
