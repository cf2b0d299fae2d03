"""What was paid for once, in the document store: extractions, embeddings, keywords and answers of questions.

No generation replaces them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from contracts.graph import Partition
from contracts.ids import sha256
from contracts.values import ExtractedEntity, ExtractedRelation, TokenUsage
from runtime.activity import progressed
from runtime.batching import batched
from runtime.concurrency.key_locks import KeyLocks
from runtime.models.call_scope import calls_for
from runtime.models.port import Embedder, Extraction, Vector
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.write_behind import WriteBehind


def _table(name: str, workspace: str) -> Table:
    return Table(name, Partition(workspace, 0))


class ExtractionCache:
    """Extractions by cache key, per workspace: one tenant's cache tells another nothing."""

    def __init__(self, rows: Rows) -> None:
        self._rows, self._locks = WriteBehind(rows), KeyLocks()

    async def get(self, workspace: str, keys: Sequence[str]) -> dict[str, Extraction]:
        """Those that are known among `keys`."""
        found = await self._rows.get(_table("extractions", workspace), list(dict.fromkeys(keys)))
        return {key: _extraction(row) for key, row in found.items()}

    async def once(
        self, workspace: str, key: str, make: Callable[[], Awaitable[Extraction]]
    ) -> tuple[Extraction, bool]:
        """The one that is known, or the one that is made and remembered now; and whether it was known.

        One that another call of this process is having made is waited for. One that the store does not take is
        remembered by this process. Raises what `make` raises.
        """
        async with self._locks.hold([f"{workspace} {key}"]):
            known = await self.get(workspace, [key])
            if key in known:
                return known[key], True
            await self._rows.ready()
            made = await make()
            await self.put(workspace, key, made)
            return made, False

    async def put(self, workspace: str, key: str, extraction: Extraction) -> None:
        """Remember one, in this process while the store does not take it. Twice is once."""
        row: Row = {
            "entities": [entity.model_dump() for entity in extraction.entities],
            "relations": [relation.model_dump(mode="json") for relation in extraction.relations],
            "usage": extraction.usage.model_dump(),
        }
        await self._rows.put(_table("extractions", workspace), {key: row})


class RowCache:
    """Rows of one table by cache key, per workspace."""

    def __init__(self, rows: Rows, table: str) -> None:
        self._rows, self._table, self._locks = rows, table, KeyLocks()

    async def get(self, workspace: str, key: str) -> Row | None:
        """The row, if there is one."""
        return (await self._rows.get(_table(self._table, workspace), [key])).get(key)

    async def put(self, workspace: str, key: str, row: Row) -> None:
        """It now stands there, whatever stood there before."""
        await self._rows.put(_table(self._table, workspace), {key: row})

    def alone(self, workspace: str, key: str) -> AbstractAsyncContextManager[None]:
        """For as long as it is held, nobody else of this process holds it."""
        return self._locks.hold([f"{workspace} {key}"])


def _extraction(row: Row) -> Extraction:
    return Extraction(
        tuple(ExtractedEntity(**entity) for entity in row["entities"]),
        tuple(ExtractedRelation(**relation) for relation in row["relations"]),
        TokenUsage(**row["usage"]),
    )


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
        table = _table("embeddings", workspace)
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
        progressed()
        await self._rows.put(table, {keys[text]: {"vector": list(vector)} for text, vector in made.items()})
        return made
