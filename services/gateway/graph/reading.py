"""The graph that a request reads: as it is, or as it was."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from contracts.graph import Partition
from runtime.bus.points import FORM
from runtime.errors import NotFound
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.graph import browsing
from services.gateway.graph.dependencies import GraphDeps
from services.gateway.past.reader import VisiblePast
from services.gateway.promoted_branches import ReadWorkspace
from services.query.visibility.graph import BrowsedGraph

SIMILAR_NAMES = 5
"""Names that an error proposes for one that is not there."""

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


async def existing_name(requested: RequestedGraph, name: str) -> str:
    """Return the name of an entity as the graph has it. Raises NotFound, with names that hold it,
    and `Unavailable`.
    """
    graph, partition = requested.graph, requested.partition
    known_name = await browsing.known_name(graph, partition, name)
    if await graph.entities(partition, [known_name]):
        return known_name
    similar_names = await browsing.search(graph, partition, name, SIMILAR_NAMES)
    hint = (
        f"names that hold it: {', '.join(map(repr, similar_names))}"
        if similar_names
        else "/graph/label/search finds names by a part of them"
    )
    raise NotFound(f"there is no entity {name!r}; names are compared letter by letter, and {hint}")
