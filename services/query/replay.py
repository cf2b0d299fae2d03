"""The query service's replay: what a rebuild runs to fill a new generation of the status
projection.
"""

from collections import defaultdict
from collections.abc import Sequence, Set
from functools import partial

from contracts.events import ChunksCreated, Event
from contracts.graph import Generations, Partition
from runtime.bus.batches import by_workspace
from runtime.bus.port import Delivery
from runtime.concurrency.bounded_gathering import gather_bounded
from runtime.costs.ledger import RowLedger
from runtime.replay import ReplayHandler
from runtime.stores.documents.port import Rows
from services.query.adapters.documents import (
    WORDS_FIELD,
    RowDocuments,
    RowPassages,
)
from services.query.adapters.documents import validity_of as validity_of
from services.query.status.document_status import DELETED, SETTLED, STATUSES, DocumentStatus
from services.query.status.folding import RecordedEvent, apply
from services.query.status.projection import (
    cost_entries,
    obsolete_passages,
    on_events,
    passages_of,
    recorded,
)

UNFINISHED = tuple(status for status in STATUSES if status not in SETTLED)
"""Statuses of documents that are still under way."""

REMOVED = DELETED
"""The status of a row that is kept for late events only; it belongs to no list and no digest."""

DERIVED_FIELDS = frozenset({WORDS_FIELD})
"""Fields of the row of a chunk that follow from its other fields; no digest has them."""

MAX_DOCUMENTS = 20_000
"""Documents whose state is kept in memory, a few KB each."""

WORKSPACES_AT_ONCE = 64
"""Workspaces that are read or written at the same time: what they write is committed together."""


class StatusReplay:
    """Folds the events of each document in memory, and writes its state once."""

    events = (Event,)

    def __init__(self, rows: Rows) -> None:
        self._documents = RowDocuments(rows)
        self._passages = RowPassages(rows)
        self._ledger = RowLedger(rows)
        self._states: dict[Partition, dict[str, DocumentStatus]] = defaultdict(dict)
        self._written_partitions: set[Partition] = set()

    def handlers(self) -> list[ReplayHandler]:
        """Return the handlers of the status projection, which take every event."""
        handle = partial(
            on_events, documents=self._documents, passages=self._passages, ledger=self._ledger
        )
        return [ReplayHandler(self.events, handle)]

    async def take(self, batch: Sequence[Delivery[Event]], generations: Generations) -> None:
        """See `BulkReplay.take`. Of a document whose state was written already it is read again."""
        # Workspaces at the same time: of a thousand small ones each would wait for a call or two.
        await gather_bounded(
            lambda item: self._take_workspace(Partition(item[0], generations.status), item[1]),
            by_workspace(batch).items(),
            at_once=WORKSPACES_AT_ONCE,
        )
        if sum(map(len, self._states.values())) > MAX_DOCUMENTS:
            await self.finish(generations)

    async def _take_workspace(
        self, partition: Partition, deliveries: Sequence[Delivery[Event]]
    ) -> None:
        if entries := cost_entries(deliveries):
            await self._ledger.put(partition, entries)
        passages = [
            passage
            for delivery in deliveries
            if isinstance(delivery.event, ChunksCreated)
            for passage in passages_of(delivery.event)
        ]
        if passages:
            await self._passages.put(partition, passages)
        records: dict[str, list[RecordedEvent]] = defaultdict(list)
        for delivery in deliveries:
            records[delivery.event.aggregate_id].append(recorded(delivery))
        states = self._states[partition]
        await self._read_written(partition, records.keys() - states.keys())
        for id, of_document in records.items():
            state = states.get(id)
            for record in of_document:
                state = apply(state, record)
            if state:
                states[id] = state

    async def _read_written(self, partition: Partition, ids: Set[str]) -> None:
        """Read the states of these documents, as far as they were written by now."""
        if partition in self._written_partitions and ids:
            stored_states = await self._documents.get(partition, ids)
            for id, (state, _) in stored_states.items():
                self._states[partition].setdefault(id, state)

    async def finish(self, generations: Generations) -> None:
        """See `BulkReplay.finish`. Passages that a newer version no longer has are removed."""
        await gather_bounded(self._write, list(self._states), at_once=WORKSPACES_AT_ONCE)
        self._states.clear()

    async def _write(self, partition: Partition) -> None:
        states = self._states[partition]
        self._written_partitions.add(partition)
        await self._documents.put(partition, list(states.values()))
        with_validity = [s for s in states.values() if s.version_validity or s.statement]
        await self._documents.record_supersessions(partition, with_validity)
        bounds = {id: obsolete_passages(state) for id, state in states.items()}
        await self._passages.remove_obsolete(
            partition, {id: extent for id, extent in bounds.items() if extent}, alone=True
        )
