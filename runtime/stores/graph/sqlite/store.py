"""The graph in one SQLite file: the graph store of a single machine, shared by all its services."""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from contracts.graph import Entity, Partition, Relation
from runtime.batching import batched
from runtime.stores.graph.port import Neighbourhood, Node, RelationSummary
from runtime.stores.graph.scans import everything_scanned
from runtime.stores.graph.sqlite import degrees, reading, writing
from runtime.stores.graph.sqlite.tables import CHECKPOINTS, schema_statements
from runtime.stores.graph.table_records import (
    Record,
    read_entity,
    read_entity_excerpt,
    read_node,
    read_relation,
    read_relation_excerpt,
    read_tie,
    stored_excerpt,
)
from runtime.stores.graph.write_batches import (
    newest_entities,
    newest_relations,
    sorted_ties,
    storable,
    storable_pairs,
    transactions,
)
from runtime.stores.port import Checkpoint
from runtime.stores.sqlite.file import Parameters, SqliteFile
from runtime.stores.texts import read_text

Pair = tuple[str, str]
T = TypeVar("T")

_STATEMENTS = {**schema_statements(), **degrees.schema_statements()}
"""What `prepare` makes, by name."""

READ_AT_ONCE = 1000
"""Names or pairs of one query: what other readers of the process wait for."""


class SqliteGraph:
    """The port `Graph` in the file `path`, made with its folder when missing.

    A long write is several transactions of at most 1,000 entities, as many relations, and 4 MB of
    each: each of them whole or not at all. `timeout`: seconds that a write waits for the other
    processes, and as long for the other tasks of this one, before it raises `Unavailable`.
    """

    def __init__(self, path: Path, *, timeout: float = 10.0) -> None:
        self._file = SqliteFile(path, timeout=timeout)

    async def prepare(self) -> None:
        def make(connection: sqlite3.Connection) -> None:
            existing_names = _names(connection)
            for statement in _STATEMENTS.values():
                connection.execute(statement)
            if degrees.DEGREES not in existing_names:
                degrees.count_all(connection)

        if await self.missing():
            await self._file.transact(make)

    async def missing(self) -> list[str]:
        existing_names = await self._file.query(_names)
        return [f"{name} is not there" for name in _STATEMENTS if name not in existing_names]

    async def ping(self) -> None:
        await self._file.read("SELECT count(*) FROM sqlite_master")

    async def put(
        self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        new_entities = newest_entities(entities)
        new_relations = newest_relations(relations)
        for entity_batch, relation_batch in transactions(new_entities, new_relations):
            await self._file.transact(
                partial(
                    writing.put,
                    partition=partition,
                    entities=entity_batch,
                    relations=relation_batch,
                )
            )

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        records = await self._of_names(partition, names, reading.entities)
        return {entity.name: entity for entity in map(read_entity, records)}

    async def relations(
        self, partition: Partition, pairs: Collection[Pair]
    ) -> dict[Pair, Relation]:
        records = await self._of_pairs(partition, pairs, reading.relations)
        return {relation.key: relation for relation in map(read_relation, records)}

    async def excerpts(
        self, partition: Partition, names: Collection[str], pairs: Collection[Pair], *, longest: int
    ) -> tuple[dict[str, Entity], dict[Pair, Relation]]:
        of_entity = partial(reading.entity_excerpts, longest=stored_excerpt(longest))
        of_relation = partial(reading.relation_excerpts, longest=stored_excerpt(longest))
        entities = [
            read_entity_excerpt(record, longest)
            for record in await self._of_names(partition, names, of_entity)
        ]
        relations = [
            read_relation_excerpt(record, longest)
            for record in await self._of_pairs(partition, pairs, of_relation)
        ]
        return (
            {entity.name: entity for entity in entities},
            {relation.key: relation for relation in relations},
        )

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        records = await self._of_names(partition, names, reading.degrees)
        return {read_text(name): degree for name, degree in records}

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        if limit < 1:
            return {}
        records = await self._of_names(partition, names, partial(reading.ties, limit=limit))
        summaries: dict[str, list[RelationSummary]] = {}
        for name, source, target, weight in records:
            tie = RelationSummary(read_text(source), read_text(target), weight)
            summaries.setdefault(read_text(name), []).append(tie)
        return {name: sorted_ties(of_name) for name, of_name in summaries.items()}

    async def nodes(self, partition: Partition, names: Collection[str]) -> dict[str, Node]:
        nodes = map(read_node, await self._of_names(partition, names, reading.nodes))
        return {node.name: node for node in nodes}

    async def neighbourhood(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> Neighbourhood:
        centres: list[Record] = []
        neighbours: list[Record] = []

        def read(
            connection: sqlite3.Connection, partition_id: int, names: Sequence[str]
        ) -> list[Record]:
            of_batch = reading.centres(connection, partition_id, names)
            for *_, entity_id in of_batch:
                neighbours.extend(reading.neighbours(connection, entity_id, max(limit, 0)))
            return of_batch

        centres = await self._of_names(partition, names, read)
        nodes = {node.name: node for node in map(read_node, (record[5:] for record in neighbours))}
        nodes |= {node.name: node for node in map(read_node, centres)}
        once = {tie.key: tie for tie in map(read_tie, neighbours)}
        return Neighbourhood(
            nodes,
            sorted_ties(once.values()),
            {read_text(record[0]): record[-2] for record in centres},
        )

    async def scan_names(
        self, partition: Partition, after: str = "", limit: int = 5000, *, containing: str = ""
    ) -> list[Pair]:
        call = partial(reading.names_after, name=after, limit=max(limit, 0), containing=containing)
        records = await self._read(partition, call)
        return [(read_text(name), read_text(type)) for name, type in records]

    async def scan_entities(
        self, partition: Partition, after: str = "", limit: int = 1000
    ) -> list[Entity]:
        call = partial(reading.entities_after, name=after, limit=max(limit, 0))
        return list(map(read_entity, await self._read(partition, call)))

    async def scan_relations(
        self, partition: Partition, after: Pair = ("", ""), limit: int = 1000
    ) -> list[Relation]:
        call = partial(reading.relations_after, pair=after, limit=max(limit, 0))
        return list(map(read_relation, await self._read(partition, call)))

    def everything(
        self, partition: Partition, rows: int
    ) -> AsyncGenerator[Sequence[Entity] | Sequence[Relation]]:
        return everything_scanned(self, partition, rows)

    async def hubs(self, partition: Partition, *, limit: int) -> list[str]:
        records = await self._read(partition, partial(degrees.hubs, limit=max(limit, 0)))
        return [read_text(name) for (name,) in records]

    async def drop(self, partition: Partition) -> None:
        while await self._file.transact(partial(writing.drop_some, partition=partition)):
            pass

    async def partitions(self) -> set[Partition]:
        return {Partition(*record) for record in await self._file.query(reading.partitions)}

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        sql = f"SELECT sequence, log FROM {CHECKPOINTS} WHERE generation = ?"  # noqa: S608
        records = await self._file.read(sql, (generation,))
        return Checkpoint(*records[0]) if records else None

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        sql = (
            f"INSERT INTO {CHECKPOINTS} VALUES (?, ?, ?) ON CONFLICT (generation) "  # noqa: S608
            "DO UPDATE SET sequence = excluded.sequence, log = excluded.log "
            "WHERE sequence < excluded.sequence"
        )
        await self._execute(sql, (generation, checkpoint.sequence, checkpoint.log))

    async def drop_checkpoint(self, generation: int) -> None:
        sql = f"DELETE FROM {CHECKPOINTS} WHERE generation = ?"  # noqa: S608
        await self._execute(sql, (generation,))

    async def close(self) -> None:
        await self._file.close()

    async def _execute(self, sql: str, parameters: Parameters) -> None:
        await self._file.transact(lambda connection: connection.execute(sql, parameters))

    async def _of_names(
        self,
        partition: Partition,
        names: Iterable[str],
        read: Callable[[sqlite3.Connection, int, Sequence[str]], list[Record]],
    ) -> list[Record]:
        return await self._of_keys(partition, storable(names), read)

    async def _of_pairs(
        self,
        partition: Partition,
        pairs: Iterable[Pair],
        read: Callable[[sqlite3.Connection, int, Sequence[Pair]], list[Record]],
    ) -> list[Record]:
        return await self._of_keys(partition, storable_pairs(pairs), read)

    async def _of_keys(
        self,
        partition: Partition,
        keys: Sequence[T],
        read: Callable[[sqlite3.Connection, int, Sequence[T]], list[Record]],
    ) -> list[Record]:
        """Return the records of these names or pairs, some thousands a query."""
        records: list[Record] = []
        for batch in batched(keys, READ_AT_ONCE):

            def read_batch(
                connection: sqlite3.Connection, partition_id: int, batch: Sequence[T] = batch
            ) -> list[Record]:
                return read(connection, partition_id, batch)

            records += await self._read(partition, read_batch)
        return records

    async def _read(
        self, partition: Partition, read: Callable[[sqlite3.Connection, int], list[Record]]
    ) -> list[Record]:
        """Return records of a partition, none of one that is not there."""

        def work(connection: sqlite3.Connection) -> list[Record]:
            partition_id = reading.number_of(connection, partition)
            return [] if partition_id is None else read(connection, partition_id)

        return await self._file.query(work)


def _names(connection: sqlite3.Connection) -> set[str]:
    """Return the names of all tables, indexes and triggers of the file."""
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
