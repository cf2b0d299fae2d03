"""Erasures of the writing region, done in a following one: a mirror does not delete what its source
deletes.

The tombstones say what to remove: they are in the mirrored log, and sequences are the same there.
So a region that was cut off for a week does it when it hears of them, and a killed one again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from contracts import subjects
from contracts.events import DocumentAdded, DocumentErased
from contracts.partitions import LogPosition
from contracts.topology import PARKED_STREAM
from contracts.values import BlobRef
from operations.erasure.plan import DocumentHistory, ErasurePlan
from operations.erasure.removal import remove
from runtime.bus.codec import decode
from runtime.bus.nats.connection import translated
from runtime.bus.nats.dead_letters import NatsDeadLetters
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.nats.messages import StoredMessage
from runtime.bus.port import Message
from runtime.errors import ServiceError


@dataclass(frozen=True)
class Tombstone:
    """What one DocumentErased lists."""

    sequence: int
    workspace: str
    document: str
    sequences: frozenset[int]


async def read_tombstones(jetstream: JetStreamContext, after: LogPosition) -> list[Tombstone]:
    """Return the tombstones behind a place; those that end an erasure list nothing. Raises
    `Unavailable`.
    """
    tombstones: list[Tombstone] = []
    log = NatsLog(jetstream)
    subject = subjects.of_type(DocumentErased.type_name())
    if not await log.first_behind(after, subject):  # most often: small requests, and no reader
        return []
    async for page in log.read_behind(after, [subject]):
        for message in page:
            envelope = decode(message.data, message.subject, message.headers)
            if isinstance(envelope.data, DocumentErased):
                sequences = frozenset(event.sequence for event in envelope.data.erased)
                document = envelope.data.document_id
                tombstones.append(
                    Tombstone(message.sequence, envelope.workspace, document, sequences)
                )
    return tombstones


async def remove_listed(jetstream: JetStreamContext, tombstones: Sequence[Tombstone]) -> None:
    """Remove from the mirrors what the tombstones list, and what only that led to. Repeats change
    nothing. Raises `Unavailable`.
    """
    listed_sequences = frozenset[int]().union(*(tombstone.sequences for tombstone in tombstones))
    refs = await _blobs_named_at(jetstream, listed_sequences)
    needed_keys = await _needed_blobs(jetstream, listed_sequences) if refs else set[str]()
    letters = await NatsDeadLetters(jetstream, max_letters=None).headers()
    parked_subjects = await _parked(jetstream)
    for tombstone in tombstones:
        sequences = tombstone.sequences
        leaves = dict.fromkeys(sorted(sequences), "")
        blobs = {
            key: ref
            for sequence in sequences
            for key, ref in refs.get(sequence, {}).items()
            if key not in needed_keys
        }
        plan = ErasurePlan(
            DocumentHistory(tombstone.workspace, tombstone.document, leaves),
            letters=[letter.number for letter in letters if letter.sequence in sequences],
            parked_subjects=[
                subject
                for subject in parked_subjects
                if int(subject.rpartition(".")[2]) in sequences
            ],
            blobs=[*blobs.values()],
        )
        await remove(jetstream, plan)


async def _blobs_named_at(
    jetstream: JetStreamContext, sequences: frozenset[int]
) -> dict[int, dict[str, BlobRef]]:
    """Return the blobs that documents added at these sequences name, by sequence."""
    refs: dict[int, dict[str, BlobRef]] = {}
    streams = await log_streams(jetstream)
    for sequence in sorted(sequences):
        stream = streams.holding(sequence)
        try:
            with translated():
                raw_message = await jetstream.get_msg(stream, sequence, direct=False)
        except NotFoundError:
            continue
        if blobs := _blobs_of(StoredMessage(raw_message)):
            refs[sequence] = {ref.key: ref for ref in blobs}
    return refs


async def _needed_blobs(jetstream: JetStreamContext, erased_sequences: frozenset[int]) -> set[str]:
    """Return the keys of blobs that documents name which are not erased."""
    needed_keys: set[str] = set()
    async for page in NatsLog(jetstream).read(0, [subjects.of_type(DocumentAdded.type_name())]):
        for message in page:
            if message.sequence not in erased_sequences:
                needed_keys |= {ref.key for ref in _blobs_of(message)}
    return needed_keys


def _blobs_of(message: Message) -> Sequence[BlobRef]:
    try:
        event = decode(message.data, message.subject, message.headers).data
    except ServiceError:
        return ()
    return event.blobs if isinstance(event, DocumentAdded) else ()


async def _parked(jetstream: JetStreamContext) -> list[str]:
    with translated():
        info = await jetstream.stream_info(PARKED_STREAM, subjects_filter=subjects.parked())
    return list(info.state.subjects or {})
