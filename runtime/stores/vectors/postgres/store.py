"""Vectors in PostgreSQL with pgvector: a table for each collection of a generation."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from contracts.graph import VECTOR_KINDS, EmbeddingModel, Hit, Partition, VectorKind, VectorRow
from contracts.ids import chunk_vector_prefix
from runtime.batching import batched
from runtime.stores.port import Checkpoint
from runtime.stores.postgres.database import POOL_SIZE, Connection, Database, Record
from runtime.stores.texts import read_text, stored_text
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.checkpoint_rows import CHECKPOINT
from runtime.stores.vectors.port import RowVersion, VectorPage
from runtime.stores.vectors.postgres.nearest import EXACT_BELOW, Nearest
from runtime.stores.vectors.postgres.statements import VectorTable
from runtime.stores.vectors.postgres.tables import Tables

READ_AT_ONCE = 1000
"""Ids of one statement that reads or deletes."""

Query = Callable[[VectorTable], str]
"""Returns the statement over a table."""

NO_WORKSPACE = ""
"""Where a table's checkpoint stands: no workspace can have the empty name."""


class PostgresVectors:
    """`Vectors` in one PostgreSQL database. `timeout`: seconds for one call with all its retries.

    `exact_below`: rows of a workspace from which on an index is made and asked.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str,
        dimension: int,
        pool_size: int = POOL_SIZE,
        exact_below: int = EXACT_BELOW,
        timeout: float = 30.0,
    ) -> None:
        self.model = model
        self.dimension = dimension
        self._database = Database(url, pool_size=pool_size, timeout=timeout)
        self._tables = Tables(self._database, model, dimension)
        self._nearest = Nearest(self._database, exact_below)

    async def prepare(self, generation: int) -> None:
        """See `Vectors`."""
        await self._tables.make(generation)

    async def missing(self, generation: int) -> list[str]:
        """See `Vectors`."""
        if line := await self.outdated(generation):
            return [line]
        missing_names = await self._tables.of_model.missing(generation)
        return [f"table {name} is not there" for name in missing_names]

    async def outdated(self, generation: int) -> str | None:
        """See `Vectors`."""
        return await self._tables.of_model.outdated(generation)

    async def ping(self) -> None:
        """See `Vectors`."""
        await self._database.ping()

    async def put(self, partition: Partition, kind: VectorKind, rows: Sequence[VectorRow]) -> None:
        """See `Vectors`. At most 500 rows and 16 MiB go in one statement, so a put that fails may
        have written a part.
        """
        for batch in stored.batches(stored.normalized_rows(rows, self.dimension)):
            columns = _columns(batch)

            async def write(table: VectorTable, columns: list[list[Any]] = columns) -> None:
                await self._database.execute(table.put(), partition.workspace, *columns)
                written = len(columns[0])
                await self._database.note_written(table.name, written)
                await self._nearest.note_written(table, partition.workspace, written)

            await self._tables.use(partition.generation, kind, write, create=True, write=True)

    async def get(
        self, partition: Partition, kind: VectorKind, ids: Collection[str], *, vectors: bool = False
    ) -> dict[str, VectorRow]:
        """See `Vectors`."""
        query = VectorTable.rows_with_vectors if vectors else VectorTable.rows
        records = await self._by_id(partition, kind, ids, query)
        return {record["id"]: _row(record, vectors=vectors) for record in records}

    async def versions(
        self, partition: Partition, kind: VectorKind, ids: Collection[str]
    ) -> dict[str, RowVersion]:
        """See `Vectors`."""
        records = await self._by_id(partition, kind, ids, VectorTable.versions)
        return {
            record["id"]: RowVersion(record["version"], read_text(record["text_hash"]))
            for record in records
        }

    async def search(
        self,
        partition: Partition,
        kind: VectorKind,
        vector: Sequence[float],
        *,
        top_k: int,
        min_score: float = -1.0,
        documents: Collection[str] | None = None,
    ) -> list[Hit]:
        """See `Vectors`. Restricted to documents it is exact; otherwise as `Nearest` finds them."""
        direction = stored.single_precision(vector, self.dimension, "the question").tolist()
        if top_k < 1:
            return []

        async def nearest(table: VectorTable) -> list[Record]:
            if documents is None:
                return await self._nearest.search(table, partition.workspace, direction, top_k)
            prefixes = sorted({chunk_vector_prefix(document) for document in documents})
            # Between `…-` and `….`, the next character.
            ends = [f"{prefix[:-1]}." for prefix in prefixes]
            values = (partition.workspace, direction, top_k, prefixes, ends)
            return await self._database.fetch(table.nearest_among(), *values)

        records = await self._tables.use(partition.generation, kind, nearest) or []
        hits = stored.ranked(
            Hit(record["id"], _names(record), stored.rounded_score(record["score"]))
            for record in records
        )
        return [hit for hit in hits if hit.score > min_score]

    async def warm(self, partition: Partition, kind: VectorKind) -> bool:
        """See `Vectors`. The server searches."""
        return False

    async def likeness(
        self, partition: Partition, kind: VectorKind, vector: Sequence[float], ids: Collection[str]
    ) -> dict[str, float]:
        """See `Vectors`."""
        direction = stored.single_precision(vector, self.dimension, "the question").tolist()
        scores: dict[str, float] = {}
        for batch in batched(_storable(ids), READ_AT_ONCE):

            async def compare(table: VectorTable, batch: list[str] = batch) -> list[Record]:
                values = (partition.workspace, direction, batch)
                return await self._database.fetch(table.likeness(), *values)

            for record in await self._tables.use(partition.generation, kind, compare) or []:
                scores[record["id"]] = stored.rounded_score(record["score"])
        return scores

    async def delete(
        self,
        partition: Partition,
        kind: VectorKind,
        ids: Collection[str],
        *,
        before: int | None = None,
    ) -> None:
        """See `Vectors`."""
        condition = "" if before is None else " AND version < $3"
        limits = () if before is None else (before,)
        for batch in batched(_storable(ids), READ_AT_ONCE):

            async def remove(table: VectorTable, batch: list[str] = batch) -> None:
                statement = table.delete(condition)
                await self._database.execute(statement, partition.workspace, batch, *limits)

            await self._tables.use(partition.generation, kind, remove, write=True)

    async def scan(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> list[VectorRow]:
        """See `Vectors`. Raises Poison when `after` is neither an id nor empty."""
        records = await self._page(partition, kind, after, limit, vectors=False)
        return [_row(record, vectors=False) for record in records]

    async def scan_vectors(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> VectorPage:
        """See `Vectors`. Raises Poison when `after` is neither an id nor empty."""
        records = await self._page(partition, kind, after, limit, vectors=True)
        numbers = [_numbers(record) for record in records]
        vectors = np.array(numbers, np.float32).reshape(len(records), self.dimension)
        return VectorPage([record["id"] for record in records], list(map(_names, records)), vectors)

    async def count(self, partition: Partition, kind: VectorKind) -> int:
        """See `Vectors`."""

        async def number(table: VectorTable) -> int:
            records = await self._database.fetch(table.count(), partition.workspace)
            return records[0]["number"]

        return await self._tables.use(partition.generation, kind, number) or 0

    async def model_of(self, generation: int) -> EmbeddingModel | None:
        """See `Vectors`."""
        return await self._tables.of_model.model_of(generation)

    async def generations(self) -> set[int]:
        """See `Vectors`."""
        return await self._tables.of_model.generations()

    async def drop(self, generation: int) -> None:
        """See `Vectors`."""
        await self._tables.drop(generation)

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        """See `Vectors`. The least of the three tables."""
        partition = Partition(NO_WORKSPACE, generation)
        checkpoints: list[Checkpoint] = []
        for kind in VECTOR_KINDS:
            row = (await self.get(partition, kind, [CHECKPOINT])).get(CHECKPOINT)
            if row is None:
                return None
            checkpoints.append(Checkpoint(row.version, row.text))
        return min(checkpoints, key=lambda checkpoint: checkpoint.sequence)

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """See `Vectors`. One transaction for the three tables."""
        numbers = (0.0,) * self.dimension
        row = VectorRow(CHECKPOINT, checkpoint.log, "", checkpoint.sequence, vector=numbers)
        await self._tables.make(generation)
        tables = [
            await self._tables.open(generation, kind, create=True, write=True)
            for kind in VECTOR_KINDS
        ]

        async def work(connection: Connection) -> None:
            for table in tables:
                if table is not None:
                    statement = table.put(" WHERE stored.version < excluded.version")
                    await connection.execute(statement, NO_WORKSPACE, *_columns([row]))

        await self._database.transact(work)

    async def close(self) -> None:
        """See `Vectors`."""
        await self._nearest.close()
        await self._database.close()

    async def _by_id(
        self, partition: Partition, kind: VectorKind, ids: Iterable[str], query: Query
    ) -> list[Record]:
        """Return the records of a query over these ids, some of them at once."""
        records: list[Record] = []
        for batch in batched(_storable(ids), READ_AT_ONCE):

            async def read(table: VectorTable, batch: list[str] = batch) -> list[Record]:
                return await self._database.fetch(query(table), partition.workspace, batch)

            records += await self._tables.use(partition.generation, kind, read) or []
        return records

    async def _page(
        self, partition: Partition, kind: VectorKind, after: str, limit: int, *, vectors: bool
    ) -> list[Record]:
        stored.after_filter(partition.workspace, after)

        async def read(table: VectorTable) -> list[Record]:
            values = (partition.workspace, after, max(0, limit))
            return await self._database.fetch(table.scan(vectors=vectors), *values)

        return await self._tables.use(partition.generation, kind, read) or []


def _storable(ids: Iterable[str]) -> list[str]:
    """Return the ids that a row can have."""
    return [id for id in dict.fromkeys(ids) if id.isascii() and "\x00" not in id]


def _columns(rows: Sequence[VectorRow]) -> list[list[Any]]:
    """Return normalized rows by column, in the order of their ids, and all numbers in one list."""
    ordered_rows = sorted(rows, key=lambda row: row.id)
    values = [
        (
            row.id,
            stored_text(row.text),
            stored_text(row.text_hash),
            orjson.dumps(row.names).decode(),
            stored_text(row.document_id),
            stored_text(row.file_path),
            row.version,
            row.order,
        )
        for row in ordered_rows
    ]
    columns = [list(column) for column in zip(*values, strict=True)]
    return [*columns, [number for row in ordered_rows for number in row.vector]]


def _row(record: Mapping[str, Any], *, vectors: bool) -> VectorRow:
    """Return the row in a record, with its vector if that was asked for."""
    return VectorRow(
        id=record["id"],
        text=read_text(record["text"]),
        text_hash=read_text(record["text_hash"]),
        version=record["version"],
        vector=tuple(_numbers(record).tolist()) if vectors else (),
        names=_names(record),
        document_id=read_text(record["document_id"]),
        file_path=read_text(record["file_path"]),
        order=record["position"],
    )


def _names(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(orjson.loads(record["names"]))


def _numbers(record: Mapping[str, Any]) -> Any:
    """Return the vector of a record: two counts of 16 bits, then numbers, all in network order."""
    return np.frombuffer(record["numbers"], dtype=">f4", offset=4)
