"""What the routes of the graph work with."""

from dataclasses import dataclass
from typing import Annotated

from contracts.graph import Partition
from runtime.bus.port import LiveGenerations, Log
from runtime.stores.graph.port import Graph
from services.gateway.dependencies import depends_on
from services.query.partitions import graph_partition
from services.query.retrieval.port import EntityAliases, ProvenanceReader
from services.query.status.current_partitions import CurrentPartitions
from services.query.status.port import Documents, Passages
from services.query.visibility.contributions import PagedContributions
from services.query.visibility.graph import (
    BrowsedGraph,
    RestrictedContributions,
    RestrictedGraph,
    graph_seen_by,
)
from services.query.visibility.port import Visibility
from services.query.visibility.restricted_items import RestrictedItems
from services.query.visibility.viewer import Viewer


@dataclass(frozen=True)
class GraphDependencies:
    """Where the graph is read, and the log that takes edits of it.

    `max_nodes`: the most entities of one answer. `edit_timeout`: seconds that an edit waits for its
    effect.
    """

    log: Log
    pointers: LiveGenerations
    current_partitions: CurrentPartitions
    graph: Graph
    documents: Documents
    visibility: Visibility
    passages: Passages
    provenance: ProvenanceReader
    aliases: EntityAliases
    max_nodes: int
    edit_timeout: float
    restricted_items: RestrictedItems

    async def partition(self, workspace: str) -> Partition:
        """Return where the graph of the workspace is read."""
        return await graph_partition(self.pointers, workspace)

    async def contributions_of(self, viewer: Viewer | None, workspace: str) -> PagedContributions:
        """Return the contributions that the viewer sees."""
        graph = await self.graph_of(viewer, workspace)
        if isinstance(graph, RestrictedGraph):
            return RestrictedContributions(graph)
        return self.provenance

    async def graph_of(self, viewer: Viewer | None, workspace: str) -> BrowsedGraph:
        """Return the graph that the viewer sees."""
        return await graph_seen_by(
            viewer,
            self.graph,
            self.provenance,
            self.visibility,
            workspace,
            self.restricted_items,
        )


GraphDeps = Annotated[GraphDependencies, depends_on(GraphDependencies)]
