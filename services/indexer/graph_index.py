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

from contracts.folding.vector_rows import MAX_EMBEDDED, entity_row, relation_row
from contracts.graph import Entity, Generations, Partition, Relation
from contracts.ids import entity_vector_id, relation_vector_id
from runtime.errors import Retryable
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.indexer.port import Embeddings
from services.indexer.vector_updates import embed_and_put, find_outdated, together

Pair = tuple[str, str]

MAX_ROUNDS = 10
"""Times that keys are indexed again because the graph has changed meanwhile, before they are tried
again later.
"""


class GraphKeys(NamedTuple):
    """Names of entities, and sorted pairs of names of relations."""

    names: set[str]
    pairs: set[Pair]


async def index_graph(
    workspace: str,
    keys: GraphKeys,
    generations: Generations,
    graph: Graph,
    vectors: Vectors,
    embeddings: Embeddings,
) -> set[str]:
    """Update the vectors of these entities and relations from the graph. Returns the ids that were
    embedded.

    Raises `Retryable` after `MAX_ROUNDS` rounds.
    """
    source, partition = (
        Partition(workspace, generations.graph),
        Partition(workspace, generations.vectors),
    )
    embedded_ids: set[str] = set()
    for _ in range(MAX_ROUNDS):
        entities, relations = await graph.excerpts(
            source, keys.names, keys.pairs, longest=MAX_EMBEDDED
        )
        written_ids = await _write(partition, keys, entities, relations, vectors, embeddings)
        embedded_ids |= written_ids
        gone = GraphKeys(keys.names - entities.keys(), keys.pairs - relations.keys())
        names = gone.names | {name for name in entities if entity_vector_id(name) in written_ids}
        pairs = gone.pairs | {
            pair for pair in relations if relation_vector_id(*pair) in written_ids
        }
        if not names and not pairs:
            return embedded_ids
        entities_now, relations_now = await graph.excerpts(source, names, pairs, longest=0)
        keys = GraphKeys(
            {
                name
                for name in names
                if _revision(entities.get(name)) != _revision(entities_now.get(name))
            },
            {
                pair
                for pair in pairs
                if _revision(relations.get(pair)) != _revision(relations_now.get(pair))
            },
        )
        if not keys.names and not keys.pairs:
            return embedded_ids
    raise Retryable("the graph changes faster than it can be indexed")


async def _write(
    partition: Partition,
    keys: GraphKeys,
    entities: dict[str, Entity],
    relations: dict[Pair, Relation],
    vectors: Vectors,
    embeddings: Embeddings,
) -> set[str]:
    """Remove the rows of keys that the graph does not have, write those whose text changed, and
    return their ids.
    """
    gone_entities = [entity_vector_id(name) for name in keys.names - entities.keys()]
    gone_relations = [relation_vector_id(*pair) for pair in keys.pairs - relations.keys()]
    await together(
        vectors.delete(partition, "entities", gone_entities),
        vectors.delete(partition, "relations", gone_relations),
    )
    entity_rows = {row.id: row for row in map(entity_row, entities.values())}
    relation_rows = {row.id: row for row in map(relation_row, relations.values())}
    outdated = await together(
        find_outdated(partition, "entities", entity_rows, vectors),
        find_outdated(partition, "relations", relation_rows, vectors),
    )
    await embed_and_put(partition, outdated, vectors, embeddings)
    return {row.id for one in outdated for row in one.rows}


def _revision(thing: Entity | Relation | None) -> int | None:
    """Return the revision, None for what the graph does not have."""
    return thing.revision if thing else None
