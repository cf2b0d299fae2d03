"""Vectors in this process: for tests, and for trying things out. Nothing is kept when the process
ends.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from contracts.graph import VECTOR_KINDS, EmbeddingModel, Hit, Partition, VectorKind, VectorRow
from runtime.stores.port import Checkpoint
from runtime.stores.vectors import collection_names
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.checkpoint_rows import CHECKPOINT
from runtime.stores.vectors.port import RowVersion, VectorPage

Tables = dict[int, dict[str, dict[tuple[str, VectorKind], dict[str, VectorRow]]]]
"""Generation → the model that filled it → (workspace, kind) → the rows by id."""

_no_workspace = partial(Partition, "")
"""Returns the partition of a generation's checkpoint: no workspace can have the empty name."""


class MemoryVectors:
    """`Vectors` in dictionaries. Adapters that are given the same `tables` are clients of one
    store.
    """

    def __init__(self, model: str, dimension: int, tables: Tables | None = None) -> None:
        self.model = model
        self.dimension = dimension
        self._tables: Tables = {} if tables is None else tables

    async def prepare(self, generation: int) -> None:
        """See `Vectors`."""
        for kind in VECTOR_KINDS:
            self._table(Partition("", generation), kind, create=True)

    async def missing(self, generation: int) -> list[str]:
        """See `Vectors`."""
        tables = self._tables.get(generation, {}).get(
            collection_names.model_text(self.model, self.dimension), {}
        )
        kinds = {kind for _, kind in tables}
        return [f"a table of {kind} is not there" for kind in VECTOR_KINDS if kind not in kinds]

    async def outdated(self, generation: int) -> str | None:
        """See `Vectors`. Never: there is no older one of this store."""

    async def ping(self) -> None:
        """See `Vectors`. Always answers."""

    async def put(self, partition: Partition, kind: VectorKind, rows: Sequence[VectorRow]) -> None:
        """See `Vectors`."""
        normalized_rows = {
            row.id: replace(row, vector=tuple(row.vector))
            for row in stored.normalized_rows(rows, self.dimension)
        }
        if normalized_rows:
            self._table(partition, kind, create=True).update(normalized_rows)

    async def get(
        self, partition: Partition, kind: VectorKind, ids: Collection[str], *, vectors: bool = False
    ) -> dict[str, VectorRow]:
        """See `Vectors`."""
        table = self._table(partition, kind) if ids else {}
        result = {id: table[id] for id in dict.fromkeys(ids) if id in table}
        return result if vectors else {id: stored.without_vector(row) for id, row in result.items()}

    async def versions(
        self, partition: Partition, kind: VectorKind, ids: Collection[str]
    ) -> dict[str, RowVersion]:
        """See `Vectors`."""
        rows = await self.get(partition, kind, ids)
        return {id: RowVersion(row.version, row.text_hash) for id, row in rows.items()}

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
        """See `Vectors`. Compares with every row."""
        direction = stored.single_precision(vector, self.dimension, "the question")
        table = stored.only_documents(self._table(partition, kind).values(), documents)
        if not table or top_k < 1:
            return []
        similarities = stored.similarities([row.vector for row in table], direction)
        hits = stored.ranked(
            Hit(row.id, row.names, score) for row, score in zip(table, similarities, strict=True)
        )
        return [hit for hit in hits[:top_k] if hit.score > min_score]

    async def warm(self, partition: Partition, kind: VectorKind) -> bool:
        """See `Vectors`. All is in memory."""
        return False

    async def likeness(
        self, partition: Partition, kind: VectorKind, vector: Sequence[float], ids: Collection[str]
    ) -> dict[str, float]:
        """See `Vectors`."""
        direction = stored.single_precision(vector, self.dimension, "the question")
        rows = await self.get(partition, kind, ids, vectors=True)
        return dict(
            zip(
                rows,
                stored.similarities([row.vector for row in rows.values()], direction),
                strict=True,
            )
        )

    async def delete(
        self,
        partition: Partition,
        kind: VectorKind,
        ids: Collection[str],
        *,
        before: int | None = None,
    ) -> None:
        """See `Vectors`."""
        table = self._table(partition, kind) if ids else {}
        for id in ids:
            if id in table and (before is None or table[id].version < before):
                del table[id]

    async def scan(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> list[VectorRow]:
        """See `Vectors`. Raises Poison when `after` is neither an id nor empty."""
        return [
            stored.without_vector(row) for row in self._rows_after(partition, kind, after, limit)
        ]

    async def scan_vectors(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> VectorPage:
        """See `Vectors`. Raises Poison when `after` is neither an id nor empty."""
        rows = self._rows_after(partition, kind, after, limit)
        vectors = np.array([row.vector for row in rows], np.float32).reshape(
            len(rows), self.dimension
        )
        return VectorPage([row.id for row in rows], [row.names for row in rows], vectors)

    def _rows_after(
        self, partition: Partition, kind: VectorKind, after: str, limit: int
    ) -> list[VectorRow]:
        stored.after_filter(partition.workspace, after)
        table = self._table(partition, kind)
        return [table[id] for id in sorted(id for id in table if id > after)[: max(0, limit)]]

    async def count(self, partition: Partition, kind: VectorKind) -> int:
        """See `Vectors`."""
        return len(self._table(partition, kind))

    async def model_of(self, generation: int) -> EmbeddingModel | None:
        """See `Vectors`."""
        makers = self._tables.get(generation, {})
        ours = EmbeddingModel(self.model, self.dimension)
        return (
            ours if str(ours) in makers else EmbeddingModel.named(min(makers)) if makers else None
        )

    async def generations(self) -> set[int]:
        """See `Vectors`."""
        return set(self._tables)

    async def drop(self, generation: int) -> None:
        """See `Vectors`."""
        self._tables.pop(generation, None)

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        """See `Vectors`."""
        row = self._table(_no_workspace(generation), "chunks").get(CHECKPOINT)
        return Checkpoint(row.version, row.text) if row else None

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """See `Vectors`."""
        before = await self.checkpoint(generation)
        if before is None or before.sequence < checkpoint.sequence:
            row = VectorRow(CHECKPOINT, checkpoint.log, "", checkpoint.sequence)
            self._table(_no_workspace(generation), "chunks", create=True)[row.id] = row

    async def close(self) -> None:
        """See `Vectors`. Nothing to let go of."""

    def _table(
        self, partition: Partition, kind: VectorKind, *, create: bool = False
    ) -> dict[str, VectorRow]:
        """The rows of one kind in a space, by id. Raises ModelChanged when only other models filled
        the generation.
        """
        ours = collection_names.model_text(self.model, self.dimension)
        makers = self._tables.get(partition.generation, {})
        if makers and ours not in makers:
            raise collection_names.model_changed(partition.generation, min(makers), ours)
        if create:
            makers = self._tables.setdefault(partition.generation, {})
            return makers.setdefault(ours, {}).setdefault((partition.workspace, kind), {})
        return makers.get(ours, {}).get((partition.workspace, kind), {})
