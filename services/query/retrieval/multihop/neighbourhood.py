"""The passages around the names of a question: those of the linked entities and those most like
the question, and those of the entities that these name.

It is bounded, whatever the size of the workspace, and takes three reads: the words of the first
passages, the entities that these name, and the words of the others.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from contracts.graph import Hit
from runtime.stores.graph.port import Neighbourhood
from services.query.partitions import Partitions
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.multihop.names_read import ReadNames
from services.query.retrieval.multihop.query_terms import question_vocabulary
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.index import PassageIndex
from services.query.retrieval.provenance import restrict_neighbourhood
from services.query.retrieval.scoping import DocumentIds

T = TypeVar("T")

MAX_RELATIONS = 40
"""Relations read per entity, the heaviest first: it bounds the cost of a hub."""
MAX_OF_LINKED = 20
"""Passages of each linked entity."""
MAX_HITS = 80
"""Passages similar to the question."""
MAX_FIRST = 160
"""Passages of the linked entities and most like the question altogether."""
MAX_OF_ENTITY = 8
"""Passages of each entity that the first passages name."""
MAX_READ = 400
"""Passages that are read for one question."""

_WALKER = ThreadPoolExecutor(1, "walk")
"""One thread, which begins with the first walk. Several at once would only take turns at the
interpreter, and that costs each of them more than it wins.
"""


@dataclass(frozen=True)
class Seeds:
    """Where a walk begins to read."""

    question: str
    around: Neighbourhood
    """The linked entities with their neighbours."""
    hits: Sequence[Hit]
    """The passages most similar to the question; both are restricted to the documents of a
    scope.
    """


async def in_turn(function: Callable[..., T], *arguments: Any) -> T:
    """Return what a function returns that works on passages, behind those of other walks."""
    return await asyncio.get_running_loop().run_in_executor(_WALKER, function, *arguments)


async def read_neighbourhood(
    seeds: Seeds,
    names: ReadNames,
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds,
) -> PassageIndex:
    """Return the index of the passages around the linked entities. Raises `Unavailable`."""
    vocabulary = question_vocabulary(seeds.question)
    first_ids = _first_passages(seeds.around, seeds.hits)
    first = await deps.passage_reader.words(partitions.status, first_ids)
    await names.read(first_ids)
    index = IndexBuilder(names.index, vocabulary)
    await in_turn(index.add, first)
    # Without relations a read returns the entities themselves.
    named = await deps.graph_reader.neighbourhood(partitions.graph, index.entities, limit=0)
    if documents is not None:
        named = restrict_neighbourhood(named, documents, {})
    other_ids = _other_passages(index.entities, named, first_ids)
    others = await deps.passage_reader.words(partitions.status, other_ids)
    if not names.has_all:
        await names.read(other_ids)
        index = IndexBuilder(names.index, vocabulary)
        others = [*first, *others]
    nodes = {**seeds.around.nodes, **named.nodes}
    supports = {name: node.support for name, node in nodes.items()}
    return await in_turn(lambda: index.add(others).build(supports))


def _other_passages(
    entities: Sequence[str], named: Neighbourhood, first_ids: Sequence[str]
) -> list[str]:
    """Return the ids of the passages of entities that are not among the first, as many as may still
    be read.
    """
    ids: dict[str, None] = {}
    for name in entities:
        if name in named.nodes:
            ids |= dict.fromkeys(named.nodes[name].source_ids[:MAX_OF_ENTITY])
    already_read = set(first_ids)
    other_ids = [id for id in ids if id not in already_read]
    return other_ids[: MAX_READ - len(first_ids)]


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
