"""The graph store over Bolt, with the neo4j driver: Neo4j 5.26 and newer, or ArcadeDB, by the same
statements.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from contracts.graph import Entity, Partition, Relation
from runtime.batching import batched
from runtime.stores.graph.neo4j import cypher, cypher_checkpoints, cypher_excerpts, mapping
from runtime.stores.graph.neo4j.transactions import Transactions, records
from runtime.stores.graph.port import Neighbourhood, Node, RelationSummary
from runtime.stores.graph.write_batches import (
    MAX_ROWS,
    SCANNED_TIES,
    batches,
    by_smaller_end,
    can_be_stored,
    newest_entities,
    newest_relations,
    sorted_ties,
    transactions,
)
from runtime.stores.port import Checkpoint
from runtime.workarounds.neo4j import AsyncManagedTransaction

Pair = tuple[str, str]

DROPPED_AT_ONCE = 2000

WINDOW_GROWTH = 8
"""How many times as many pages of names the next read may have: a page may be of any size."""


class BoltGraph:
    """The port `Graph` over Bolt. `timeout` bounds, in seconds, one transaction with all its
    retries.

    A long write is several transactions of at most 1,000 entities, as many relations, and 4 MB of
    each: each of them whole or not at all. Raises ConfigurationError when the URI is none, `Poison`
    when a row can never be stored, `Unavailable` for anything the store says: a redelivered event
    does no harm, a document that fails because of a store does.
    """

    def __init__(
        self, uri: str, user: str, password: str, database: str = "neo4j", *, timeout: float = 30.0
    ) -> None:
        self._transactions = Transactions(uri, user, password, database, timeout)
        self._query = self._transactions.query
        self._read = self._transactions.read
        self._found = self._transactions.found

    async def prepare(self) -> None:
        for statement in cypher.SCHEMA.values():
            await self._transactions.declare(statement)

    async def missing(self) -> list[str]:
        names = [record["name"] for record in await self._read(cypher.INDEXES)]
        existing = {cypher.ALIASES.get(name, name) for name in names}
        return [f"{name} is not there" for name in cypher.SCHEMA if name not in existing]

    async def ping(self) -> None:
        await self._read(cypher.PING)

    async def put(
        self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        new_entities = newest_entities(entities)
        new_relations = newest_relations(relations)
        # An entity has about as many relations as chunks name it: good enough to tell a hub from
        # its neighbours.
        sizes = Counter(
            {entity.name: entity.support for entity in new_entities if not entity.is_gone}
        )
        sizes.update(name for relation in new_relations for name in relation.key if name in sizes)
        for entity_batch, relation_batch in transactions(new_entities, new_relations):
            await self._put(partition, entity_batch, relation_batch, sizes)

    async def _put(
        self,
        partition: Partition,
        entities: Sequence[Entity],
        relations: Sequence[Relation],
        sizes: Mapping[str, int],
    ) -> None:
        entity_rows = [mapping.entity_row(entity) for entity in entities]
        rows = [mapping.relation_row(relation) for relation in relations]
        other_names = sorted(
            {name for relation in relations for name in relation.key} - sizes.keys()
        )

        async def work(transaction: AsyncManagedTransaction) -> None:
            async def run(statement: str, **rows: Sequence[Mapping[str, Any]]) -> None:
                if any(rows.values()):
                    await records(transaction, statement, **_key(partition), **rows)

            await run(cypher.PUT_ENTITIES, rows=entity_rows)
            counted_sizes = await _sizes_of_ends(transaction, partition, other_names)
            await run(
                cypher.PUT_MISSING_ENDS,
                rows=[mapping.end_row(name) for name in other_names if name not in counted_sizes],
            )
            by_source, by_target = by_smaller_end(rows, {**sizes, **counted_sizes})
            await run(cypher.PUT_RELATIONS_FROM_SOURCE, groups=by_source)
            await run(cypher.PUT_RELATIONS_FROM_TARGET, groups=by_target)

        await self._transactions.run(work)

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        entities = map(mapping.read_entity, await self._by_name(cypher.ENTITIES, partition, names))
        return {entity.name: entity for entity in entities}

    async def relations(
        self, partition: Partition, pairs: Collection[Pair]
    ) -> dict[Pair, Relation]:
        storable = sorted({pair for pair in pairs if all(map(can_be_stored, pair))})
        relations: dict[Pair, Relation] = {}
        for batch in batches(storable, lambda pair: len(pair[0].encode()) + len(pair[1].encode())):
            relations |= {
                relation.key: relation
                for relation in await self._relations_between(partition, batch)
            }
        return relations

    async def _relations_between(self, partition: Partition, pairs: list[Pair]) -> list[Relation]:
        ends = sorted({name for pair in pairs for name in pair})
        sizes = dict(await self._found(cypher.ENDS, **_key(partition), names=ends))
        rows = mapping.pair_rows(pair for pair in pairs if all(name in sizes for name in pair))
        records: list[Any] = []
        for statement, groups in zip(cypher.RELATIONS, by_smaller_end(rows, sizes), strict=True):
            if groups:
                records += await self._found(statement, **_key(partition), groups=groups)
        return list(map(mapping.read_relation, records))

    async def excerpts(
        self, partition: Partition, names: Collection[str], pairs: Collection[Pair], *, longest: int
    ) -> tuple[dict[str, Entity], dict[Pair, Relation]]:
        ends = {name for pair in pairs for name in pair}
        storable = sorted(filter(can_be_stored, ends.union(names)))
        rows = [pair for pair in sorted(set(pairs)) if all(map(can_be_stored, pair))]
        sizes = Counter(name for pair in rows for name in pair)
        entities: dict[str, Entity] = {}
        relations: dict[Pair, Relation] = {}
        if not storable:
            return entities, relations

        read = cypher_excerpts.Reader(self._transactions, _key(partition), longest)
        for batch in batched(storable, MAX_ROWS):
            for entity in await read.entities(batch):
                sizes[entity.name] += entity.support
                entities[entity.name] = entity
        for batch in batched(rows, MAX_ROWS):
            relations.update(
                {relation.key: relation for relation in await read.relations(batch, sizes)}
            )
        return {name: entities[name] for name in names if name in entities}, relations

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        return dict(await self._by_name(cypher.DEGREES, partition, names))

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        if limit < 1:
            return {}
        records = await self._by_name(
            cypher.TIES, partition, names, limit=limit, scanned=SCANNED_TIES
        )
        return {
            name: sorted_ties(RelationSummary(*values) for values in ties) for name, ties in records
        }

    async def nodes(self, partition: Partition, names: Collection[str]) -> dict[str, Node]:
        rows = await self._by_name(cypher.NODES, partition, names)
        return {row[0]: mapping.read_node(*row) for row in rows}

    async def neighbourhood(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> Neighbourhood:
        centres = await self._by_name(cypher.CENTRES, partition, names)
        degrees = {row["name"]: row["degree"] for row in centres}
        neighbour_rows = (
            await self._by_name(cypher.TIED, partition, degrees, limit=limit) if limit > 0 else []
        )
        nodes = {row["other"]: mapping.read_end(row["other"], row) for row in neighbour_rows}
        nodes |= {row["name"]: mapping.read_end(row["name"], row) for row in centres}
        once = {(tie.source, tie.target): tie for tie in map(mapping.read_tie, neighbour_rows)}
        ties = sorted(once.values(), key=lambda tie: (-tie.weight, tie.source, tie.target))
        return Neighbourhood(nodes, ties, degrees)

    async def scan_names(
        self, partition: Partition, after: str = "", limit: int = 5000, *, containing: str = ""
    ) -> list[Pair]:
        del containing  # Neither server has a test of it that is cheaper than to send the names.
        place = {
            "page": cypher.page_of(after) if after else 0,
            "last_page": cypher.PAGES - 1,
            "after": after,
        }
        records = await self._found(
            cypher.SCAN_NAMES, **_key(partition), **place, limit=max(limit, 0)
        )
        return [(name, type) for name, type in records]

    async def scan_entities(
        self, partition: Partition, after: str = "", limit: int = 1000
    ) -> list[Entity]:
        place = {
            "page": cypher.page_of(after) if after else 0,
            "last_page": cypher.PAGES - 1,
            "after": after,
        }
        records = await self._found(
            cypher.SCAN_ENTITIES, **_key(partition), **place, limit=max(limit, 0)
        )
        return list(map(mapping.read_entity, records))

    async def scan_relations(
        self, partition: Partition, after: Pair = ("", ""), limit: int = 1000
    ) -> list[Relation]:
        source, target = after
        place = {"page": cypher.page_of(source) if source else 0, "last_page": cypher.PAGES - 1}
        records = await self._found(
            cypher.SCAN_RELATIONS,
            **_key(partition),
            **place,
            source=source,
            target=target,
            limit=max(limit, 0),
        )
        return list(map(mapping.read_relation, records))

    async def everything(
        self, partition: Partition, rows: int
    ) -> AsyncGenerator[list[Entity] | list[Relation]]:
        read, key = self._found, _key(partition)
        async for entities in _in_windows(partial(read, cypher.ENTITIES_OF_PAGES, **key), rows):
            yield list(map(mapping.read_entity, entities))
        async for relations in _in_windows(partial(read, cypher.RELATIONS_OF_PAGES, **key), rows):
            yield list(map(mapping.read_relation, relations))

    async def hubs(self, partition: Partition, *, limit: int) -> list[str]:
        records = await self._read(
            cypher.HUBS, **_key(partition), last_page=cypher.PAGES - 1, limit=max(limit, 0)
        )
        return [record["name"] for record in records]

    async def drop(self, partition: Partition) -> None:
        for statement in (cypher.DROP_RELATIONS, cypher.DROP_ENTITIES):
            place = {"page": 0, "last_page": cypher.PAGES - 1, "limit": DROPPED_AT_ONCE}
            while (dropped_counts := (await self._query(statement, **_key(partition), **place))[0])[
                "deleted"
            ]:
                place["page"] = dropped_counts["page"]

    async def partitions(self) -> set[Partition]:
        records = await self._read(cypher.SPACES)
        return {Partition(record["workspace"], record["generation"]) for record in records}

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        records = await self._read(cypher_checkpoints.CHECKPOINT, generation=generation)
        return Checkpoint(records[0]["sequence"], records[0]["log"]) if records else None

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        values = {"sequence": checkpoint.sequence, "log": checkpoint.log}
        await self._query(cypher_checkpoints.PUT_CHECKPOINT, generation=generation, **values)

    async def drop_checkpoint(self, generation: int) -> None:
        await self._query(cypher_checkpoints.DROP_CHECKPOINT, generation=generation)

    async def close(self) -> None:
        await self._transactions.close()

    async def _by_name(
        self, statement: str, partition: Partition, names: Collection[str], **parameters: Any
    ) -> list[Any]:
        """Read by a statement over `$names`, in batches. Names that cannot be stored are left
        out.
        """
        storable = sorted(filter(can_be_stored, set(names)))
        records: list[Any] = []
        for batch in batches(storable, lambda name: len(name.encode())):
            records += await self._found(statement, **_key(partition), names=batch, **parameters)
        return records


def _key(partition: Partition) -> dict[str, Any]:
    return {"workspace": partition.workspace, "generation": partition.generation}


async def _sizes_of_ends(
    transaction: AsyncManagedTransaction, partition: Partition, names: Sequence[str]
) -> dict[str, int]:
    """Return the number of relations, tombstones too, of each of these entities that exists."""
    if not names:
        return {}
    return dict(
        (await records(transaction, cypher.ENDS, **_key(partition), names=names))[0]["found"]
    )


async def _in_windows(
    read: Callable[..., Awaitable[list[Any]]], rows: int
) -> AsyncGenerator[list[Any]]:
    """Yield what `read` returns for all pages of names, from `page` to `last_page`, about `rows`
    rows at a time; no empty list.
    """
    page = row_count = 0
    width = 1
    while page < cypher.PAGES:
        last_page = min(page + width, cypher.PAGES) - 1
        window = await read(page=page, last_page=last_page)
        page = last_page + 1
        row_count += len(window)
        width = max(1, min(width * WINDOW_GROWTH, rows * page // max(1, row_count)))
        if window:
            yield window
