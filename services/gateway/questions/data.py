"""`POST /query/data`: the retrieved data without an answer, in LightRAG's shape."""

from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from contracts.graph import Entity, Relation
from contracts.ids import SEPARATOR
from contracts.text import one_line
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.connection import while_connected
from services.gateway.questions.dependencies import QuestionDeps
from services.gateway.questions.models import QueryRequest, mode_choice
from services.gateway.questions.routes import (
    QUERY_RESPONSES,
    place_of,
    question_request,
    reader_of_past,
)
from services.gateway.questions.standings import outdated_sources, outweighed_statements
from services.gateway.reference.responses import DESCRIPTIONS, Problem, Responses
from services.gateway.workspaces import Workspace
from services.query.passage import Passage
from services.query.questions.port import RetrievedData
from services.query.retrieval.results import RetrievalResult

router = APIRouter()

PATH = "/query/data"


class QueryData(BaseModel):
    """The retrieved data, and how it was found."""

    status: Literal["success", "failure"]
    message: str
    data: dict[str, Any] = Field(description="entities, relationships, chunks, references")
    metadata: dict[str, Any] = Field(
        description=(
            "query_mode, keywords, processing_info, token_budget; "
            "outdated_sources and outweighed_statements, if any"
        )
    )


DATA_RESPONSES: Responses = {
    **QUERY_RESPONSES,
    400: {"model": QueryData | Problem, "description": DESCRIPTIONS[400]},
}


@router.post(PATH, tags=["query"], responses=DATA_RESPONSES)
async def query_data(
    body: QueryRequest,
    deps: QuestionDeps,
    workspace: Workspace,
    request: Request,
    response: Response,
    viewer: CurrentViewer,
) -> QueryData:
    """Return the data that a question retrieves: entities, relationships, passages and their
    files.
    """
    place = await place_of(body, deps, workspace, response, request)
    retrieving = deps.questions.retrieve(question_request(body, place, viewer))
    retrieved = await while_connected(reader_of_past(body, request), retrieving)
    if not retrieved.retrieval and retrieved.mode != "bypass":
        return no_results(retrieved)
    return response_data(retrieved)


def response_data(retrieved: RetrievedData) -> QueryData:
    """Return the answer for a result that is not empty, with the tokens it takes of the budget."""
    retrieval = retrieved.retrieval
    return QueryData(
        status="success",
        message="Query executed successfully",
        data={
            "entities": [_entity(entity) for entity in retrieval.entities],
            "relationships": [_relation(relation) for relation in retrieval.relations],
            "chunks": [_chunk(id, passage, retrieval) for id, passage in retrieval.passages],
            "references": [
                {"reference_id": id, "file_path": path} for path, id in retrieval.references.items()
            ],
        },
        metadata={
            "query_mode": retrieved.mode,
            "keywords": {
                "high_level": retrieval.keywords.high,
                "low_level": retrieval.keywords.low,
            },
            "processing_info": dict(retrieval.info),
            "token_budget": retrieved.tokens,
            **_validity(retrieval),
        },
    )


def _validity(retrieval: RetrievalResult) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    if sources := outdated_sources(retrieval):
        metadata["outdated_sources"] = [source.model_dump(mode="json") for source in sources]
    if statements := outweighed_statements(retrieval):
        metadata["outweighed_statements"] = [item.model_dump() for item in statements]
    return metadata


def no_results(retrieved: RetrievedData) -> QueryData:
    """Return the answer for an empty result; clients read `failure_reason`."""
    naive = retrieved.mode == "naive"
    return QueryData(
        status="failure",
        message="No relevant document chunks found." if naive else "Query returned no results",
        data={},
        metadata={
            "failure_reason": "no_results",
            "mode": retrieved.mode,
            **mode_choice(retrieved.retrieval),
        },
    )


def failure_body(message: str) -> dict[str, Any]:
    """Return the body of the 400 for an invalid request."""
    return {"status": "failure", "message": message, "data": {}, "metadata": {}}


def _entity(entity: Entity) -> dict[str, Any]:
    return {"entity_name": entity.name, "entity_type": entity.type, **_common_fields(entity)}


def _relation(relation: Relation) -> dict[str, Any]:
    return {
        "src_id": relation.source,
        "tgt_id": relation.target,
        "keywords": ",".join(relation.keywords),
        "weight": relation.weight,
        **_common_fields(relation),
    }


def _common_fields(value: Entity | Relation) -> dict[str, Any]:
    return {
        "description": value.description,
        "source_id": SEPARATOR.join(value.source_ids),
        "file_path": SEPARATOR.join(map(one_line, value.file_paths)),
        "created_at": value.created_at,
    }


def _chunk(reference: str, passage: Passage, retrieval: RetrievalResult) -> dict[str, Any]:
    doubles = [
        {"file_path": double.file_path, "chunk_id": double.id, "document_id": double.document_id}
        for double in retrieval.doubles.get(passage.id, ())
    ]
    figures = [figure.model_dump() for figure in passage.figures]
    return {
        "reference_id": reference,
        "content": passage.content,
        "file_path": passage.file_path,
        "chunk_id": passage.id,
        "document_id": passage.document_id,
        "headings": passage.headings,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        **({"page_breaks": passage.page_breaks} if passage.page_breaks else {}),
        **({"also_in": doubles} if doubles else {}),
        **({"figures": figures} if figures else {}),
    }
