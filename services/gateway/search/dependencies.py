"""What the routes of exact search work with."""

from collections.abc import Collection, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query

from contracts.graph import Partition
from runtime.bus.points import FORM
from runtime.bus.port import LiveGenerations
from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.stores.graph.port import Graph
from services.gateway.connection import while_connected
from services.gateway.dependencies import depends_on
from services.gateway.past.reader import VisiblePast, VisiblePastReader
from services.gateway.promoted_branches import ReadWorkspace
from services.query.lookup.documents import StoredDocuments
from services.query.partitions import graph_partition, status_partition
from services.query.past.port import PastDocuments
from services.query.retrieval.port import ProvenanceReader
from services.query.status.port import Documents, Passages
from services.query.visibility.documents import documents_seen_by
from services.query.visibility.graph import BrowsedGraph, graph_seen_by
from services.query.visibility.port import Visibility, VisibilityAsOf
from services.query.visibility.restricted_items import RestrictedItems

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
    restricted_items: RestrictedItems
    turns: FairSemaphore = field(
        default_factory=lambda: FairSemaphore(SEARCHES_AT_ONCE, most_of_one=1)
    )


SearchDeps = Annotated[SearchDependencies, depends_on(SearchDependencies)]
AsOf = Annotated[str | None, Query(max_length=64, description=f"as it was then: {FORM}")]


@dataclass(frozen=True)
class WorkspaceReader:
    """Reads the workspace of a request as it is (`sequence` None), or as it was, as long as its
    client waits. `workspace`: where it is read. Each method raises what `PastReader` raises.
    """

    deps: SearchDependencies
    past: VisiblePastReader
    sequence: int | None
    workspace: str

    async def documents(self) -> StoredDocuments:
        """Return its documents and passages."""
        workspace = self.workspace
        if self.sequence is None:
            partition = await status_partition(self.deps.pointers, workspace)
            stored = StoredDocuments(self.deps.documents, self.deps.passages, partition)
        else:
            past_documents = self.deps.past_documents
            stored = await self.while_connected(past_documents.at(workspace, self.sequence))
        documents = await documents_seen_by(
            self.past.viewer, stored.documents, self._visibility, workspace
        )
        return replace(stored, documents=documents)

    async def visible_ids(self) -> Collection[str] | None:
        """Return the documents to which reading is restricted; None: to none."""
        if self.past.viewer is None:
            return None
        return (await self._visibility.of(self.workspace, self.past.viewer)).ids

    async def graph(self) -> tuple[BrowsedGraph, Partition]:
        """Return its graph, and the partition in which that is read."""
        if self.sequence is not None:
            return await self.past.graph(self.sequence)
        workspace = self.workspace
        graph = await graph_seen_by(
            self.past.viewer,
            self.deps.graph,
            self.deps.provenance,
            self.deps.visibility,
            workspace,
            self.deps.restricted_items,
        )
        return graph, await graph_partition(self.deps.pointers, workspace)

    @property
    def _visibility(self) -> Visibility:
        """Return what viewers see, now or then."""
        if self.sequence is None:
            return self.deps.visibility
        return VisibilityAsOf(self.deps.visibility, self.sequence)

    async def while_connected(self, work: Coroutine[Any, Any, T]) -> T:
        """See `while_connected` of connections."""
        return await while_connected(self.past.reader.request, work)

    def turn(self) -> AbstractAsyncContextManager[object]:
        """Wait for a turn to read all passages, and have it until the block ends."""
        return self.deps.turns.hold(self.workspace)


async def workspace_reader(
    deps: SearchDeps, past: VisiblePast, present_workspace: ReadWorkspace, as_of: AsOf = None
) -> WorkspaceReader:
    """Return the reader of a request."""
    if as_of is None:
        return WorkspaceReader(deps, past, None, present_workspace)
    return WorkspaceReader(deps, past, await past.point(as_of), past.reader.workspace)


Reader = Annotated[WorkspaceReader, Depends(workspace_reader)]
