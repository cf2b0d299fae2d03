"""Caches embeddings in the document store, so that none is paid for twice. A rebuild does not
replace them.

Numbers are rounded to half precision before anybody sees them, so that cache, index and a rebuild
hold the same.
"""

import asyncio
from array import array
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from contracts.graph import Partition
from contracts.ids import origin_of
from runtime.activity import note_progress
from runtime.batching import batched
from runtime.concurrency.key_locks import KeyLocks
from runtime.metrics.instruments import count_lookups
from runtime.models.call_scope import calls_for
from runtime.models.cut_texts import note_cut, noted_cuts
from runtime.models.port import Embedder, Vector
from runtime.projections.compressed_halves import Halves, compressed, decompressed
from runtime.projections.embedding_keys import embedding_key, is_older, older_embedding_key
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.write_behind import WriteBehind


class CachedEmbeddings:
    """An embedder that calls its inner one only for texts it has no vector of, per workspace. A
    branch takes those of its origin.

    If another call of this process is embedding a text already, the vector is awaited. Missing
    texts are embedded in groups of at most `group`, and the vectors of each group are stored as
    soon as they arrive: when the provider then asks to wait, or the store refuses vectors, no text
    has to be paid for again.
    """

    def __init__(self, rows: Rows, embedder: Embedder, group: int = 80) -> None:
        self._stored = rows
        self._rows = WriteBehind(rows)
        self._embedder = embedder
        self._group = group
        self.model = embedder.model
        self.dimension = embedder.dimension
        self._locks = KeyLocks()
        self._with_older_keys: dict[str, bool] = {}

    async def embed(self, workspace: str, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector per text, in order. Raises what `Embedder.embed` raises.

        Texts that were cut, now or when their vectors were cached, are noted (`noted_cuts`).
        """
        table = Table("embeddings", Partition(workspace, 0))
        keys = {text: embedding_key(self.model, self.dimension, text) for text in texts}
        async with self._locks.hold(f"{workspace} {key}" for key in keys.values()):
            cached_rows = await self._cached(table, keys)
            missing_texts = [text for text, key in keys.items() if key not in cached_rows]
            count_lookups(
                "embeddings", hits=len(keys) - len(missing_texts), misses=len(missing_texts)
            )
            if missing_texts:
                await self._rows.ready()
            calls = (
                self._embed_group(table, keys, group)
                for group in batched(missing_texts, self._group)
            )
            vectors: dict[str, Sequence[float]] = {}
            # All calls are awaited, so that the vectors of one are stored even when another fails.
            with calls_for(workspace):
                results = await asyncio.gather(*calls, return_exceptions=True)
            for result in results:
                if isinstance(result, BaseException):
                    raise result
                vectors |= result
        for text, key in keys.items():
            if characters := cached_rows.get(key, {}).get("cut"):
                note_cut(text, characters)
        return [
            vectors[text] if text in vectors else _vector_of(cached_rows[keys[text]])
            for text in texts
        ]

    async def _cached(self, table: Table, keys: Mapping[str, str]) -> Mapping[str, Row]:
        """Return the rows that exist by key, also those of older keys."""
        rows: dict[str, Row] = await self._rows.get(table, list(keys.values()))
        missing_texts = {key: text for text, key in keys.items() if key not in rows}
        if missing_texts and await self._has_older_keys(table):
            older_keys = {
                older_embedding_key(self.model, self.dimension, text): key
                for key, text in missing_texts.items()
            }
            rows |= {
                older_keys[key]: row
                for key, row in (await self._rows.get(table, list(older_keys))).items()
            }
        return await self._with_those_of_origin(table, keys, rows)

    async def _with_those_of_origin(
        self, table: Table, keys: Mapping[str, str], rows: dict[str, Row]
    ) -> dict[str, Row]:
        """Return the rows, of a branch with those that its origin has, which are its own then."""
        origin = origin_of(table.partition.workspace)
        missing_keys = [key for key in keys.values() if key not in rows]
        if origin is None or not missing_keys:
            return rows
        origin_rows = await self._rows.get(Table(table.name, Partition(origin, 0)), missing_keys)
        await self._rows.put(table, origin_rows)
        return {**rows, **origin_rows}

    async def _has_older_keys(self, table: Table) -> bool:
        """Return whether the workspace had rows of an older version when it was first asked for;
        they sort first.
        """
        workspace = table.partition.workspace
        if workspace not in self._with_older_keys:
            self._with_older_keys[workspace] = any(
                is_older(key) for key, _ in await self._stored.scan(table, limit=1)
            )
        return self._with_older_keys[workspace]

    async def _embed_group(
        self, table: Table, keys: Mapping[str, str], texts: Sequence[str]
    ) -> dict[str, Sequence[float]]:
        with noted_cuts() as cuts:
            halves = _rounded(vectors := await self._embedder.embed(texts))
        rows = dict(zip(texts, _rows_of(vectors, halves), strict=True))
        for text, characters in cuts.items():
            rows[text] = {**rows[text], "cut": characters}
            note_cut(text, characters)
        note_progress()
        await self._rows.put(table, {keys[text]: row for text, row in rows.items()})
        return {
            text: _vector_of(row) if "f32" in row else array("f", numbers.tobytes())
            for (text, row), numbers in zip(rows.items(), halves.astype(np.float32), strict=True)
        }


def _rounded(vectors: Sequence[Vector]) -> Halves:
    """Return vectors of length 1 in half precision, a row each.

    Rounding moves a number by at most a two-thousandth of itself, and the cosine of two vectors by
    some 0.00001.
    """
    with np.errstate(over="ignore"):
        return np.array(vectors, np.float64).astype("<f2")


def _rows_of(vectors: Sequence[Vector], halves: Halves) -> list[Row]:
    """Return the rows of the vectors: their numbers in half precision, compressed."""
    finite: list[bool] = np.logical_and.reduce(np.isfinite(halves), axis=1).tolist()
    return [
        {"f16z": content}
        if is_finite
        else {"f32": array("f", vector).tobytes()}  # of a length nobody gives
        for vector, content, is_finite in zip(vectors, compressed(halves), finite, strict=True)
    ]


def _vector_of(row: Row) -> Sequence[float]:
    """Return the vector of a row, also of one that an older version wrote, as a list of numbers.

    Its numbers stay bytes: the vector store takes them as they are, and a tuple of objects is 100
    times dearer.
    """
    if "f16z" in row:
        return _singles(decompressed(row["f16z"]))
    if "f16" in row:
        return _singles(np.frombuffer(row["f16"], "<f2"))
    return array("f", row["f32"]) if "f32" in row else row["vector"]


def _singles(halves: NDArray[np.float16]) -> Sequence[float]:
    return array("f", halves.astype(np.float32).tobytes())
