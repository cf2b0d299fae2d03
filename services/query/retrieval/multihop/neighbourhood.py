"""The passages around the linked entities, for workspaces whose passages are not indexed."""

from collections.abc import Mapping, Sequence

from contracts.graph import Hit
from runtime.stores.graph.port import Neighbourhood
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.retrieval.dependencies import RetrievalDependencies

MAX_RELATIONS = 40
"""Relations read per entity, the heaviest first: it bounds the cost of a hub."""
MAX_READ = 300
"""Passages that are read for one question."""
MAX_OF_LINKED = 40
"""Passages of each linked entity."""
MAX_OF_NEIGHBOURS = 3
"""Passages of each other entity."""
MAX_HITS = 50
"""Passages similar to the question."""


async def read_passages(
    around: Neighbourhood, hits: Sequence[Hit], partitions: Partitions, deps: RetrievalDependencies
) -> Sequence[Passage]:
    """Return the passages of the linked entities, of their neighbours, and those most similar to
    the question.

    `around` are the linked entities with their neighbours. Ids are derived from documents, so what
    `around` and `hits` leave out is not read.
    """
    of_linked: list[str] = []
    of_neighbours: list[str] = []
    for name, node in around.nodes.items():
        if name in around.degrees:
            of_linked += node.source_ids[:MAX_OF_LINKED]
        else:
            of_neighbours += node.source_ids[:MAX_OF_NEIGHBOURS]
    similar = [hit.names[0] for hit in hits[:MAX_HITS]]
    ids = list(dict.fromkeys([*of_linked, *similar, *of_neighbours]))[:MAX_READ]
    passages: Mapping[str, Passage] = await deps.passages.get(partitions.status, ids)
    return list(passages.values())
