"""The graph that a request reads: as it is, or as it was."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from contracts.graph import Partition
from runtime.bus.points import FORM
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.graph.dependencies import GraphDeps
from services.gateway.past.reader import VisiblePast
from services.gateway.promoted_branches import ReadWorkspace
from services.query.visibility.graph import BrowsedGraph

AsOf = Annotated[str | None, Query(max_length=64, description=f"the graph as it was then: {FORM}")]


@dataclass(frozen=True)
class RequestedGraph:
    """A graph and the partition in which it is read."""

    graph: BrowsedGraph
    partition: Partition


async def present_graph(
    deps: GraphDeps, workspace: ReadWorkspace, viewer: CurrentViewer
) -> RequestedGraph:
    """Return the graph of the request's workspace as it is, and as its viewer sees it."""
    graph = await deps.graph_of(viewer, workspace)
    return RequestedGraph(graph, await deps.partition(workspace))


GraphNow = Annotated[RequestedGraph, Depends(present_graph)]
"""What the routes of the graph as it is work with."""


async def requested_graph(
    present: GraphNow, past: VisiblePast, as_of: AsOf = None
) -> RequestedGraph:
    """Return the graph of the request's workspace. Raises what `PastReader` raises."""
    if as_of is None:
        return present
    return RequestedGraph(*await past.graph(await past.point(as_of)))


GraphAsOf = Annotated[RequestedGraph, Depends(requested_graph)]
