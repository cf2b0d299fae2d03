"""Vectors in one SQLite file: the vector store of a single machine, shared by all its services."""

import sqlite3
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import orjson

from contracts.graph import VECTOR_KINDS, EmbeddingModel, Hit, Partition, VectorKind, VectorRow
from runtime.batching import batched
from runtime.stores.port import Checkpoint
from runtime.stores.sqlite.file import SqliteFile
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.port import RowVersion, VectorPage
from runtime.stores.vectors.sqlite import blocks, nearest, slotted_rows
from runtime.stores.vectors.sqlite.schema import VectorTable, checkpoint_of, put_checkpoint
from runtime.stores.vectors.sqlite.tables import Tables
from runtime.stores.vectors.sqlite.vector_cache import VectorCache

WAL_BYTES = 16 * 1024 * 1024
"""Bytes of a WAL that is copied into the file. A search reads all pages of its workspace, so it is
short, and empty once nobody writes; most pages are written once, so little is copied twice.
"""

AT_ONCE = 1000
"""Ids of one transaction: what others wait for."""


class SqliteVectors:
    """`Vectors` in the file `path`, made with its folder when missing. A search compares with all
    rows of its workspace, whose vectors stay in memory, compressed (`vector_cache.py`).

    `timeout`: seconds that a write waits for the other processes, and as long for the other tasks
    of this one, before it raises `Unavailable`.
    """

    def __init__(self, path: Path, *, model: str, dimension: int, timeout: float = 10.0) -> None:
        self.model = model
        self.dimension = dimension
        self._file = SqliteFile(path, timeout=timeout, wal_bytes=WAL_BYTES, idle_wal_bytes=0)
        self._tables = Tables(self._file, model, dimension)
        self.cache = VectorCache()

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
        await self._tables.names()

    async def put(self, partition: Partition, kind: VectorKind, rows: Sequence[VectorRow]) -> None:
        """See `Vectors`. At most 500 rows and 16 MiB go in one transaction, so a put that fails may
        have written a part.
        """
        for batch in stored.batches(stored.normalized_rows(rows, self.dimension)):
            call = partial(slotted_rows.put, workspace=partition.workspace, new_rows=batch)
            await self._tables.write(partition.generation, kind, call, create=True)

    async def get(
        self, partition: Partition, kind: VectorKind, ids: Collection[str], *, vectors: bool = False
    ) -> dict[str, VectorRow]:
        """See `Vectors`."""
        result: dict[str, VectorRow] = {}
        for batch in batched(stored.valid_ids(ids), AT_ONCE):

            def read(
                connection: sqlite3.Connection, table: VectorTable, batch: list[str] = batch
            ) -> list[VectorRow]:
                records = slotted_rows.select(connection, table, partition.workspace, batch)
                if not vectors:
                    return list(map(slotted_rows.from_record, records))
                slots = [record[0] for record in records]
                numbers = blocks.vectors_at(connection, table, partition.workspace, slots)
                return [
                    slotted_rows.from_record(record, tuple(vector))
                    for record, vector in zip(records, numbers.tolist(), strict=True)
                ]

            found_rows = await self._tables.read(partition.generation, kind, read) or []
            result |= {row.id: row for row in found_rows}
        return result

    async def versions(
        self, partition: Partition, kind: VectorKind, ids: Collection[str]
    ) -> dict[str, RowVersion]:
        """See `Vectors`."""
        result: dict[str, RowVersion] = {}
        for batch in batched(stored.valid_ids(ids), AT_ONCE):
            read = partial(
                slotted_rows.select,
                workspace=partition.workspace,
                ids=batch,
                columns="id, version, text_hash",
            )
            records = await self._tables.read(partition.generation, kind, read) or []
            result |= {id: RowVersion(version, text_hash) for id, version, text_hash in records}
        return result

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
        """See `Vectors`."""
        numbers = stored.single_precision(vector, self.dimension, "the question")
        if top_k < 1:
            return []
        call = partial(
            nearest.nearest,
            workspace=partition.workspace,
            search=nearest.Search(numbers, top_k, min_score, documents),
            cache=self.cache,
        )
        return await self._tables.read(partition.generation, kind, call, is_mapped=True) or []

    async def warm(self, partition: Partition, kind: VectorKind) -> bool:
        """See `Vectors`."""
        call = partial(self.cache.warm, workspace=partition.workspace, is_compared=kind == "chunks")
        return await self._tables.read(partition.generation, kind, call) or False

    async def likeness(
        self, partition: Partition, kind: VectorKind, vector: Sequence[float], ids: Collection[str]
    ) -> dict[str, float]:
        """See `Vectors`."""
        direction = stored.single_precision(vector, self.dimension, "the question")
        scores: dict[str, float] = {}
        for batch in batched(stored.valid_ids(ids), AT_ONCE):

            def compare(
                connection: sqlite3.Connection, table: VectorTable, batch: list[str] = batch
            ) -> dict[str, float]:
                rows = self.cache.for_comparison(connection, table, partition.workspace)
                if rows is not None:
                    return rows.similarities(batch, direction)
                slot_of_id = slotted_rows.slots(connection, table, partition.workspace, batch)
                slots = list(slot_of_id.values())
                vectors = blocks.vectors_at(connection, table, partition.workspace, slots)
                similarities = stored.similarities(vectors, direction)
                return dict(zip(slot_of_id, similarities, strict=True))

            read = self._tables.read(partition.generation, kind, compare, is_mapped=True)
            scores |= await read or {}
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
        for batch in batched(stored.valid_ids(ids), AT_ONCE):
            call = partial(
                slotted_rows.delete, workspace=partition.workspace, ids=batch, before=before
            )
            await self._tables.write(partition.generation, kind, call)

    async def scan(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> list[VectorRow]:
        """See `Vectors`. Raises Poison when `after` is neither an id nor empty."""
        stored.after_filter(partition.workspace, after)
        call = partial(slotted_rows.page, workspace=partition.workspace, after=after, limit=limit)
        records = await self._tables.read(partition.generation, kind, call) or []
        return list(map(slotted_rows.from_record, records))

    async def scan_vectors(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> VectorPage:
        """See `Vectors`. Raises Poison when `after` is neither an id nor empty."""
        stored.after_filter(partition.workspace, after)

        def read(connection: sqlite3.Connection, table: VectorTable) -> VectorPage:
            workspace = partition.workspace
            records = slotted_rows.page(
                connection, table, workspace, after, limit, "id, names, slot"
            )
            return VectorPage(
                [id for id, _, _ in records],
                [tuple(orjson.loads(names)) for _, names, _ in records],
                blocks.vectors_at(connection, table, workspace, [slot for *_, slot in records]),
            )

        page = await self._tables.read(partition.generation, kind, read, is_mapped=True)
        return page or VectorPage([], [], np.empty((0, self.dimension), np.float32))

    async def count(self, partition: Partition, kind: VectorKind) -> int:
        """See `Vectors`."""
        call = partial(slotted_rows.count, workspace=partition.workspace)
        return await self._tables.read(partition.generation, kind, call) or 0

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
        """See `Vectors`. The least of the three collections."""
        checkpoints: list[Checkpoint] = []
        for kind in VECTOR_KINDS:
            checkpoint = await self._tables.read(generation, kind, checkpoint_of)
            if checkpoint is None:
                return None
            checkpoints.append(checkpoint)
        return min(checkpoints, key=lambda checkpoint: checkpoint.sequence)

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """See `Vectors`. A transaction for each of the three collections."""
        for kind in VECTOR_KINDS:
            call = partial(put_checkpoint, checkpoint=checkpoint)
            await self._tables.write(generation, kind, call, create=True)

    async def close(self) -> None:
        """See `Vectors`."""
        await self._file.close()
