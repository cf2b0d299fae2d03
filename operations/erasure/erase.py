"""Erase documents from a stack: the log without them, then every store made anew from that log.

No store is searched for what it may hold of a document. Its events are removed, and projections are
rebuilt from those that are left; so they are what they would be without the document, and older
generations go. A killed erasure is simply started again: every step may be done twice, and the
document's last tombstone says whether it ended.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import ErasureRequested
from contracts.ids import ids_of_name
from contracts.spelling import spellings
from contracts.topology import CHECKPOINTS_BUCKET, CONSUMERS
from operations.command_bus import SOURCE, connect_bus
from operations.erasure.answers import answered_words
from operations.erasure.plan import DocumentHistory, ErasurePlan, plan_erasure, read_history
from operations.erasure.receipts import DEPLOYMENT_REMARKS, Receipt, make_receipt
from operations.erasure.remade_stores import make_stores_anew
from operations.erasure.removal import (
    envelope_of,
    publish_tombstones,
    refuse_undeletable_log,
    remove,
    total,
)
from operations.moving.destination import addresses
from operations.moving.filled_stores import left_behind
from operations.target import Target
from publishing.branch_copies import BranchCopier
from publishing.documents import delete_document
from runtime.branches import read_branches
from runtime.bus.actor import local_actor
from runtime.bus.codec import decode
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.carrier import uncarried_count
from runtime.bus.nats.connection import translated
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import log_streams
from runtime.errors import InvalidInput, ServiceError, Unavailable
from runtime.projections.region_progress import read_followers

PATIENCE = 120.0
"""Seconds that the services may take to let go of the documents."""

PAUSE = 0.2

Report = Callable[[str], None]


@dataclass(frozen=True)
class Erasure:
    """What is asked for: documents of one workspace by id or file name, and why."""

    workspace: str
    documents: Sequence[str]
    reason: str = ""


async def plan(target: Target, erasure: Erasure) -> list[ErasurePlan]:
    """Return what would be removed from the bus, changing nothing. Raises InvalidInput for an
    unknown document.
    """
    async with connect_bus(target.settings.nats_url) as bus:
        return await _plans(bus, erasure)


async def not_reached(target: Target) -> list[str]:
    """Return sentences about what an erasure of this stack does not reach, with the way out. Raises
    Unavailable.
    """
    async with connect_bus(target.settings.nats_url) as bus:
        return await _not_reached(bus, target)


async def _not_reached(bus: JetStreamContext, target: Target) -> list[str]:
    values = await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET)
    elsewhere = await left_behind(values, addresses(target.settings))
    elsewhere += [
        f"the region {follower.region} follows, and erases by itself: `lightstream region status` "
        "says when it has"
        for follower in await read_followers(values)
    ]
    return elsewhere if target.folder_of_stores else [*elsewhere, *DEPLOYMENT_REMARKS]


async def requested(target: Target, workspace: str) -> list[str]:
    """Return the ids of the workspace's documents that somebody asked to have erased. Raises
    Unavailable.
    """
    ids: dict[str, None] = {}
    async with connect_bus(target.settings.nats_url) as bus:
        subject = subjects.of_type_in(workspace, ErasureRequested.type_name())
        async for page in NatsLog(bus).read(0, [subject]):
            for message in page:
                with suppress(ServiceError):
                    ids[
                        decode(message.data, message.subject, message.headers).data.aggregate_id
                    ] = None
    return list(ids)


async def erase(target: Target, erasure: Erasure, report: Report) -> list[Receipt]:
    """Erase the documents, and return a receipt for each.

    Raises InvalidInput for an unknown document, ConfigurationError for a log whose server deletes
    nothing, and Unavailable where a part does not answer: start again then.
    """
    async with connect_bus(target.settings.nats_url) as bus:
        await refuse_undeletable_log(bus)
        plans = await _let_go(bus, erasure, report)
        for erasure_plan in plans:
            await publish_tombstones(bus, erasure_plan, erasure.reason)
            await remove(bus, erasure_plan)
            report(f"removed {len(erasure_plan.leaves)} events of {erasure_plan.history.id}")
        counts = total(erasure_plan.counts() for erasure_plan in plans)
        documents = [(plan.history.workspace, plan.history.id) for plan in plans]
        counts |= await make_stores_anew(target, documents, report)
        return [await _finish(bus, target, erasure_plan, counts) for erasure_plan in plans]


async def _plans(bus: JetStreamContext, erasure: Erasure) -> list[ErasurePlan]:
    """Return the plans of the documents, and behind them those of their copies in branches."""
    plans: dict[str, ErasurePlan] = {}
    for name in erasure.documents:
        for id in (*spellings(name), *ids_of_name(name)):
            erasure_plan = await plan_erasure(bus, erasure.workspace, id)
            if erasure_plan.history.leaves or erasure_plan.history.tombstones:
                plans[id] = erasure_plan
                break
        else:
            raise InvalidInput(f"no document {name!r} in workspace {erasure.workspace}")
    all_plans = [*plans.values(), *await _plans_of_copies(bus, erasure.workspace, plans)]
    # Beside one that is not finished, an erased document may be of the same erasure, which was
    # killed between the two: it has its receipt again.
    if all(erasure_plan.history.is_erased for erasure_plan in all_plans):
        names = ", ".join(repr(name) for name in erasure.documents)
        raise InvalidInput(
            f"{names} is erased already: `lightstream log --document` has the receipt's hash"
        )
    return all_plans


async def _plans_of_copies(
    bus: JetStreamContext, workspace: str, ids: Iterable[str]
) -> list[ErasurePlan]:
    """Return the plans of what the branches of the workspace have of these documents, also those
    that are being dropped.
    """
    branches = await read_branches(NatsLog(bus), workspace, with_ended=True)
    plans = [await plan_erasure(bus, branch.workspace, id) for branch in branches for id in ids]
    return [
        erasure_plan
        for erasure_plan in plans
        if erasure_plan.history.leaves or erasure_plan.history.tombstones
    ]


async def _let_go(bus: JetStreamContext, erasure: Erasure, report: Report) -> list[ErasurePlan]:
    """Delete the documents, wait until no service works on them, and return the plans of what is
    there then.

    A deletion leads to further events, so the wait is over when none came while the ones before
    were handled.
    """
    plans = await _plans(bus, erasure)
    of_origin = [plan for plan in plans if plan.history.workspace == erasure.workspace]
    await _delete(bus, of_origin)
    # Whoever follows the workspace copies its deletions too: after this there is nothing to copy.
    for branch in await read_branches(NatsLog(bus), erasure.workspace):
        await BranchCopier(NatsLog(bus), NatsBlobs(bus), branch).copy_new()
    await _delete(bus, plans)
    last_newest = list[int]()
    end = asyncio.get_running_loop().time() + PATIENCE
    while True:
        newest_sequences = [
            sequence
            for plan in plans
            for sequence in await NatsLog(bus).newest_about(plan.history.workspace, plan.history.id)
        ]
        if newest_sequences == last_newest:
            break
        last_newest = newest_sequences
        while not (await are_handled(bus, last_newest) and await _all_carried(bus)):
            if asyncio.get_running_loop().time() > end:
                raise Unavailable(
                    "the services are still at work on what the log held before: "
                    "see `lightstream doctor`, and start again"
                )
            await asyncio.sleep(PAUSE)
    report("no service works on the documents any more")
    return await _plans(bus, erasure)


async def _all_carried(bus: JetStreamContext) -> bool:
    """Return whether nothing that was published waits to be carried to where it counts."""
    return not await uncarried_count(bus, await log_streams(bus))


async def _delete(bus: JetStreamContext, plans: Sequence[ErasurePlan]) -> None:
    """Delete what is not deleted yet."""
    for erasure_plan in plans:
        history = erasure_plan.history
        if not history.is_erased:
            await delete_document(
                NatsLog(bus), workspace=history.workspace, id=history.id, source=SOURCE
            )


async def are_handled(bus: JetStreamContext, sequences: Sequence[int]) -> bool:
    """Return whether every consumer has handled the log up to these sequences."""
    streams = await log_streams(bus)
    newest_sequences: dict[str, int] = {}
    for sequence in sequences:
        stream = streams.holding(sequence)
        newest_sequences[stream] = max(newest_sequences.get(stream, 0), sequence)
    for stream, sequence in newest_sequences.items():
        for consumer in CONSUMERS:
            with translated():
                info = await bus.consumer_info(stream, consumer.name)
            idle = not (info.num_pending or info.num_ack_pending)
            if not idle and (info.ack_floor.stream_seq if info.ack_floor else 0) < sequence:
                return False
    return True


async def _finish(
    bus: JetStreamContext, target: Target, plan: ErasurePlan, counts: dict[str, int]
) -> Receipt:
    """Look once more, and publish the end of the erasure. Raises Unavailable when something came
    meanwhile.
    """
    workspace = plan.history.workspace
    id = plan.history.id
    log = NatsLog(bus, with_misplaced=True)
    await _erase_late_answers(bus, plan)
    messages = [
        message
        async for page in log.read(0, [subjects.of_document(workspace, id)])
        for message in page
    ]
    remainder = read_history(workspace, id, messages)
    if remainder.leaves:
        raise Unavailable(
            f"{len(remainder.leaves)} events of {id} came while it was erased: start again"
        )
    receipt = make_receipt(
        workspace, remainder.tombstones, counts, local_actor(), await _not_reached(bus, target)
    )
    await log.publish(
        envelope_of(workspace, receipt.last_part(len(remainder.tombstones)), receipt.sha256)
    )
    return receipt


async def _erase_late_answers(bus: JetStreamContext, plan: ErasurePlan) -> None:
    """Erase the words of answers that were being given while the document was erased."""
    history = plan.history
    answers = await answered_words(
        NatsLog(bus), history.workspace, history.id, history.keys, history.first - 1
    )
    if answers.receipts:
        late_answers = ErasurePlan(DocumentHistory(history.workspace, history.id), answers=answers)
        await publish_tombstones(bus, late_answers, "")
        await remove(bus, late_answers)
