"""Keep the mark of each stream of the log where another log cannot be taken for it: on the bus and
in the document store.
"""

from contextlib import suppress

from nats.js import JetStreamContext

from contracts.partitions import number_at
from runtime.bus.nats import log_integrity
from runtime.bus.nats.log_integrity import Evidence
from runtime.errors import Unavailable
from runtime.projections.remembered_values import RememberedValues
from runtime.stores.documents.checkpoints import read_mark, write_mark
from runtime.stores.documents.port import Rows
from runtime.stores.port import LogMark

PLACES = ("bus", "store")
"""Where a mark is kept."""


async def kept_mark(mark_store: Rows | None, stream: str) -> LogMark | None:
    """Return the mark of a stream in the document store; None where it has none or does not
    answer.
    """
    try:
        return await read_mark(mark_store, stream) if mark_store else None
    except Unavailable:
        return None


async def move_mark(
    jetstream: JetStreamContext,
    known_values: RememberedValues,
    mark_store: Rows,
    evidence: Evidence,
    accepted_count: int,
) -> None:
    """Move the mark of a stream to its last message, in both places."""
    before = max(evidence.log_marks, key=lambda known_mark: known_mark.sequence, default=None)
    is_behind = before is None or before.sequence < evidence.start.last_sequence
    if not number_at(evidence.start.last_sequence) or not (
        is_behind or len(evidence.log_marks) < len(PLACES)
    ):
        return
    stream = evidence.stream
    log_mark = await log_integrity.mark_of(jetstream, stream, evidence.start, accepted_count)
    await log_integrity.note_mark(known_values, stream, log_mark, evidence.revision)
    with suppress(Unavailable):
        await write_mark(mark_store, stream, log_mark)
