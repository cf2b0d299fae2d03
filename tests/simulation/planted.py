"""Bugs to plant, each by name: the simulation has to find them. The first three were real ones."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

from runtime.bus.document_versions import LogVersions
from runtime.bus.results import Results
from runtime.stores.documents.memory import MemoryRows
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.merger import refold

Plant = Callable[[], AbstractContextManager[Any]]


async def _delete_all(self: MemoryRows, table: Any, keys: Collection[str], field: str, version: int) -> None:
    await self.delete(table, keys)


async def _put_all(self: MemoryRows, table: Any, rows: Mapping[str, Any], field: str) -> None:
    await self.put(table, rows)


async def _no_newer_chunks(*_: Any) -> list[Any]:
    return []


async def _cache_nothing(*_: Any) -> None: ...


async def _publish_the_first(self: Results, batch: Any, facts: Any) -> None:
    await PUBLISH(self, batch[:1], facts[:1])


def _once_each(changed: Any, edits: Any, noted: Any) -> dict[Any, set[str]]:
    """Leave a key out that was counted before, though an edit has brought it more chunks."""
    chunks: defaultdict[Any, set[str]] = defaultdict(set)
    for raw, of_raw in changed.items():
        for key in edits.all_canonical_keys((raw,)):
            if key not in noted:
                chunks[key].update(of_raw)
    return dict(sorted(chunks.items()))


PUBLISH = Results.publish

PLANTED: Mapping[str, Plant] = {
    "passages-deleted-though-newer": lambda: mock.patch.object(MemoryRows, "delete_older", _delete_all),
    "older-chunks-written-last": lambda: mock.patch.object(LogVersions, "newer_chunks", _no_newer_chunks),
    "edit-seen-late": lambda: mock.patch.object(refold, "_chunks_of_canonical_keys", _once_each),
    "passages-not-compared": lambda: mock.patch.object(MemoryRows, "put_newer", _put_all),
    "results-of-a-batch-lost": lambda: mock.patch.object(Results, "publish", _publish_the_first),
    "nothing-cached": lambda: mock.patch.object(ExtractionCache, "put", _cache_nothing),
}
