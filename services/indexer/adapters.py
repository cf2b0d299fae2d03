"""Embeddings that were paid for, in the document store. No generation replaces them."""

import asyncio
from collections.abc import Mapping, Sequence

from contracts.graph import Partition
from contracts.ids import sha256
from runtime.activity import note_progress
from runtime.batching import batched
from runtime.concurrency.key_locks import KeyLocks
from runtime.models.call_scope import calls_for
from runtime.models.port import Embedder, Vector
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.write_behind import WriteBehind


class CachedEmbeddings:
    """An embedder that asks its inner one only for texts it has not seen, per workspace.

    A text that another call of this process is having embedded is waited for. What is missing is
    asked for in groups of at most `group` texts, and each is remembered when it has come: a provider that asks to wait
    in the middle is not paid twice for what it has given, nor one whose vectors the store does not take at once.
    """

    def __init__(self, rows: Rows, embedder: Embedder, group: int = 80) -> None:
        self._rows, self._embedder, self._group = WriteBehind(rows), embedder, group
        self.model, self.dimension = embedder.model, embedder.dimension
        self._locks = KeyLocks()

    async def embed(self, workspace: str, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order. Raises what `Embedder.embed` raises."""
        table = Table("embeddings", Partition(workspace, 0))
        keys = {text: sha256(f"{self.model}\x1f{self.dimension}\x1f{text}") for text in texts}
        async with self._locks.hold(f"{workspace} {key}" for key in keys.values()):
            known: Mapping[str, Row] = await self._rows.get(table, list(keys.values()))
            missing = [text for text, key in keys.items() if key not in known]
            if missing:
                await self._rows.ready()
            making = (self._make(table, keys, one) for one in batched(missing, self._group))
            made: dict[str, Vector] = {}
            # All of them are waited for, so that none is paid for and forgotten because another failed.
            with calls_for(workspace):
                results = await asyncio.gather(*making, return_exceptions=True)
            for found in results:
                if isinstance(found, BaseException):
                    raise found
                made |= found
        return [made[text] if text in made else tuple(known[keys[text]]["vector"]) for text in texts]

    async def _make(self, table: Table, keys: Mapping[str, str], texts: Sequence[str]) -> dict[str, Vector]:
        made = dict(zip(texts, await self._embedder.embed(texts), strict=True))
        note_progress()
        await self._rows.put(table, {keys[text]: {"vector": list(vector)} for text, vector in made.items()})
        return made
