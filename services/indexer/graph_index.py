"""Keeps the vectors of entities and relations equal to the texts that the graph has.

Several replicas may index one key at the same time, each may be killed at any point, and the vector
store compares nothing before it writes. Three rules let the newest text stand in the end:

1. Who has written or removed the row of a key reads the key's revision in the graph again,
   afterwards, and begins anew for each key that moved meanwhile. In one graph equal revisions have
   equal texts, so revisions are enough.
2. A row that was found up to date, and not written, needs no second look: whoever overwrites it
   with an older text has read the graph before we did, finds by rule 1 that the key has moved, and
   corrects it.
3. Who is killed between the write and the second look has not acknowledged its event. The event
   comes again, the row differs from the graph, and is written.

A text that the graph gets after the last look has an event of its own, published after it was put
there.
"""

from typing import NamedTuple

from contracts.graph import Entity, Generations, Partition, Relation
from contracts.ids import entity_vector_id, relation_vector_id
from knowledge.vector_rows import MAX_EMBEDDED, entity_row, relation_row
from runtime.errors import Retryable
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.indexer.port import Embeddings
from services.indexer.vector_updates import Refusals, embed_and_put, find_outdated, together

Pair = tuple[str, str]

MAX_ROUNDS = 10
"""Times that keys are indexed again because the graph has changed meanwhile, before they are tried
again later.
"""


class IndexedIds(NamedTuple):
    """Ids of the entities and relations that were embedded, and why the model refused others."""

    embedded_ids: set[str]
    refusals: Refusals


class GraphKeys(NamedTuple):
    """Names of entities, and sorted pairs of names of relations."""

    names: set[str]
    pairs: set[Pair]

    def vector_ids(self) -> set[str]:
        """Return the ids of their rows in the vector store."""
        ids = {entity_vector_id(name) for name in self.names}
        ids.update(relation_vector_id(*pair) for pair in self.pairs)
        return ids


async def index_graph(
    workspace: str,
    keys: GraphKeys,
    generations: Generations,
    graph: Graph,
    vectors: Vectors,
    embeddings: Embeddings,
) -> IndexedIds:
    """Update the vectors of these entities and relations from the graph.

    Raises `Retryable` after `MAX_ROUNDS` rounds.
    """
    source = Partition(workspace, generations.graph)
    partition = Partition(workspace, generations.vectors)
    indexed_ids = IndexedIds(set(), {})
    for _ in range(MAX_ROUNDS):
        entities, relations = await graph.excerpts(
            source, keys.names, keys.pairs, longest=MAX_EMBEDDED
        )
        for id in keys.vector_ids():
            indexed_ids.refusals.pop(id, None)  # of a text that the graph has replaced meanwhile
        written_ids, refusals = await _write(
            partition, keys, entities, relations, vectors, embeddings
        )
        indexed_ids.embedded_ids.update(written_ids - refusals.keys())
        indexed_ids.refusals.update(refusals)
        removed_keys = GraphKeys(keys.names - entities.keys(), keys.pairs - relations.keys())
        names = removed_keys.names | {
            name for name in entities if entity_vector_id(name) in written_ids
        }
        pairs = removed_keys.pairs | {
            pair for pair in relations if relation_vector_id(*pair) in written_ids
        }
        if not names and not pairs:
            return indexed_ids
        entities_now, relations_now = await graph.excerpts(source, names, pairs, longest=0)
        keys = GraphKeys(
            {name for name in names if _has_moved(entities.get(name), entities_now.get(name))},
            {pair for pair in pairs if _has_moved(relations.get(pair), relations_now.get(pair))},
        )
        if not keys.names and not keys.pairs:
            return indexed_ids
    raise Retryable("the graph changes faster than it can be indexed")


async def _write(
    partition: Partition,
    keys: GraphKeys,
    entities: dict[str, Entity],
    relations: dict[Pair, Relation],
    vectors: Vectors,
    embeddings: Embeddings,
) -> tuple[set[str], Refusals]:
    """Remove the rows of keys that the graph does not have, and write those whose text changed.

    Returns the ids of these, also of those that the model refused, and why it did.
    """
    gone_entities = [entity_vector_id(name) for name in keys.names - entities.keys()]
    gone_relations = [relation_vector_id(*pair) for pair in keys.pairs - relations.keys()]
    await together(
        vectors.delete(partition, "entities", gone_entities),
        vectors.delete(partition, "relations", gone_relations),
    )
    entity_rows = {row.id: row for row in map(entity_row, entities.values())}
    relation_rows = {row.id: row for row in map(relation_row, relations.values())}
    outdated_tables = await together(
        find_outdated(partition, "entities", entity_rows, vectors),
        find_outdated(partition, "relations", relation_rows, vectors),
    )
    refusals = await embed_and_put(partition, outdated_tables, vectors, embeddings)
    return {row.id for table in outdated_tables for row in table.rows}, refusals


def _has_moved(before: Entity | Relation | None, now: Entity | Relation | None) -> bool:
    """Return whether the graph has another revision now; None is what it does not have."""
    if before is None or now is None:
        return before is not now
    return before.revision != now.revision
