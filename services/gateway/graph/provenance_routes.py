"""The route that tells where an entity or a relation comes from."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from services.gateway.auth.viewers import CurrentViewer
from services.gateway.graph.dependencies import GraphDeps
from services.gateway.graph.models import Name
from services.gateway.graph.reading import GraphNow
from services.gateway.graph.sources import Source, sources_of
from services.gateway.promoted_branches import ReadWorkspace
from services.gateway.reference.responses import error_responses
from services.query.lookup.entity_names import existing_names
from services.query.partitions import Partitions
from services.query.status.port import Passages
from services.query.visibility.contributions import PagedContributions

router = APIRouter(tags=["graph"])


class ChunkSource(BaseModel):
    """What one chunk says of it, and where the chunk stands."""

    chunk_id: str
    document_id: str
    file_path: str
    order: int
    start: int | None = Field(
        description="first character of the chunk in the document's text; null where unknown"
    )
    end: int | None = Field(description="the character behind its last one")
    page: int | None = Field(description="page on which it begins, the first being 1")
    names: list[str] = Field(
        description="as the document has them: people may have renamed it since"
    )
    description: str

    @classmethod
    def of(cls, source: Source) -> "ChunkSource":
        """Return the source as answers have it."""
        provenance = source.provenance
        passage = source.passage
        return cls(
            chunk_id=provenance.chunk_id,
            document_id=provenance.document_id,
            file_path=provenance.file_path,
            order=provenance.order,
            start=passage.start if passage else None,
            end=passage.end if passage else None,
            page=passage.page if passage else None,
            names=list(provenance.names),
            description=provenance.description,
        )


class ProvenanceResponse(BaseModel):
    """A page of sources, in a fixed order."""

    sources: list[ChunkSource]
    after: str | None = Field(
        description="give it as `after` to read on; null when there is no more"
    )


@dataclass(frozen=True)
class SeenSources:
    """Where the contributions are read that a viewer sees, and their passages."""

    contributions: PagedContributions
    passages: Passages
    partitions: Partitions


async def seen_sources(
    deps: GraphDeps, workspace: ReadWorkspace, viewer: CurrentViewer
) -> SeenSources:
    """Return the sources that the viewer of the request sees."""
    contributions = await deps.contributions_of(viewer, workspace)
    partitions = Partitions.of(workspace, await deps.pointers.live("status", "graph"))
    return SeenSources(contributions, deps.passages, partitions)


@router.get("/graph/provenance", operation_id="provenance", responses=error_responses(404))
async def list_sources(
    seen: Annotated[SeenSources, Depends(seen_sources)],
    now: GraphNow,
    name: Annotated[Name, Query(examples=["Ada Marlow"])],
    other: Annotated[
        Name | None, Query(description="the other end, for a relation", examples=["Port Elm"])
    ] = None,
    after: Annotated[str, Query(max_length=400, pattern=r"^[!-~]*$")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ProvenanceResponse:
    """Return the chunks that speak of an entity or of a relation, with what each says. None where
    people made it.
    """
    names = (name,) if other is None else (name, other)
    sources = await sources_of(
        seen.contributions, seen.passages, seen.partitions, names, after=after, limit=limit
    )
    if not sources and not after:
        await existing_names(now.graph, now.partition, names)
    last_cursor = sources[-1].provenance.cursor if len(sources) == limit else None
    return ProvenanceResponse(
        sources=[ChunkSource.of(source) for source in sources], after=last_cursor
    )
