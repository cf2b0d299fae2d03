"""Caches extractions in the document store, so that none is paid for twice. A rebuild does not
replace them.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from contracts.graph import Partition
from contracts.ids import origin_of
from contracts.values import ExtractedEntity, ExtractedRelation, TokenUsage
from runtime.concurrency.key_locks import KeyLocks
from runtime.metrics.instruments import count_lookups
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.write_behind import WriteBehind
from services.extractor.domain.extraction import Extraction


class ExtractionCache:
    """`Extractions` over `Rows`. Workspaces share nothing: no tenant learns what another has
    extracted. A branch, which is of the same tenant, finds what its origin has extracted.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = WriteBehind(rows)
        self._locks = KeyLocks()

    async def get(self, workspace: str, keys: Sequence[str]) -> dict[str, Extraction]:
        """See `Extractions.get`."""
        wanted_keys = list(dict.fromkeys(keys))
        rows = await self._rows.get(_table(workspace), wanted_keys)
        if (origin := origin_of(workspace)) and len(rows) < len(wanted_keys):
            missing_keys = [key for key in wanted_keys if key not in rows]
            rows = {**rows, **await self._rows.get(_table(origin), missing_keys)}
        count_lookups("extractions", hits=len(rows))
        return {key: _extraction(row) for key, row in rows.items()}

    async def once(
        self, workspace: str, key: str, make: Callable[[], Awaitable[Extraction]]
    ) -> tuple[Extraction, bool]:
        """See `Extractions.once`. While the store refuses writes, this process keeps the extraction
        in memory.
        """
        async with self._locks.hold([f"{workspace} {key}"]):
            cached_extractions = await self.get(workspace, [key])
            if key in cached_extractions:
                return cached_extractions[key], True
            count_lookups("extractions", misses=1)
            await self._rows.ready()
            extraction = await make()
            await self.put(workspace, key, extraction)
            return extraction, False

    async def put(self, workspace: str, key: str, extraction: Extraction) -> None:
        """See `Extractions.put`. While the store refuses writes, this process keeps the extraction
        in memory.
        """
        await self._rows.put(_table(workspace), {key: _row(extraction)})

    async def existing(self, workspace: str, keys: Sequence[str]) -> set[str]:
        """Return those of the keys that have an extraction, of this workspace or its origin."""
        keys_there = set(await self._rows.existing(_table(workspace), keys))
        if origin := origin_of(workspace):
            keys_there |= set(await self._rows.existing(_table(origin), keys))
        return keys_there

    async def put_missing(self, workspace: str, extractions: Mapping[str, Extraction]) -> None:
        """Cache those of many extractions that are not cached."""
        table = _table(workspace)
        existing_keys = await self._rows.existing(table, extractions)
        await self._rows.put(
            table,
            {
                key: _row(extraction)
                for key, extraction in extractions.items()
                if key not in existing_keys
            },
        )


def _table(workspace: str) -> Table:
    return Table("extractions", Partition(workspace, 0))


def _row(extraction: Extraction) -> Row:
    return {
        "entities": [vars(entity) for entity in extraction.entities],
        "relations": [
            {**vars(relation), "keywords": [*relation.keywords]}
            for relation in extraction.relations
        ],
        "usage": extraction.usage.model_dump(),
        "payer": extraction.payer,
        "warnings": [*extraction.warnings],
    }


def _extraction(row: Row) -> Extraction:
    return Extraction(
        tuple(ExtractedEntity(**entity) for entity in row["entities"]),
        tuple(ExtractedRelation(**relation) for relation in row["relations"]),
        TokenUsage(**row["usage"]),
        row.get("payer", ""),
        tuple(row.get("warnings", ())),
    )
