"""Everything of a graph by its scans, for stores that have no cheaper way."""

from collections.abc import AsyncGenerator, Sequence

from contracts.graph import Entity, Partition, Relation
from runtime.stores.graph.port import Graph


async def everything_scanned(
    graph: Graph, partition: Partition, rows: int
) -> AsyncGenerator[Sequence[Entity] | Sequence[Relation]]:
    """See `Graph.everything`."""
    last_name = ""
    while entities := await graph.scan_entities(partition, last_name, rows):
        yield entities
        last_name = entities[-1].name
    last_key = ("", "")
    while relations := await graph.scan_relations(partition, last_key, rows):
        yield relations
        last_key = relations[-1].key
