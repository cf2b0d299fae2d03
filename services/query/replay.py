"""The query service's replay: what a rebuild runs to fill a new generation of the status
projection.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from contracts.events import ChunksCreated, Event
from contracts.graph import Generations, Partition
from runtime.bus.batches import by_workspace
from runtime.bus.port import Delivery
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


class StatusReplay:
    """Folds the events of each document in memory, and writes its state once."""

    events = (Event,)

    def __init__(self, rows: Rows) -> None:
        self._documents = RowDocuments(rows)
        self._passages = RowPassages(rows)
        self._ledger = RowLedger(rows)
        self._states: dict[Partition, dict[str, DocumentStatus]] = defaultdict(dict)

    def handlers(self) -> list[ReplayHandler]:
        """Return the handlers of the status projection, which take every event."""
        handle = partial(
            on_events, documents=self._documents, passages=self._passages, ledger=self._ledger
        )
        return [ReplayHandler(self.events, handle)]

    async def take(self, batch: Sequence[Delivery[Event]], generations: Generations) -> None:
        """See `BulkReplay.take`. Of a document whose state was written already it is read again."""
        records: dict[Partition, dict[str, list[RecordedEvent]]] = defaultdict(
            lambda: defaultdict(list)
        )
        passages = {
            Partition(delivery.workspace, generations.status): list[ChunksCreated]()
            for delivery in batch
        }
        for delivery in batch:
            partition = Partition(delivery.workspace, generations.status)
            records[partition][delivery.event.aggregate_id].append(recorded(delivery))
            if isinstance(delivery.event, ChunksCreated):
                passages[partition].append(delivery.event)
        for workspace, deliveries in by_workspace(batch).items():
            if entries := cost_entries(deliveries):
                await self._ledger.put(Partition(workspace, generations.status), entries)
        for partition, by_document in records.items():
            await self._passages.put(
                partition,
                [passage for event in passages[partition] for passage in passages_of(event)],
            )
            states = self._states[partition]
            stored_states = await self._documents.get(partition, by_document.keys() - states.keys())
            for id, document_records in by_document.items():
                state = (
                    states[id]
                    if id in states
                    else stored_states[id][0]
                    if id in stored_states
                    else None
                )
                for record in document_records:
                    state = apply(state, record)
                if state:
                    states[id] = state
        if sum(map(len, self._states.values())) > MAX_DOCUMENTS:
            await self.finish(generations)

    async def finish(self, generations: Generations) -> None:
        """See `BulkReplay.finish`. Passages that a newer version no longer has are removed."""
        for partition, states in self._states.items():
            await self._documents.put(partition, list(states.values()))
            with_validity = [s for s in states.values() if s.version_validity or s.statement]
            await self._documents.record_supersessions(partition, with_validity)
            bounds = {id: obsolete_passages(state) for id, state in states.items()}
            await self._passages.remove_obsolete(
                partition, {id: extent for id, extent in bounds.items() if extent}, alone=True
            )
        self._states.clear()
