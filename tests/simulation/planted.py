"""Bugs to plant, each by name, for the simulation to find. Real ones were the first three, and the
three from `changes-counted-again-not-summarised` on.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

from contracts.events import EntitiesExtracted, StageFailed
from operations.rebuild import Rebuild
from runtime import clock
from runtime.bus import results
from runtime.bus.document_versions import LogVersions
from runtime.bus.parking.policy import ParkedMessage
from runtime.bus.results import Results
from runtime.stores.documents.memory import MemoryRows
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.merger import handler, refold, summarize
from services.merger.domain.history import History

Plant = Callable[[], AbstractContextManager[Any]]


async def _delete_all(
    self: MemoryRows, table: Any, keys: Collection[str], field: str, version: int
) -> None:
    await self.delete(table, keys)


async def _put_all(self: MemoryRows, table: Any, rows: Mapping[str, Any], field: str) -> None:
    await self.put(table, rows)


async def _no_newer_chunks(*_: Any) -> list[Any]:
    return []


async def _cache_nothing(*_: Any) -> None: ...


async def _publish_the_first(self: Results, batch: Any, events: Any) -> None:
    await PUBLISH(self, batch[:1], events[:1])


def _once_each(changed_keys: Any, edits: Any, counted_keys: Any) -> dict[Any, set[str]]:
    """Leave a key out that was counted before, though an edit has brought it more chunks."""
    chunks: defaultdict[Any, set[str]] = defaultdict(set)
    for original, original_chunks in changed_keys.items():
        for key in edits.all_canonical_keys((original,)):
            if key not in counted_keys:
                chunks[key].update(original_chunks)
    return dict(sorted(chunks.items()))


PUBLISH = Results.publish
FAILURES_SAY = handler.newest_contributions
AFFECTED = handler.affected_keys


async def _acknowledge_only(self: ParkedMessage, *_: Any) -> bool:
    """Take a parked event off the list when it fails again."""
    return await self.parked_events.remove(self.event, self.revision)


async def _nothing_more(self: Rebuild) -> None:
    """Switch without what entered the log while the rebuild ran."""


def _successes_only(deliveries: Any) -> Any:
    return FAILURES_SAY(
        [delivery for delivery in deliveries if isinstance(delivery.event, EntitiesExtracted)]
    ) | {
        chunk.id: (0, [])
        for delivery in deliveries
        if isinstance(delivery.event, StageFailed)
        for chunk in delivery.event.chunks
    }


async def _edits_only(partition: Any, new_edits: Any, edits: Any, contributions: Any) -> Any:
    """Fold nothing when an edit is undone."""
    result = await AFFECTED(partition, new_edits, edits, contributions)
    return result | {edit.sequence: set() for edit in new_edits if edit.undoes}


def _newest_only(self: History, revision: int) -> set[str]:
    return {"whatever it names"} if self.revision > revision else set()


async def _no_other_names(*_: Any) -> set[Any]:
    return set()


def _as_the_clock_says(at: float, _: float) -> float:
    return time.monotonic() + at - time.time()


PLANTED: Mapping[str, Plant] = {
    "passages-deleted-though-newer": lambda: mock.patch.object(
        MemoryRows, "delete_older", _delete_all
    ),
    "older-chunks-written-last": lambda: mock.patch.object(
        LogVersions, "newer_chunks", _no_newer_chunks
    ),
    "edit-seen-late": lambda: mock.patch.object(refold, "_uncounted_chunks", _once_each),
    "passages-not-compared": lambda: mock.patch.object(MemoryRows, "put_newer", _put_all),
    "results-of-a-batch-lost": lambda: mock.patch.object(Results, "publish", _publish_the_first),
    "changes-counted-again-not-summarised": lambda: mock.patch.object(
        History, "new_entries_since", _newest_only
    ),
    "changes-counted-again-after-a-renaming-not-summarised": lambda: mock.patch.object(
        summarize, "_keys_counted_before", _no_other_names
    ),
    "failed-passage-leaves-its-older-version": lambda: mock.patch.object(
        handler, "newest_contributions", _successes_only
    ),
    "undoing-changes-nothing": lambda: mock.patch.object(handler, "affected_keys", _edits_only),
    "parked-event-forgotten": lambda: mock.patch.object(ParkedMessage, "again", _acknowledge_only),
    "retry-has-the-ids-of-before": lambda: mock.patch.object(
        results, "again", lambda origin, retry: origin
    ),
    "rebuild-misses-the-newest-events": lambda: mock.patch.object(
        Rebuild, "catch_up", _nothing_more
    ),
    "clock-believed": lambda: mock.patch.object(clock, "monotonic_time", _as_the_clock_says),
    "nothing-cached": lambda: mock.patch.object(ExtractionCache, "put", _cache_nothing),
}
