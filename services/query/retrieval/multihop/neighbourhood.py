"""The passages around the names of a question: those of the linked entities and those most like
the question, and those of the entities that these name.

It is bounded, whatever the size of the workspace, and takes three reads: the words of the first
passages, the entities that these name, and the words of the others.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from contracts.graph import Hit
from runtime.stores.graph.port import Neighbourhood
from services.query.partitions import Partitions
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.index import PassageIndex
from services.query.retrieval.provenance import restrict_neighbourhood
from services.query.retrieval.scoping import DocumentIds

T = TypeVar("T")

MAX_RELATIONS = 40
"""Relations read per entity, the heaviest first: it bounds the cost of a hub."""
MAX_OF_LINKED = 20
"""Passages of each linked entity."""
MAX_HITS = 30
"""Passages similar to the question."""
MAX_FIRST = 100
"""Passages of the linked entities and most like the question altogether."""
MAX_OF_ENTITY = 8
"""Passages of each entity that the first passages name."""
MAX_READ = 300
"""Passages that are read for one question."""

_WALKER = ThreadPoolExecutor(1, "walk")
"""One thread, which begins with the first walk. Several at once would only take turns at the
interpreter, and that costs each of them more than it wins.
"""


async def in_turn(function: Callable[..., T], *arguments: Any) -> T:
    """Return what a function returns that works on passages, behind those of other walks."""
    return await asyncio.get_running_loop().run_in_executor(_WALKER, function, *arguments)


async def read_neighbourhood(
    around: Neighbourhood,
    hits: Sequence[Hit],
    index: IndexBuilder,
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds,
) -> PassageIndex:
    """Return the index of the passages around the linked entities, which `index` builds.

    `around` are the linked entities with their neighbours, and `hits` the passages most similar to
    the question, both restricted to `documents`. Raises `Unavailable`.
    """
    first_ids = _first_passages(around, hits)
    first = await deps.passage_reader.words(partitions.status, first_ids)
    await in_turn(index.add, first)
    entities = index.entities
    # Without relations a read returns the entities themselves.
    named = await deps.graph_reader.neighbourhood(partitions.graph, entities, limit=0)
    if documents is not None:
        named = restrict_neighbourhood(named, documents, {})
    reached = dict.fromkeys(
        id for name in entities if name in named.nodes for id in _sources(named, name)
    )
    already_read = set(first_ids)
    other_ids = [id for id in reached if id not in already_read]
    others = await deps.passage_reader.words(
        partitions.status, other_ids[: MAX_READ - len(first_ids)]
    )
    nodes = {**around.nodes, **named.nodes}
    supports = {name: node.support for name, node in nodes.items()}
    return await in_turn(lambda: index.add(others).build(supports))


def _first_passages(around: Neighbourhood, hits: Sequence[Hit]) -> list[str]:
    """Return the ids of the passages of the linked entities, and of those most similar to the
    question.
    """
    ids: dict[str, None] = {}
    for name, node in around.nodes.items():
        if name in around.degrees:
            ids |= dict.fromkeys(node.source_ids[:MAX_OF_LINKED])
    similar = [hit.names[0] for hit in hits[:MAX_HITS]]
    linked = list(ids)[: MAX_FIRST - len(similar)]
    return list(dict.fromkeys([*linked, *similar]))


def _sources(named: Neighbourhood, name: str) -> Sequence[str]:
    return named.nodes[name].source_ids[:MAX_OF_ENTITY]
