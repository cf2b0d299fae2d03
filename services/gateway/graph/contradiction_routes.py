"""The route that tells what documents in force say differently of an entity or a relation."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from services.gateway.auth.viewers import CurrentViewer
from services.gateway.graph.contradictions import MAX_SOURCES, Contradiction, contradictions
from services.gateway.graph.dependencies import GraphDeps
from services.gateway.graph.models import Name
from services.gateway.graph.reading import GraphNow
from services.gateway.graph.sources import Source, sources_of
from services.gateway.promoted_branches import ReadWorkspace
from services.gateway.reference.responses import error_responses
from services.query.lookup.entity_names import existing_names
from services.query.partitions import Partitions
from services.query.status.standings import ValidityRegister, validity_register

router = APIRouter(tags=["graph"])


class ContradictingStatement(BaseModel):
    """What one chunk says."""

    document_id: str
    file_path: str
    chunk_id: str
    statement: str
    authority: int = Field(description="of its document; the greater, the weightier")

    @classmethod
    def of(cls, source: Source, statement: str, authority: int) -> "ContradictingStatement":
        """Return the statement with its place."""
        place = source.provenance
        return cls(
            document_id=place.document_id,
            file_path=place.file_path,
            chunk_id=place.chunk_id,
            statement=statement,
            authority=authority,
        )


class ContradictingPair(BaseModel):
    """Two statements of different documents that seem to contradict each other, that of greater
    authority first.
    """

    first: ContradictingStatement
    second: ContradictingStatement

    @classmethod
    def of(cls, contradiction: Contradiction, register: ValidityRegister) -> "ContradictingPair":
        """Return the pair as the route shows it."""
        statements = [
            ContradictingStatement.of(
                source, text, register.authority(source.provenance.document_id)
            )
            for source, text in contradiction.statements
        ]
        weightier_first = sorted(statements, key=lambda statement: -statement.authority)
        return cls(first=weightier_first[0], second=weightier_first[1])


class ContradictionsResponse(BaseModel):
    """Told by quantities and negations alone: some may be none, and others are not seen."""

    contradictions: Sequence[ContradictingPair]
    looked_at: int = Field(
        description=f"descriptions by documents in force that were compared; {MAX_SOURCES} at most"
    )


@router.get("/graph/contradictions", responses=error_responses(404))
async def list_contradictions(
    deps: GraphDeps,
    workspace: ReadWorkspace,
    viewer: CurrentViewer,
    now: GraphNow,
    name: Annotated[Name, Query(examples=["Ada Marlow"])],
    other: Annotated[
        Name | None, Query(description="the other end, for a relation", examples=["Port Elm"])
    ] = None,
) -> ContradictionsResponse:
    """Return what documents that are in force today say differently of an entity or a relation."""
    partitions = Partitions.of(workspace, await deps.pointers.live("status", "graph"))
    given_names = (name,) if other is None else (name, other)
    names = await existing_names(now.graph, now.partition, given_names)
    sources = await sources_of(
        await deps.contributions_of(viewer, workspace),
        deps.passages,
        partitions,
        names,
        after="",
        limit=MAX_SOURCES,
    )
    visible = await deps.visibility.of(workspace, viewer) if viewer else None
    ids = {source.provenance.document_id for source in sources}
    register = await validity_register(
        deps.documents, partitions.status, ids, datetime.now(UTC), visible.ids if visible else None
    )
    outdated = register.standings(ids)
    in_force = [source for source in sources if source.provenance.document_id not in outdated]
    return ContradictionsResponse(
        contradictions=[ContradictingPair.of(pair, register) for pair in contradictions(in_force)],
        looked_at=len(in_force),
    )
