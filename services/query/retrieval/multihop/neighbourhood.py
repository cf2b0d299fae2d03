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
MAX_OF_LINKED, MAX_OF_OTHERS = 40, 3
"""Passages of each linked entity, and of each other one."""
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
    linked = {
        name: node.source_ids[:MAX_OF_LINKED]
        for name, node in around.nodes.items()
        if name in around.degrees
    }
    others = {
        name: node.source_ids[:MAX_OF_OTHERS]
        for name, node in around.nodes.items()
        if name not in linked
    }
    wanted = dict.fromkeys(
        [*_all(linked), *(hit.names[0] for hit in hits[:MAX_HITS]), *_all(others)]
    )
    passages: Mapping[str, Passage] = await deps.passages.get(
        partitions.status, list(wanted)[:MAX_READ]
    )
    return list(passages.values())


def _all(chunks: Mapping[str, Sequence[str]]) -> list[str]:
    return [chunk for some in chunks.values() for chunk in some]
