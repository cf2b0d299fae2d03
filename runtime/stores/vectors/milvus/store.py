"""Vectors in Milvus, a cluster or the embedded Milvus Lite: the same calls for both.

The writer waits, so that readers need not. A write ends with one strongly consistent read, which
the server answers once all that was written before can be found; from then on a read with bounded
staleness finds it too, whoever asks. So no search waits for the server's clock, which would cost it
up to 200 ms. This holds for collections that are loaded with one replica, as this adapter loads
them.
"""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from contracts.graph import VECTOR_KINDS, EmbeddingModel, Hit, Partition, VectorKind, VectorRow
from runtime.errors import Unavailable
from runtime.retries import Backoff
from runtime.stores.port import Checkpoint
from runtime.stores.vectors import checkpoint_rows
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.collection_names import of_generation
from runtime.stores.vectors.milvus.collections import Collections
from runtime.stores.vectors.milvus.searches import Searches
from runtime.stores.vectors.port import RowVersion, VectorPage
from runtime.workarounds.pymilvus import DataType, query_columns, upsert_columns

MOST_HITS = 16_384
"""The server's limit of one search."""

TYPES = {**dict.fromkeys(stored.NUMBERS, DataType.INT64), "vector": DataType.FLOAT_VECTOR}
"""The types of the fields that are no texts."""

PUTS = 8
"""How often rows are written that another client writes at the same time."""

OUT_OF_STEP = Backoff(first=0.05, longest=2.0, spread=1.0)


class MilvusVectors:
    """`Vectors` over gRPC. `timeout` is in seconds and bounds each exchange with the server.

    `token` is `user:password` or an API key. Raises ConfigurationError for a URI that is not
    http(s), or an unknown index type: FLAT is exact and for every server, HNSW or AUTOINDEX for a
    large index on a Milvus cluster.
    """

    def __init__(
        self,
        uri: str,
        *,
        model: str,
        dimension: int,
        index_type: str = "FLAT",
        token: str = "",
        timeout: float = 30,
    ) -> None:
        self.model = model
        self.dimension = dimension
        self._collections = Collections(
            uri,
            model=model,
            dimension=dimension,
            index_type=index_type,
            token=token,
            timeout=timeout,
        )
        self._timeout = timeout
        self._searches = Searches(self._collections, timeout)

    async def prepare(self, generation: int) -> None:
        """See `Vectors`. About 4 s on a cluster where the generation is new."""
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
        """See `Vectors`. At most 500 rows and 16 MiB go in one call, so a put that fails may have
        written a part.
        """
        # Neighbours stand on the same pages of an index over the ids.
        ordered_rows = sorted(rows, key=lambda row: row.id)
        batches_left = list(stored.batches(stored.normalized_rows(ordered_rows, self.dimension)))
        for attempt in range(1, PUTS + 1):
            for batch in batches_left:
                await self._upsert(partition, kind, stored.to_columns(partition.workspace, batch))
            batches_left = await self._doubled(partition, kind, batches_left)
            if not batches_left:
                return
            # Clients that write in step would go on doubling each other's rows.
            await asyncio.sleep(OUT_OF_STEP.delay(attempt))
        raise Unavailable(f"several clients kept writing the same {kind} of {partition.workspace}")

    async def get(
        self, partition: Partition, kind: VectorKind, ids: Collection[str], *, vectors: bool = False
    ) -> dict[str, VectorRow]:
        """See `Vectors`."""
        columns = [*stored.ROW_FIELDS, "vector"] if vectors else [*stored.ROW_FIELDS]
        rows: dict[str, VectorRow] = {}
        for condition in stored.id_filters(partition.workspace, ids):
            for fields in await self._query(partition, kind, condition, columns):
                row = stored.from_fields(fields)
                rows[row.id] = row
        return rows

    async def versions(
        self, partition: Partition, kind: VectorKind, ids: Collection[str]
    ) -> dict[str, RowVersion]:
        """See `Vectors`."""
        versions: dict[str, RowVersion] = {}
        for condition in stored.id_filters(partition.workspace, ids):
            for fields in await self._query(partition, kind, condition, [*stored.VERSION_FIELDS]):
                versions[stored.id_of(fields["key"])] = RowVersion(
                    int(fields["version"]), fields["text_hash"]
                )
        return versions

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
        """See `Vectors`. At most 16,383 hits."""
        direction = stored.single_precision(vector, self.dimension, "the question").tolist()
        top_k = min(top_k, MOST_HITS - 1)
        if top_k < 1 or (documents is not None and not documents):
            return []
        condition = stored.workspace_filter(partition.workspace, documents)
        # The server orders equal rows as it likes: ask for more until the last one wanted beats the
        # last one given.
        limit = top_k + 1
        while True:
            # What Milvus calls the cosine distance is the similarity.
            answer = await self._searches.nearest(
                partition, kind, direction, limit, condition, stored.HIT_FIELDS
            )
            candidates = stored.ranked(stored.hits(answer.keys, answer.fields, answer.similarities))
            hits = stored.only_documents(candidates, documents)
            certain = len(hits) > top_k and hits[top_k - 1].score != candidates[-1].score
            if certain or len(candidates) < limit or limit == MOST_HITS:
                return [hit for hit in hits[:top_k] if hit.score > min_score]
            limit = min(4 * limit, MOST_HITS)

    async def warm(self, partition: Partition, kind: VectorKind) -> bool:
        """See `Vectors`. The server searches."""
        return False

    async def likeness(
        self, partition: Partition, kind: VectorKind, vector: Sequence[float], ids: Collection[str]
    ) -> dict[str, float]:
        """See `Vectors`. The server compares; the vectors of rows that its index skips are
        fetched.
        """
        direction = stored.single_precision(vector, self.dimension, "the question")
        scores: dict[str, float] = {}
        for condition in stored.id_filters(partition.workspace, ids):
            nearest = await self._searches.nearest(
                partition, kind, direction.tolist(), stored.READ_ROWS, condition, ()
            )
            for key, similarity in zip(nearest.keys, nearest.similarities, strict=True):
                scores[stored.id_of(key)] = stored.rounded_score(similarity)
        rows_left = await self.get(
            partition, kind, [id for id in ids if id not in scores], vectors=True
        )
        return scores | dict(
            zip(
                rows_left,
                stored.similarities([row.vector for row in rows_left.values()], direction),
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
        conditions = list(stored.id_filters(partition.workspace, ids))
        for condition in conditions:
            older_condition = (
                f"{condition} and version < {before}" if before is not None else condition
            )
            await self._delete(partition, kind, older_condition)
        if conditions:
            await self._settle(partition, kind)

    async def scan(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> list[VectorRow]:
        """See `Vectors`. Raises Poison when `after` is neither an id nor empty."""
        return [
            *map(
                stored.from_fields,
                await self._after(partition, kind, after, limit, stored.ROW_FIELDS),
            )
        ]

    async def scan_vectors(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> VectorPage:
        """See `Vectors`. At most 16,384 rows. Raises Poison when `after` is neither an id nor
        empty.
        """
        condition = stored.after_filter(partition.workspace, after)
        options = {
            "consistency_level": "Bounded",
            "timeout": self._timeout,
            "limit": min(limit, MOST_HITS),
        }

        async def query(client: Any, name: str) -> dict[str, Any]:
            return await query_columns(client, name, condition, [*stored.PLACED_VECTOR], **options)

        columns = await self._collections.use(partition.generation, kind, query)
        if not columns:
            return VectorPage([], [], np.empty((0, self.dimension), np.float32))
        vectors = columns["vector"].reshape(-1, self.dimension)
        return stored.vector_page(columns["id"], columns["names"], vectors)

    async def count(self, partition: Partition, kind: VectorKind) -> int:
        """See `Vectors`."""
        answer = await self._query(
            partition, kind, stored.workspace_filter(partition.workspace), ["count(*)"]
        )
        return int(answer[0]["count(*)"]) if answer else 0

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
        partition = Partition("", generation)
        columns = [*checkpoint_rows.CHECKPOINT_FIELDS]
        answers = await asyncio.gather(
            *(
                self._query(partition, kind, checkpoint_rows.CHECKPOINT_FILTER, columns)
                for kind in VECTOR_KINDS
            )
        )
        of_each = [checkpoint_rows.newest(rows) for rows in answers]
        checkpoints = [checkpoint for checkpoint in of_each if checkpoint]
        return (
            min(checkpoints, key=lambda checkpoint: checkpoint.sequence)
            if len(checkpoints) == len(of_each)
            else None
        )

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """See `Vectors`."""
        partition = Partition("", generation)
        row = checkpoint_rows.to_columns(checkpoint, self.dimension)
        for kind in VECTOR_KINDS:
            await self._upsert(partition, kind, row)
            await self._delete(partition, kind, checkpoint_rows.older_filter(checkpoint))
            await self._settle(partition, kind)

    async def close(self) -> None:
        """See `Vectors`."""
        await self._collections.close()

    async def _doubled(
        self, partition: Partition, kind: VectorKind, batches: list[list[VectorRow]]
    ) -> list[list[VectorRow]]:
        """Return the batches of which an id has two rows, once every reader finds what was written.

        Milvus Lite deletes and inserts in two steps, so that of two upserts of one key at once both
        may insert. Each of them looks, so the last sees it, and writing again leaves one. The first
        look is strongly consistent, which makes it the read that a write ends with: all batches
        were written before it.
        """
        halved_batches: list[list[VectorRow]] = []
        for number, batch in enumerate(batches):
            keys = stored.keys_filter(stored.key(partition.workspace, row.id) for row in batch)
            consistency = "Bounded" if number else "Strong"
            answer = await self._query(
                partition, kind, keys, ["count(*)"], consistency_level=consistency
            )
            if answer and int(answer[0]["count(*)"]) > len(batch):
                halved_batches.append(batch)
        return halved_batches

    async def _upsert(
        self, partition: Partition, kind: VectorKind, columns: stored.Columns
    ) -> None:
        entities = [
            {"name": name, "type": TYPES.get(name, DataType.VARCHAR), "values": values}
            for name, values in columns.items()
        ]

        async def upsert(client: Any, name: str) -> None:
            await upsert_columns(client, name, entities, self._timeout)

        await self._collections.use(partition.generation, kind, upsert, create=True, write=True)

    async def _delete(self, partition: Partition, kind: VectorKind, condition: str) -> None:
        async def delete(client: Any, name: str) -> None:
            await client.delete(name, filter=condition, timeout=self._timeout)

        await self._collections.use(partition.generation, kind, delete, write=True)

    async def _settle(self, partition: Partition, kind: VectorKind) -> None:
        """Return when every reader finds what was written so far."""
        nothing_filter = stored.equals_filter("key", "-")
        await self._query(
            partition, kind, nothing_filter, ["key"], limit=1, consistency_level="Strong"
        )

    async def _after(
        self,
        partition: Partition,
        kind: VectorKind,
        after: str,
        limit: int,
        output_fields: Sequence[str],
        **options: Any,
    ) -> list[stored.Fields]:
        """Return these fields, the id among them, of up to `limit` rows with greater ids, by id."""
        rows: list[stored.Fields] = []
        while len(rows) < limit:
            page = min(stored.READ_ROWS, limit - len(rows))
            condition = stored.after_filter(partition.workspace, after)
            page_rows = await self._query(
                partition, kind, condition, [*output_fields], limit=page, **options
            )
            rows += sorted(page_rows, key=lambda row: row["id"])
            if len(page_rows) < page:
                break
            after = rows[-1]["id"]
        return rows

    async def _query(
        self,
        partition: Partition,
        kind: VectorKind,
        condition: str,
        output_fields: list[str],
        **options: Any,
    ) -> list[stored.Fields]:
        """Return the stored fields of the rows that match the condition; nothing without a
        collection.
        """
        options = {"consistency_level": "Bounded", "timeout": self._timeout, **options}

        async def query(client: Any, name: str) -> list[stored.Fields]:
            return list(
                await client.query(name, filter=condition, output_fields=output_fields, **options)
            )

        return await self._collections.use(partition.generation, kind, query) or []
