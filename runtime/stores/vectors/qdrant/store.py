"""Vectors in Qdrant: a collection for each kind, generation and model, over its HTTP API."""

import asyncio
from collections.abc import Collection, Sequence

import numpy as np
from qdrant_client import AsyncQdrantClient, models

from contracts.graph import VECTOR_KINDS, EmbeddingModel, Hit, Partition, VectorKind, VectorRow
from runtime.batching import batched, batched_by_bytes
from runtime.stores.port import Checkpoint
from runtime.stores.vectors import checkpoint_rows
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.checkpoint_rows import CHECKPOINT
from runtime.stores.vectors.collection_names import of_generation
from runtime.stores.vectors.port import RowVersion, VectorPage
from runtime.stores.vectors.qdrant import points
from runtime.stores.vectors.qdrant.collections import Collections
from runtime.stores.vectors.qdrant.nearest import EXACT_BELOW, Nearest

BATCH_BYTES = 16 * 1024 * 1024
"""The server refuses a request above 32 MiB, unless it is told another number."""


class QdrantVectors:
    """`Vectors` on a Qdrant server, 1.16 or newer. `timeout`: seconds that bound each exchange.

    `exact_below`: rows of a workspace from which on the index is asked. Raises ConfigurationError
    for a URL that is none.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str,
        dimension: int,
        api_key: str = "",
        exact_below: int = EXACT_BELOW,
        timeout: float = 30.0,
    ) -> None:
        self.model = model
        self.dimension = dimension
        self._collections = Collections(
            url, model=model, dimension=dimension, api_key=api_key, timeout=timeout
        )
        self._nearest = Nearest(self._collections, exact_below)

    async def prepare(self, generation: int) -> None:
        """See `Vectors`."""
        await asyncio.gather(*(self._collections.make(generation, kind) for kind in VECTOR_KINDS))

    async def missing(self, generation: int) -> list[str]:
        """See `Vectors`."""
        if line := await self.outdated(generation):
            return [line]
        missing_names = await self._collections.of_model.missing(generation)
        return [f"collection {name} is not there" for name in missing_names]

    async def outdated(self, generation: int) -> str | None:
        """See `Vectors`."""
        return await self._collections.of_model.outdated(generation)

    async def ping(self) -> None:
        """See `Vectors`."""
        await self._collections.names()

    async def put(self, partition: Partition, kind: VectorKind, rows: Sequence[VectorRow]) -> None:
        """See `Vectors`. At most 500 rows and 16 MiB go in one request, so a put that fails may
        have written a part.
        """
        for batch in batched_by_bytes(
            stored.normalized_rows(rows, self.dimension),
            points.bytes_of,
            max_items=stored.BATCH_ROWS,
            max_bytes=BATCH_BYTES,
        ):
            new_points = [points.to_point(partition.workspace, kind, row) for row in batch]
            await self._upsert(partition, kind, new_points)

    async def get(
        self, partition: Partition, kind: VectorKind, ids: Collection[str], *, vectors: bool = False
    ) -> dict[str, VectorRow]:
        """See `Vectors`."""
        field_names = [*points.ROW, points.NUMBERS] if vectors else points.ROW
        payloads = await self._payloads(partition, kind, ids, field_names)
        return {payload["id"]: points.from_payload(payload) for payload in payloads}

    async def versions(
        self, partition: Partition, kind: VectorKind, ids: Collection[str]
    ) -> dict[str, RowVersion]:
        """See `Vectors`."""
        payloads = await self._payloads(partition, kind, ids, ["id", "version", "text_hash"])
        return {
            payload["id"]: RowVersion(payload["version"], payload["text_hash"])
            for payload in payloads
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
        if top_k < 1 or (documents is not None and not documents):
            return []
        chosen = None if documents is None else [*documents]
        hits = await self._nearest.best(partition, kind, direction, top_k, chosen)
        return [hit for hit in hits if hit.score > min_score]

    async def warm(self, partition: Partition, kind: VectorKind) -> bool:
        """See `Vectors`. The server searches."""
        return False

    async def likeness(
        self, partition: Partition, kind: VectorKind, vector: Sequence[float], ids: Collection[str]
    ) -> dict[str, float]:
        """See `Vectors`. The server compares."""
        direction = stored.single_precision(vector, self.dimension, "the question").tolist()
        scores: dict[str, float] = {}
        for batch in batched(self._point_ids(partition, ids), stored.READ_ROWS):
            condition = points.with_ids(batch)
            hits = await self._nearest.nearest(partition, kind, direction, condition, len(batch))
            scores |= {hit.id: hit.score for hit in hits}
        return scores

    async def delete(
        self,
        partition: Partition,
        kind: VectorKind,
        ids: Collection[str],
        *,
        before: int | None = None,
    ) -> None:
        """See `Vectors`. The server compares versions when it deletes, not before."""
        conditions = [] if before is None else [points.before(before)]
        for batch in batched(self._point_ids(partition, ids), stored.READ_ROWS):
            await self._delete(partition, kind, points.with_ids(batch, *conditions))

    async def scan(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> list[VectorRow]:
        """See `Vectors`. Raises Poison when `after` is neither an id nor empty."""
        payloads = await self._page(partition, kind, after, limit, points.ROW)
        return [points.from_payload(payload) for payload in payloads]

    async def scan_vectors(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> VectorPage:
        """See `Vectors`. Raises Poison when `after` is neither an id nor empty."""
        payloads = await self._page(partition, kind, after, limit, ["id", "names", points.NUMBERS])
        vectors = [points.numbers_of(payload) for payload in payloads]
        return VectorPage(
            [payload["id"] for payload in payloads],
            [tuple(payload["names"]) for payload in payloads],
            np.array(vectors, np.float32).reshape(len(payloads), self.dimension),
        )

    async def count(self, partition: Partition, kind: VectorKind) -> int:
        """See `Vectors`."""
        condition = points.of_workspace(partition.workspace)

        async def number(client: AsyncQdrantClient, name: str) -> int:
            return (await client.count(name, count_filter=condition, exact=True)).count

        return await self._collections.use(partition.generation, kind, number) or 0

    async def model_of(self, generation: int) -> EmbeddingModel | None:
        """See `Vectors`."""
        return await self._collections.of_model.model_of(generation)

    async def generations(self) -> set[int]:
        """See `Vectors`."""
        return await self._collections.of_model.generations()

    async def drop(self, generation: int) -> None:
        """See `Vectors`."""
        for name in of_generation(await self._collections.names(), generation):
            await self._collections.drop(name)

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        """See `Vectors`. The least of the three collections."""
        condition = points.of_tenant(CHECKPOINT)
        checkpoints: list[Checkpoint] = []
        for kind in VECTOR_KINDS:

            async def read(client: AsyncQdrantClient, name: str) -> list[models.Record]:
                return (await client.scroll(name, scroll_filter=condition, limit=100))[0]

            records = await self._collections.use(generation, kind, read) or []
            newest = checkpoint_rows.newest(dict(record.payload or {}) for record in records)
            if newest is None:
                return None
            checkpoints.append(newest)
        return min(checkpoints, key=lambda checkpoint: checkpoint.sequence)

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """See `Vectors`."""
        partition = Partition("", generation)
        point = points.checkpoint_point(checkpoint, self.dimension)
        older = points.of_tenant(CHECKPOINT, points.before(checkpoint.sequence))
        for kind in VECTOR_KINDS:
            await self._upsert(partition, kind, [point])
            await self._delete(partition, kind, older)

    async def close(self) -> None:
        """See `Vectors`."""
        await self._collections.close()

    def _point_ids(self, partition: Partition, ids: Collection[str]) -> list[str]:
        return [points.point_id(partition.workspace, id) for id in dict.fromkeys(ids)]

    async def _upsert(
        self, partition: Partition, kind: VectorKind, new_points: list[models.PointStruct]
    ) -> None:
        async def upsert(client: AsyncQdrantClient, name: str) -> None:
            await client.upsert(name, new_points, wait=True)

        await self._collections.use(partition.generation, kind, upsert, create=True, write=True)

    async def _delete(
        self, partition: Partition, kind: VectorKind, condition: models.Filter
    ) -> None:
        async def delete(client: AsyncQdrantClient, name: str) -> None:
            await client.delete(name, models.FilterSelector(filter=condition), wait=True)

        await self._collections.use(partition.generation, kind, delete, write=True)

    async def _payloads(
        self, partition: Partition, kind: VectorKind, ids: Collection[str], field_names: list[str]
    ) -> list[points.Payload]:
        """Return these fields of the rows that exist among `ids`."""
        payloads: list[points.Payload] = []
        for batch in batched(self._point_ids(partition, ids), stored.READ_ROWS):

            async def read(
                client: AsyncQdrantClient, name: str, batch: list[str] = batch
            ) -> list[models.Record]:
                return await client.retrieve(name, batch, with_payload=field_names)

            records = await self._collections.use(partition.generation, kind, read) or []
            payloads += [record.payload or {} for record in records]
        return payloads

    async def _page(
        self,
        partition: Partition,
        kind: VectorKind,
        after: str,
        limit: int,
        field_names: list[str],
    ) -> list[points.Payload]:
        """Return these fields of up to `limit` rows with greater ids, by id."""
        stored.after_filter(partition.workspace, after)
        while limit > 0 and (ids := await self._ids_after(partition, kind, after, limit)):
            payloads = await self._payloads(partition, kind, ids, field_names)
            if payloads:
                return sorted(payloads, key=lambda payload: payload["id"])
            after = ids[-1]  # all of them were deleted meanwhile
        return []

    async def _ids_after(
        self, partition: Partition, kind: VectorKind, after: str, limit: int
    ) -> list[str]:
        """Return up to `limit` greater ids, in order: the server orders places, which several ids
        may share.
        """
        condition = points.of_workspace(partition.workspace)
        start = models.OrderBy(key="place", start_from=points.place_of(kind, after))
        rows = limit + 1
        while True:

            async def read(
                client: AsyncQdrantClient, name: str, rows: int = rows
            ) -> list[models.Record]:
                answer = await client.scroll(
                    name,
                    scroll_filter=condition,
                    order_by=start,
                    limit=rows,
                    with_payload=["id", "place"],
                )
                return answer[0]

            records = await self._collections.use(partition.generation, kind, read) or []
            payloads = [record.payload or {} for record in records]
            is_all = len(payloads) < rows
            # Of the last place there may be more.
            end = payloads[-1]["place"] if payloads and not is_all else None
            ids = sorted(p["id"] for p in payloads if p["id"] > after and p["place"] != end)
            if is_all or len(ids) >= limit:
                return ids[:limit]
            rows *= 4
