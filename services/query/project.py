"""Every fact in, nothing out: the status projection, which a rebuild makes anew from the log."""

from collections import defaultdict
from collections.abc import Sequence

from contracts.events import ChunksCreated, Event
from contracts.graph import Generations, Space
from runtime.bus.port import Delivery
from runtime.errors import Retryable
from services.query.domain.passage import Passage
from services.query.domain.status import DocumentStatus, Fact, apply
from services.query.ports import Documents, Passages

TRIES = 10


async def on_facts(
    batch: Sequence[Delivery[Event]], generations: Generations, *, documents: Documents, passages: Passages
) -> list[list[Event]]:
    """Fold a batch: passages first, so that a document never counts chunks nobody can read."""
    by_workspace: dict[str, list[Delivery[Event]]] = defaultdict(list)
    for delivery in batch:
        by_workspace[delivery.workspace].append(delivery)
    for workspace, deliveries in by_workspace.items():
        space = Space(workspace, generations.status)
        await passages.put(
            space, [p for d in deliveries if isinstance(d.event, ChunksCreated) for p in _passages(d.event)]
        )
        facts: dict[str, list[Fact]] = defaultdict(list)
        for delivery in deliveries:
            facts[delivery.event.about].append(_fact(delivery))
        await _fold(space, facts, documents)
    return [[] for _ in batch]


async def _fold(space: Space, facts: dict[str, list[Fact]], documents: Documents) -> None:
    """Read, fold, write if nobody wrote meanwhile; else again for those."""
    left = set(facts)
    for _ in range(TRIES):
        stored = await documents.get(space, left)
        for id in list(left):
            before, revision = stored.get(id, (None, None))
            after: DocumentStatus | None = before
            for fact in facts[id]:
                after = apply(after, fact)
            if after is None or after == before or await documents.swap(space, after, revision):
                left.discard(id)
        if not left:
            return
    raise Retryable(f"the status of {len(left)} documents changes faster than it can be written")


def _fact(delivery: Delivery[Event]) -> Fact:
    envelope = delivery.envelope
    return Fact(
        event=delivery.event,
        id=envelope.id,
        correlation=envelope.correlation,
        sequence=delivery.sequence,
        at=delivery.happened_at,
    )


def _passages(event: ChunksCreated) -> list[Passage]:
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
        )
        for chunk in event.chunks
    ]
