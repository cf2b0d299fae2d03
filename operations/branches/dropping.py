"""Drops branches, so that nothing of one is left but hashes: its events, its long texts, and what
every store holds of it.

A killed drop is simply started again: every step may be done twice.
"""

import asyncio
from collections.abc import Collection, Sequence

from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import (
    BRANCH,
    BranchCreated,
    BranchDropped,
    DocumentAdded,
    DocumentErased,
    Event,
)
from contracts.graph import VECTOR_KINDS, Partition, VectorKind
from contracts.topology import PARKED_STREAM
from contracts.values import BlobRef
from operations.command_bus import SOURCE
from operations.digest import Stores
from operations.erasure.erase import PATIENCE, PAUSE, Report, are_handled
from operations.erasure.plan import DocumentHistory, ErasurePlan
from operations.erasure.removal import publish_tombstones, refuse_undeletable_log, remove
from operations.generations import TABLES
from publishing.branches import publish_branch_event, refuse_promoted
from publishing.documents import delete_document
from runtime.branches import Branch, is_dropped
from runtime.bus.codec import decode
from runtime.bus.nats.connection import translated
from runtime.bus.nats.dead_letters import NatsDeadLetters
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Log
from runtime.bus.records import leaf, record_of
from runtime.errors import ServiceError, Unavailable
from runtime.stores.documents.port import Table

CACHES = ("extractions", "figure_descriptions", "condensed", "keywords", "answers", "embeddings")
"""Tables that belong to no projection."""

BEGINNING = BranchCreated.type_name()
STAYING_TYPES = (BranchDropped.type_name(), DocumentErased.type_name())
"""Types of the events that stay."""


async def drop(
    bus: JetStreamContext, stores: Stores, branch: Branch, reason: str, report: Report
) -> dict[str, int]:
    """Drop the branch, and return how much went, by store.

    Raises InvalidInput for one that is promoted, and Unavailable where a part does not answer or
    the services do not let go in time: start again then.
    """
    await refuse_undeletable_log(bus)
    log = NatsLog(bus)
    await refuse_promoted(log, branch.origin, branch.name)
    if not await is_dropped(log, branch.workspace):
        event = BranchDropped(reason=reason)
        await publish_branch_event(log, branch.workspace, event, SOURCE)
    await _let_go(bus, log, branch)
    report("no service works on the branch any more")
    plan = await _plan(bus, log, branch, staying_types=(*STAYING_TYPES, BEGINNING))
    await publish_tombstones(bus, plan, reason)
    await remove(bus, plan)
    report(f"removed {len(plan.leaves)} events")
    counts = await _empty_stores(stores, branch.workspace)
    # Last, for by its beginning a drop that was killed finds the branch again.
    last_plan = await _plan(bus, log, branch, staying_types=STAYING_TYPES)
    await publish_tombstones(bus, last_plan, reason)
    await remove(bus, last_plan)
    event_count = len(plan.leaves) + len(last_plan.leaves)
    return {"events": event_count, "long_texts": len(plan.blobs), **counts}


async def _document_ids(log: Log, workspace: str) -> Sequence[str]:
    ids: dict[str, None] = {}
    async for page in log.read(0, [subjects.of_type_in(workspace, DocumentAdded.type_name())]):
        for message in page:
            if isinstance(event := _event(message.data, message.subject), DocumentAdded):
                ids[event.document_id] = None
    return list(ids)


async def _let_go(bus: JetStreamContext, log: Log, branch: Branch) -> None:
    """Delete its documents, so that no model is paid any more, and wait until no service works on
    them: until nothing came while what was there was handled.
    """
    end = asyncio.get_running_loop().time() + PATIENCE
    newest_sequence, handled_sequence = 0, -1
    while newest_sequence != handled_sequence:
        for id in await _document_ids(log, branch.workspace):
            await delete_document(log, workspace=branch.workspace, id=id, source=SOURCE)
        handled_sequence = await log.last(branch.workspace)
        while not await are_handled(bus, [handled_sequence]):
            if asyncio.get_running_loop().time() > end:
                raise Unavailable(
                    "the services are still at work on the branch: see `lightstream doctor`, and "
                    "start again"
                )
            await asyncio.sleep(PAUSE)
        newest_sequence = await log.last(branch.workspace)


async def _plan(
    bus: JetStreamContext, log: Log, branch: Branch, staying_types: Collection[str]
) -> ErasurePlan:
    """Return what the bus holds of the branch but for events of these types, as the plan of an
    erasure.
    """
    token = subjects.token(branch.workspace)
    leaves: dict[int, str] = {}
    question_leaves: dict[int, str] = {}
    blobs: dict[str, BlobRef] = {}
    async for page in log.read(0, subjects.of_token(token)):
        for message in page:
            if subjects.event_type(message.subject) in staying_types:
                continue
            is_apart = subjects.is_apart(message.subject)
            (question_leaves if is_apart else leaves)[message.sequence] = leaf(record_of(message))
            event = _event(message.data, message.subject)
            if isinstance(event, DocumentAdded):
                blobs |= {ref.key: ref for ref in event.blobs}
    sequences = leaves.keys() | question_leaves.keys()
    return ErasurePlan(
        DocumentHistory(branch.workspace, BRANCH, leaves),
        question_leaves=question_leaves,
        letters=[
            letter.number
            for letter in await NatsDeadLetters(bus, max_letters=None).headers()
            if letter.sequence in sequences or subjects.workspace_token(letter.subject) == token
        ],
        parked_subjects=await _parked_subjects(bus, token),
        blobs=list(blobs.values()),
    )


async def _parked_subjects(bus: JetStreamContext, token: str) -> list[str]:
    with translated():
        info = await bus.stream_info(
            PARKED_STREAM, subjects_filter=subjects.parked(workspace=token)
        )
    return list(info.state.subjects or {})


async def _empty_stores(stores: Stores, workspace: str) -> dict[str, int]:
    """Remove what the stores hold of the workspace in every generation."""
    names = [*(name for tables in TABLES.values() for name in tables), *CACHES]
    table_count = 0
    for name in names:
        for partition in await stores.rows.partitions(name):
            if partition.workspace == workspace:
                await stores.rows.drop(Table(name, partition))
                table_count += 1
    for partition in await stores.graph.partitions():
        if partition.workspace == workspace:
            await stores.graph.drop(partition)
    vector_count = 0
    for generation in await stores.vectors.generations():
        for kind in VECTOR_KINDS:
            vector_count += await _delete_vectors(stores, Partition(workspace, generation), kind)
    return {"tables": table_count, "vectors": vector_count}


async def _delete_vectors(stores: Stores, partition: Partition, kind: VectorKind) -> int:
    count = 0
    while page := await stores.vectors.scan(partition, kind):
        await stores.vectors.delete(partition, kind, [row.id for row in page])
        count += len(page)
    return count


def _event(data: bytes, subject: str) -> Event | None:
    try:
        return decode(data, subject).data
    except ServiceError:
        return None
