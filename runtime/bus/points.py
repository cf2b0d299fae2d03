"""Finds the place in the log that a person means: a sequence, a time, or now."""

from datetime import UTC, datetime

from contracts import subjects
from runtime.bus.port import Log
from runtime.errors import InvalidInput

NOW = "now"

FORM = "a sequence in the log, a time such as 2026-03-01T12:00:00Z, or now"
"""What can be given."""


MAX_SEQUENCE = 2**63 - 1
"""The greatest that is asked of the bus."""


async def sequence_at(log: Log, workspace: str | None, point: str) -> int:
    """Return the sequence of the workspace's newest event at that point; 0 for a time before the first.

    None stands for all workspaces. A time without a zone is UTC; it counts when the log took an event. Raises
    InvalidInput for anything else, and for a sequence that the log has not reached. Raises Unavailable.
    """
    text = point.strip()
    end = await log.last_sequence() if workspace is None else await log.last(workspace)
    if text.lower() == NOW or not text:
        return end
    if text.isdecimal():
        sequence = int(text)
        if sequence > end and sequence > (last := await log.last_sequence()):
            raise InvalidInput(f"the log ends at {last}: there is no sequence {sequence} yet")
        return min(sequence, end)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{point!r:.100} is not {FORM}") from None
    subject = subjects.ALL if workspace is None else subjects.of_workspace(workspace)
    return await _last_before(log, subject, at if at.tzinfo else at.replace(tzinfo=UTC), end)


async def _last_before(log: Log, subject: str, at: datetime, end: int) -> int:
    """Return the last sequence of these events that the log took by that time, by halving."""
    low, high = 0, end  # what is at `low` and before is early enough; what is behind `high` is not
    while low < high:
        middle = (low + high) // 2
        # The first one behind the middle: all between the two is of other workspaces.
        message = await log.following(middle, subject)
        if message is None or message.sequence > high or message.published_at > at:
            high = middle
        else:
            low = message.sequence
    return low
