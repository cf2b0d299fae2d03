"""The status projection: it consumes every event and publishes none. A rebuild replays the log
through it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from contracts.envelope import Envelope
from contracts.events import (
    ChunksCreated,
    DocumentAdded,
    DocumentDeleted,
    Event,
    SupersessionStated,
)
from contracts.graph import DocumentBounds, Generations, Partition
from runtime.bus.batches import by_workspace
from runtime.bus.port import Delivery
from runtime.costs.port import CostEntry, Ledger
from services.query.passage import Passage
from services.query.status.costs import cost_entries_of
from services.query.status.document_status import DocumentStatus
from services.query.status.folding import RecordedEvent, apply
from services.query.status.port import Documents, Passages


async def on_events(
    batch: Sequence[Delivery[Event]],
    generations: Generations,
    *,
    documents: Documents,
    passages: Passages,
    ledger: Ledger,
) -> list[list[Event]]:
    """Apply a batch: passages first, so that a document never counts chunks that cannot be read
    yet.
    """
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.status)
        await passages.put(
            partition,
            [
                p
                for d in deliveries
                if isinstance(d.event, ChunksCreated)
                for p in passages_of(d.event)
            ],
        )
        records: dict[str, list[RecordedEvent]] = defaultdict(list)
        for delivery in deliveries:
            records[delivery.event.aggregate_id].append(recorded(delivery))
        states = await _fold(partition, records, documents)
        # After the write, so that of two replicas with two versions the one that writes last
        # removes.
        new_bounds = {state.id: _new_bounds(state, records[state.id]) for state in states}
        await passages.remove_obsolete(
            partition, {id: extent for id, extent in new_bounds.items() if extent}
        )
        stated_ids = documents_with_validity(deliveries)
        await documents.record_supersessions(
            partition, [state for state in states if state.id in stated_ids]
        )
        if entries := cost_entries(deliveries):
            await ledger.put(partition, entries)
    return [[] for _ in batch]


def documents_with_validity(deliveries: Sequence[Delivery[Event]]) -> set[str]:
    """Return the ids of the documents of which these events may say what they supersede."""
    return {
        delivery.event.aggregate_id
        for delivery in deliveries
        if isinstance(delivery.event, DocumentAdded | DocumentDeleted | SupersessionStated)
    }


def _new_bounds(state: DocumentStatus, records: Sequence[RecordedEvent]) -> DocumentBounds | None:
    """Return the document's bounds if one of these events may have made passages obsolete; else
    None.
    """
    if not any(isinstance(record.event, ChunksCreated | DocumentDeleted) for record in records):
        return None
    return obsolete_passages(state)


def obsolete_passages(state: DocumentStatus) -> DocumentBounds | None:
    """Return the document's bounds if it may have passages behind them; else None."""
    if state.deleted > state.version:
        return DocumentBounds(state.deleted, 0)
    was_replaced = 0 < state.first_cut < state.version
    return (
        DocumentBounds(state.version, state.chunk_count, state.text_count)
        if was_replaced and state.chunk_count
        else None
    )


async def _fold(
    partition: Partition, records: Mapping[str, Sequence[RecordedEvent]], documents: Documents
) -> list[DocumentStatus]:
    """Apply the events to all their documents in one read and one write. Returns the states,
    unchanged ones too.
    """
    unchanged_states: dict[str, DocumentStatus] = {}

    def change(stored_states: Mapping[str, DocumentStatus]) -> list[DocumentStatus]:
        changed_states: list[DocumentStatus] = []
        for id, of_one in records.items():
            before = after = stored_states.get(id)
            for record in of_one:
                after = apply(after, record)
            if after is not None and after == before:
                unchanged_states[id] = after
            elif after is not None:
                changed_states.append(after)
        return changed_states

    written_states = await documents.update(partition, records, change)
    return list({**unchanged_states, **{state.id: state for state in written_states}}.values())


def cost_entries(deliveries: Sequence[Delivery[Event]]) -> dict[str, CostEntry]:
    """Return the entries of the ledger by the ids of their events; of several with one id those of
    the first.
    """
    entries: dict[str, CostEntry] = {}
    for delivery in sorted(deliveries, key=lambda item: item.sequence):
        key = event_key(delivery.envelope)
        for number, entry in enumerate(cost_entries_of(delivery)):
            entries.setdefault(f"{key}\x1f{number}" if number else key, entry)
    return entries


def event_key(envelope: Envelope[Event]) -> str:
    """Return what names an event among all of the log: an id is unique with its source only."""
    return f"{envelope.source}\x1f{envelope.id}"


def recorded(delivery: Delivery[Event]) -> RecordedEvent:
    """Return the event as `apply` takes it."""
    envelope = delivery.envelope
    return RecordedEvent(
        event=delivery.event,
        id=envelope.id,
        correlation=envelope.correlation,
        sequence=delivery.sequence,
        recorded_at=delivery.happened_at,
    )


def passages_of(event: ChunksCreated) -> list[Passage]:
    """Return the passages that the event brings."""
    return [
        Passage(
            id=chunk.id,
            document_id=event.document.id,
            order=chunk.order,
            content=chunk.content,
            file_path=event.document.file_path,
            headings=chunk.headings,
            tokens=chunk.tokens,
            version=event.document.version,
            start=chunk.start,
            end=chunk.end,
            page=chunk.page,
            page_breaks=chunk.page_breaks,
            figures=chunk.figures,
        )
        for chunk in event.chunks
    ]
