"""The graph that a request reads: as it is, or as it was."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from contracts.graph import Partition
from runtime.bus.points import FORM
from runtime.stores.graph.port import Graph
from services.gateway.graph.dependencies import GraphDeps
from services.gateway.past.reader import WorkspacePast

AsOf = Annotated[str | None, Query(max_length=64, description=f"the graph as it was then: {FORM}")]


@dataclass(frozen=True)
class RequestedGraph:
    """A graph and the partition in which it is read."""

    graph: Graph
    partition: Partition


async def requested_graph(
    deps: GraphDeps, past: WorkspacePast, as_of: AsOf = None
) -> RequestedGraph:
    """Return the graph of the request's workspace. Raises what `PastReader` raises."""
    if as_of is None:
        return RequestedGraph(deps.graph, await deps.partition(past.workspace))
    return RequestedGraph(*await past.graph(await past.point(as_of)))


GraphAsOf = Annotated[RequestedGraph, Depends(requested_graph)]
