"""The passages around the names of a question: those of the linked entities and those most like
the question, and those of the entities that these name.

It is bounded, whatever the size of the workspace, and takes three reads: the words of the first
passages, the entities that these name, and the words of the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from contracts.graph import Hit
from runtime.stores.graph.port import Neighbourhood
from services.query.partitions import Partitions
from services.query.retrieval.concurrency import in_turn
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.multihop.names_read import ReadNames
from services.query.retrieval.multihop.query_terms import question_vocabulary
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.index import PassageIndex
from services.query.retrieval.passage_index.passage_words import PassageWords
from services.query.retrieval.port import EntitySupports
from services.query.retrieval.provenance import restrict_neighbourhood
from services.query.retrieval.scoping import DocumentIds

MAX_RELATIONS = 40
"""Relations read per entity, the heaviest first: it bounds the cost of a hub."""
MAX_HITS = 80
"""Passages similar to the question."""
MAX_FIRST = 160
"""Passages of the linked entities and most like the question altogether."""
MAX_OF_ENTITY = 8
"""Passages of each entity that the first passages name."""
MAX_READ = 300
"""Passages that are read for one question."""
MAX_FIRST_WORDS = 60_000
MAX_WORDS = 80_000
"""Words of the first passages, and of all, that a walk looks at: what it costs is by words. So
passages of the largest size are fewer.
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
    read_words = deps.passage_reader.words
    first_words = _bounded(await read_words(partitions.status, first_ids), MAX_FIRST_WORDS)
    await names.read(words.id for words in first_words)
    index = IndexBuilder(names.index, vocabulary)
    await in_turn(index.add, first_words)
    entities = index.entities
    entity_supports = await _supports(entities, partitions, deps, documents)
    other_ids = _other_passages(entity_supports, first_words, _places(first_words))
    words_left = MAX_WORDS - _word_count(first_words)
    new_words = _bounded(await read_words(partitions.status, other_ids), words_left)
    if not names.has_all:
        await names.read(words.id for words in new_words)
        index = IndexBuilder(names.index, vocabulary)
        new_words = [*first_words, *new_words]
    supports = {name: node.support for name, node in seeds.around.nodes.items()}
    supports |= zip(entities, entity_supports.counts.tolist(), strict=True)
    return await in_turn(lambda: index.add(new_words).build(supports))


async def _supports(
    entities: Sequence[str],
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds,
) -> EntitySupports:
    """Return how many chunks name each of the entities, of these documents alone if there are
    any.
    """
    if documents is None:
        return await deps.graph_reader.supports(partitions.graph, entities)
    nodes = await deps.graph_reader.nodes(partitions.graph, entities)
    visible = restrict_neighbourhood(Neighbourhood(nodes, [], {}), documents, {})
    return EntitySupports.of_nodes(entities, visible.nodes)


def _word_count(passages: Sequence[PassageWords]) -> int:
    return sum(passage.word_count for passage in passages)


def _bounded(passages: Sequence[PassageWords], max_words: int) -> list[PassageWords]:
    """Return the passages up to the first that ends behind so many words."""
    ends = accumulate(passage.word_count for passage in passages)
    return [passage for passage, end in zip(passages, ends, strict=True) if end <= max_words]


def _places(first_words: Sequence[PassageWords]) -> int:
    """Return how many more passages are read, if they are as long as the first ones."""
    places = MAX_READ - len(first_words)
    if not (count := _word_count(first_words)):
        return places
    return min(places, (MAX_WORDS - count) * len(first_words) // count)


def _other_passages(
    supports: EntitySupports, first_words: Sequence[PassageWords], count: int
) -> list[str]:
    """Return the ids of `count` passages of entities that are not among the first: those of rare
    entities before those of frequent ones, which lead everywhere.
    """
    seen = {words.id for words in first_words}
    ids: list[str] = []
    for place in np.argsort(supports.counts, kind="stable").tolist():
        for id in supports.chunks_of(place)[:MAX_OF_ENTITY]:
            if id not in seen:
                seen.add(id)
                ids.append(id)
        if len(ids) >= count:
            break
    return ids[: max(0, count)]


def _first_passages(around: Neighbourhood, hits: Sequence[Hit]) -> list[str]:
    """Return the ids of the passages of the linked entities, and of those most similar to the
    question. Where few are similar, passages of related entities fill their places.
    """
    of_linked: dict[str, None] = {}
    of_related: dict[str, None] = {}
    for name, node in around.nodes.items():
        if name in around.degrees:
            of_linked |= dict.fromkeys(node.source_ids)
        else:
            of_related |= dict.fromkeys(node.source_ids[:MAX_OF_ENTITY])
    similar_ids = [hit.names[0] for hit in hits[:MAX_HITS]]
    similar_ids += list(of_related)[: MAX_HITS - len(similar_ids)]
    linked_ids = list(of_linked)[: MAX_FIRST - len(similar_ids)]
    return list(dict.fromkeys([*linked_ids, *similar_ids]))
