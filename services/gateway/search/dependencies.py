"""What the routes of exact search work with."""

from collections.abc import Collection, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query

from contracts.graph import Partition
from runtime.bus.points import FORM
from runtime.bus.port import LiveGenerations
from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.stores.graph.port import Graph
from services.gateway.auth.viewers import CurrentViewer, refuse_past
from services.gateway.connection import while_connected
from services.gateway.dependencies import depends_on
from services.gateway.past.reader import PastReader, WorkspacePast
from services.query.partitions import graph_partition, status_partition
from services.query.past.port import PastDocuments, StoredDocuments
from services.query.retrieval.port import ProvenanceReader
from services.query.status.port import Documents, Passages
from services.query.visibility.documents import documents_seen_by
from services.query.visibility.graph import BrowsedGraph, graph_seen_by
from services.query.visibility.port import Visibility
from services.query.visibility.viewer import Viewer

T = TypeVar("T")

SEARCHES_AT_ONCE = 2
"""Searches that read passages at once, of different workspaces: the others wait for their turn."""


@dataclass(frozen=True)
class SearchDependencies:
    """Where passages and names are read, now and as they were."""

    pointers: LiveGenerations
    documents: Documents
    visibility: Visibility
    passages: Passages
    graph: Graph
    provenance: ProvenanceReader
    past_documents: PastDocuments
    turns: FairSemaphore = field(
        default_factory=lambda: FairSemaphore(SEARCHES_AT_ONCE, most_of_one=1)
    )


SearchDeps = Annotated[SearchDependencies, depends_on(SearchDependencies)]
AsOf = Annotated[str | None, Query(max_length=64, description=f"as it was then: {FORM}")]


@dataclass(frozen=True)
class WorkspaceReader:
    """Reads the workspace of a request as it is (`as_of` None), or as it was, as long as its client
    waits. Each method raises what `PastReader` raises.
    """

    deps: SearchDependencies
    past: PastReader
    as_of: str | None
    viewer: Viewer | None = None

    async def documents(self) -> StoredDocuments:
        """Return its documents and passages."""
        workspace = self.past.workspace
        if self.as_of is None:
            partition = await status_partition(self.deps.pointers, workspace)
            documents = await documents_seen_by(
                self.viewer, self.deps.documents, self.deps.visibility, workspace
            )
            return StoredDocuments(documents, self.deps.passages, partition)
        sequence = await self.past.point(self.as_of)
        return await self.while_connected(self.deps.past_documents.at(workspace, sequence))

    async def visible_ids(self) -> Collection[str] | None:
        """Return the documents to which reading is restricted; None: to none."""
        if self.viewer is None:
            return None
        return (await self.deps.visibility.of(self.past.workspace, self.viewer)).ids

    async def graph(self) -> tuple[BrowsedGraph, Partition]:
        """Return its graph, and the partition in which that is read."""
        if self.as_of is not None:
            return await self.past.graph(await self.past.point(self.as_of))
        workspace = self.past.workspace
        graph = await graph_seen_by(
            self.viewer, self.deps.graph, self.deps.provenance, self.deps.visibility, workspace
        )
        return graph, await graph_partition(self.deps.pointers, workspace)

    async def while_connected(self, work: Coroutine[Any, Any, T]) -> T:
        """See `while_connected` of connections."""
        return await while_connected(self.past.request, work)

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait for a turn to read all passages, and have it until the block ends."""
        return self.deps.turns.hold(self.past.workspace)


async def workspace_reader(
    deps: SearchDeps, past: WorkspacePast, viewer: CurrentViewer, as_of: AsOf = None
) -> WorkspaceReader:
    """Return the reader of a request."""
    if as_of is not None:
        refuse_past(viewer)
    return WorkspaceReader(deps, past, as_of, viewer)


Reader = Annotated[WorkspaceReader, Depends(workspace_reader)]
