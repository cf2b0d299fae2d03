"""The graph store on PostgreSQL: plain tables, no extension."""

from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from typing import Any

from contracts.graph import Entity, Partition, Relation
from runtime.batching import batched
from runtime.stores.graph.name_filters import like_pattern
from runtime.stores.graph.port import Neighbourhood, Node, RelationSummary
from runtime.stores.graph.postgres.statements import (
    ENTITIES,
    RELATIONS,
    Statements,
    id_of,
    schema_statements,
)
from runtime.stores.graph.scans import everything_scanned
from runtime.stores.graph.table_records import (
    entity_values,
    read_entity,
    read_entity_excerpt,
    read_node,
    read_relation,
    read_relation_excerpt,
    read_tie,
    relation_values,
    stored_excerpt,
)
from runtime.stores.graph.write_batches import (
    SCANNED_TIES,
    ends_beside,
    newest_entities,
    newest_relations,
    sorted_ties,
    storable,
    storable_pairs,
    transactions,
)
from runtime.stores.port import Checkpoint
from runtime.stores.postgres.database import POOL_SIZE, Connection, Database, Record
from runtime.stores.texts import read_text

Pair = tuple[str, str]

READ_AT_ONCE = 5000
"""Keys of one statement that reads."""
DROPPED_AT_ONCE = 5000


class PostgresGraph:
    """The port `Graph` in one PostgreSQL database. `timeout` bounds, in seconds, one call with all
    its retries.

    A long write is several transactions of at most 1,000 entities, as many relations, and 4 MB of
    each: each of them whole or not at all.
    """

    def __init__(self, url: str, *, pool_size: int = POOL_SIZE, timeout: float = 30.0) -> None:
        self._database = Database(url, pool_size=pool_size, timeout=timeout)
        self._schema = self._database.schema
        self._sql = Statements(self._schema)

    async def prepare(self) -> None:
        await self._database.declare(schema_statements(self._schema))

    async def missing(self) -> list[str]:
        names = await self._database.missing(schema_statements(self._schema))
        return [f"{name} is not there" for name in names]

    async def ping(self) -> None:
        await self._database.ping()

    async def put(
        self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        new_entities, new_relations = newest_entities(entities), newest_relations(relations)
        for entity_batch, relation_batch in transactions(new_entities, new_relations):
            await self._put(partition, entity_batch, relation_batch)

    async def _put(
        self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        ends = ends_beside(entities, relations)

        async def work(connection: Connection) -> None:
            for statement, columns in (
                (self._sql.put_entities, _entity_columns(entities)),
                (self._sql.put_ends, _entity_columns(ends)),
                (self._sql.put_relations, _relation_columns(relations)),
            ):
                if columns:
                    await connection.execute(statement, *_here(partition), *columns)

        await self._database.transact(work)
        await self._database.note_written(ENTITIES, len(entities) + len(ends))
        await self._database.note_written(RELATIONS, len(relations))

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        records = await self._by_name(self._sql.entities, partition, names)
        by_name = {entity.name: entity for entity in map(read_entity, records)}
        return {name: by_name[name] for name in names if name in by_name}

    async def relations(
        self, partition: Partition, pairs: Collection[Pair]
    ) -> dict[Pair, Relation]:
        records = await self._by_pair(self._sql.relations, partition, pairs)
        return {relation.key: relation for relation in map(read_relation, records)}

    async def excerpts(
        self, partition: Partition, names: Collection[str], pairs: Collection[Pair], *, longest: int
    ) -> tuple[dict[str, Entity], dict[Pair, Relation]]:
        stored = stored_excerpt(longest)
        excerpts = [
            read_entity_excerpt(record, longest)
            for record in await self._by_name(self._sql.entity_excerpts, partition, names, stored)
        ]
        entities = {entity.name: entity for entity in excerpts}
        relations = [
            read_relation_excerpt(record, longest)
            for record in await self._by_pair(self._sql.relation_excerpts, partition, pairs, stored)
        ]
        return (
            {name: entities[name] for name in names if name in entities},
            {relation.key: relation for relation in relations},
        )

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        records = await self._by_name(self._sql.degrees, partition, names)
        return {read_text(record["name"]): record["degree"] for record in records}

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        if limit < 1:
            return {}
        ties: dict[str, list[RelationSummary]] = {}
        for batch in batched(storable(names), READ_AT_ONCE):
            ids = list(map(id_of, batch))
            records = await self._database.fetch(
                self._sql.ties, *_here(partition), ids, limit, SCANNED_TIES
            )
            for record in records:
                ends = (read_text(record["source"]), read_text(record["target"]))
                tie = RelationSummary(*ends, record["weight"])
                name = batch[int(record["place"]) - 1]
                ties.setdefault(name, []).append(tie)
        return {name: sorted_ties(summaries) for name, summaries in ties.items()}

    async def nodes(self, partition: Partition, names: Collection[str]) -> dict[str, Node]:
        nodes = map(read_node, await self._by_name(self._sql.nodes, partition, names))
        return {node.name: node for node in nodes}

    async def neighbourhood(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> Neighbourhood:
        centres = await self._by_name(self._sql.degrees, partition, names)
        degrees = {read_text(record["name"]): record["degree"] for record in centres}
        neighbours = (
            await self._by_name(self._sql.neighbours, partition, degrees, limit)
            if limit > 0
            else []
        )
        nodes = {node.name: node for node in map(read_node, (record[5:] for record in neighbours))}
        nodes |= {node.name: node for node in map(read_node, centres)}
        once = {tie.key: tie for tie in map(read_tie, neighbours)}
        ties = sorted(once.values(), key=lambda tie: (-tie.weight, tie.key))
        return Neighbourhood(nodes, ties, degrees)

    async def scan_names(
        self, partition: Partition, after: str = "", limit: int = 5000, *, containing: str = ""
    ) -> list[Pair]:
        pattern = like_pattern(containing)
        records = await self._database.fetch(
            self._sql.scan_names, *_here(partition), _after(after), max(limit, 0), pattern
        )
        return [(read_text(record["name"]), read_text(record["type"])) for record in records]

    async def scan_entities(
        self, partition: Partition, after: str = "", limit: int = 1000
    ) -> list[Entity]:
        records = await self._database.fetch(
            self._sql.scan_entities, *_here(partition), _after(after), max(limit, 0)
        )
        return list(map(read_entity, records))

    async def scan_relations(
        self, partition: Partition, after: Pair = ("", ""), limit: int = 1000
    ) -> list[Relation]:
        records = await self._database.fetch(
            self._sql.scan_relations, *_here(partition), *map(_after, after), max(limit, 0)
        )
        return list(map(read_relation, records))

    def everything(
        self, partition: Partition, rows: int
    ) -> AsyncGenerator[Sequence[Entity] | Sequence[Relation]]:
        return everything_scanned(self, partition, rows)

    async def hubs(self, partition: Partition, *, limit: int) -> list[str]:
        records = await self._database.fetch(self._sql.hubs, *_here(partition), max(limit, 0))
        return [read_text(record["name"]) for record in records]

    async def drop(self, partition: Partition) -> None:
        for statement in (self._sql.drop_relations, self._sql.drop_entities):
            while await self._database.execute(statement, *_here(partition), DROPPED_AT_ONCE):
                pass

    async def partitions(self) -> set[Partition]:
        records = await self._database.fetch(self._sql.partitions)
        return {Partition(record["workspace"], record["generation"]) for record in records}

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        records = await self._database.fetch(self._sql.checkpoint, generation)
        return Checkpoint(records[0]["sequence"], records[0]["log"]) if records else None

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        await self._database.execute(
            self._sql.put_checkpoint, generation, checkpoint.sequence, checkpoint.log
        )

    async def drop_checkpoint(self, generation: int) -> None:
        await self._database.execute(self._sql.drop_checkpoint, generation)

    async def close(self) -> None:
        await self._database.close()

    async def _by_name(
        self, statement: str, partition: Partition, names: Iterable[str], *values: Any
    ) -> list[Record]:
        """Return the records of a statement over the keys of names, some thousands at once."""
        records: list[Record] = []
        for batch in batched(storable(names), READ_AT_ONCE):
            ids = list(map(id_of, batch))
            records += await self._database.fetch(statement, *_here(partition), ids, *values)
        return records

    async def _by_pair(
        self, statement: str, partition: Partition, pairs: Iterable[Pair], *values: Any
    ) -> list[Record]:
        """Return the records of a statement over the keys of these pairs."""
        records: list[Record] = []
        for batch in batched(storable_pairs(pairs), READ_AT_ONCE):
            sources = [id_of(source) for source, _ in batch]
            targets = [id_of(target) for _, target in batch]
            records += await self._database.fetch(
                statement, *_here(partition), sources, targets, *values
            )
        return records


def _here(partition: Partition) -> tuple[str, int]:
    return partition.workspace, partition.generation


def _entity_columns(entities: Sequence[Entity]) -> list[list[Any]]:
    """Return the values of the entities by column, in the order of the statements."""
    return _by_column(
        (id_of(entity.name), entity.is_gone, *entity_values(entity)) for entity in entities
    )


def _relation_columns(relations: Sequence[Relation]) -> list[list[Any]]:
    """Return the values of the relations by column, in the order of the statements."""
    return _by_column(
        (id_of(row.source), id_of(row.target), row.is_gone, *relation_values(row))
        for row in relations
    )


def _by_column(values: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*values, strict=True)]


def _after(name: str) -> bytes:
    """Return the key after which a page begins; that of no entity is empty."""
    return id_of(name) if name else b""
