"""The route that tells how two entities are connected."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from contracts.graph import Entity, Relation
from services.gateway.connection import while_connected
from services.gateway.graph.models import Name
from services.gateway.graph.reading import GraphAsOf
from services.gateway.reference.responses import error_responses
from services.query.errors import BadRequest
from services.query.lookup.entity_names import existing_name
from services.query.lookup.paths import Path, Paths, shortest_paths

router = APIRouter(tags=["graph"])

MAX_SOURCES = 10
"""Chunks and files of one relation that are named."""


class PathEntity(BaseModel):
    """An entity on a path."""

    name: str
    type: str
    description: str

    @classmethod
    def of(cls, entity: Entity) -> "PathEntity":
        """Return the entity as answers have it."""
        return cls(name=entity.name, type=entity.type, description=entity.description)


class PathRelation(BaseModel):
    """A relation on a path; it has no direction."""

    source: str
    target: str
    description: str
    keywords: list[str]
    weight: float
    chunk_ids: list[str] = Field(description="chunks that state it, 10 at most")
    file_paths: list[str] = Field(description="files that state it, 10 at most")

    @classmethod
    def of(cls, relation: Relation) -> "PathRelation":
        """Return the relation as answers have it."""
        return cls(
            source=relation.source,
            target=relation.target,
            description=relation.description,
            keywords=list(relation.keywords),
            weight=relation.weight,
            chunk_ids=list(relation.source_ids[:MAX_SOURCES]),
            file_paths=list(relation.file_paths[:MAX_SOURCES]),
        )


class EntityPath(BaseModel):
    """Entities from the source to the target, and the relation between each and the next."""

    entities: list[PathEntity]
    relations: list[PathRelation]

    @classmethod
    def of(cls, path: Path) -> "EntityPath":
        """Return the path as answers have it."""
        return cls(
            entities=list(map(PathEntity.of, path.entities)),
            relations=list(map(PathRelation.of, path.relations)),
        )


class PathsResponse(BaseModel):
    """The shortest paths between two entities, those whose weakest relation is the heaviest
    first.
    """

    length: int | None = Field(
        description="relations of each path; null where the entities are not connected within "
        "`max_length`"
    )
    paths: list[EntityPath]
    is_truncated: bool = Field(
        description="true: there are more, or of an entity with very many relations not all were "
        "followed"
    )

    @classmethod
    def of(cls, paths: Paths) -> "PathsResponse":
        """Return the paths as answers have them."""
        return cls(
            length=len(paths.paths[0].relations) if paths.paths else None,
            paths=list(map(EntityPath.of, paths.paths)),
            is_truncated=paths.is_truncated,
        )


@router.get("/graph/paths", operation_id="graph_paths", responses=error_responses(404))
async def list_paths(
    request: Request,
    then: GraphAsOf,
    source: Annotated[Name, Query(examples=["Ada Marlow"])],
    target: Annotated[Name, Query(examples=["Port Elm"])],
    max_length: Annotated[int, Query(ge=1, le=6, description="relations of a path at most")] = 4,
    limit: Annotated[int, Query(ge=1, le=50, description="paths at most")] = 5,
) -> PathsResponse:
    """Return the shortest paths between two entities, with what states each relation. None where
    they are not connected.
    """
    ends = [await existing_name(then.graph, then.partition, name) for name in (source, target)]
    if ends[0] == ends[1]:
        raise BadRequest(f"source and target are the same entity, {ends[0]!r}: name two")
    paths = shortest_paths(then.graph, then.partition, *ends, max_length=max_length, limit=limit)
    return PathsResponse.of(await while_connected(request, paths))
