"""Extractions that were paid for, in the document store. No generation replaces them."""

from collections.abc import Awaitable, Callable, Sequence

from contracts.graph import Partition
from contracts.values import ExtractedEntity, ExtractedRelation, TokenUsage
from runtime.concurrency.key_locks import KeyLocks
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.write_behind import WriteBehind
from services.extractor.domain.extraction import Extraction


class ExtractionCache:
    """Extractions by cache key, per workspace: one tenant's cache tells another nothing."""

    def __init__(self, rows: Rows) -> None:
        self._rows, self._locks = WriteBehind(rows), KeyLocks()

    async def get(self, workspace: str, keys: Sequence[str]) -> dict[str, Extraction]:
        """Those that are known among `keys`."""
        found = await self._rows.get(_table(workspace), list(dict.fromkeys(keys)))
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
        await self._rows.put(_table(workspace), {key: row})


def _table(workspace: str) -> Table:
    return Table("extractions", Partition(workspace, 0))


def _extraction(row: Row) -> Extraction:
    return Extraction(
        tuple(ExtractedEntity(**entity) for entity in row["entities"]),
        tuple(ExtractedRelation(**relation) for relation in row["relations"]),
        TokenUsage(**row["usage"]),
    )
