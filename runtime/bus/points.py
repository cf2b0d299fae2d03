"""Finds the place in the log that a person means: a sequence, a time, or now."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from contracts import subjects
from contracts.partitions import LogPosition, first_sequence, partition_at
from runtime.bus.port import Log, Message
from runtime.errors import InvalidInput

NOW = "now"

FORM = "a sequence in the log, a time such as 2026-03-01T12:00:00Z, or now"
"""What can be given."""


MAX_SEQUENCE = 2**63 - 1
"""The greatest that is asked of the bus."""

PARTS = 16
"""Parts of the log whose beginnings are looked at together, to find a time."""


async def sequence_at(log: Log, workspace: str, point: str) -> int:
    """Return the sequence of the workspace's newest event at that point; 0 for a time before the
    first.

    A time without a zone is UTC; it counts when the log took an event. Raises InvalidInput for
    anything else, and for a sequence that the log has not reached. Raises Unavailable.
    """
    first = first_sequence((await log.partitions_of(workspace))[0])
    newest_sequence = await log.last(workspace)
    return await _found(log, subjects.of_workspace(workspace), newest_sequence, point, first)


async def position_at(log: Log, point: str) -> LogPosition:
    """Return the place in the whole log at a time or now: in each partition behind its newest event
    then, whosever it is.

    Raises as `sequence_at` does.
    """
    end = await log.end()
    count = len(end.sequences)
    newest = (_found(log, subjects.ALL, sequence, point) for sequence in end.sequences)
    return LogPosition.start(count).behind(await asyncio.gather(*newest))


async def position_of(
    log: Log, sequences: Sequence[int], workspace: str | None = None
) -> LogPosition:
    """Return the place in the whole log behind these sequences, of each partition one; with a
    workspace only that of its partition is needed, and others stay at their end.

    Raises InvalidInput for one that the log has not reached, for two of the same partition, and
    where one is missing. Raises Unavailable.
    """
    end = await log.end()
    partitions = [partition_at(sequence) for sequence in sequences]
    for sequence in sequences:
        if not end.holds(sequence):
            raise InvalidInput(_beyond(end, sequence))
    if len({*partitions}) < len(partitions):
        raise InvalidInput("two of the sequences are of the same partition: give one for each")
    count = len(end.sequences)
    needed_partitions = {*range(count)}
    if workspace is not None:
        own_partitions = await log.partitions_of(workspace)
        own_places = [partition for partition in own_partitions if partition in partitions]
        needed_partitions = {(own_places or own_partitions)[-1]}
        # Of a workspace that was moved, what it got where it is now comes later.
        for partition in own_partitions[own_partitions.index(max(needed_partitions)) + 1 :]:
            end = end.up_to(first_sequence(partition) - 1)
    if missing_partitions := sorted(needed_partitions - {*partitions}):
        numbers = ", ".join(map(str, missing_partitions))
        beginnings = ", ".join(map(str, map(first_sequence, missing_partitions)))
        raise InvalidInput(
            f"this log has {count} partitions, and a sequence is a place in one of them: one of "
            f"partition {numbers} is missing, where sequences begin at {beginnings}; or give a time"
        )
    for sequence in sequences:
        end = end.up_to(sequence)
    return end


def _beyond(end: LogPosition, sequence: int) -> str:
    """Return the sentence for a sequence behind the end of the log."""
    ends = ", ".join(map(str, end.sequences))
    return f"the log ends at {ends}: there is no sequence {sequence} yet"


async def place_at(log: Log, workspace: str, point: str) -> int:
    """Return the sequence of the newest event at that point where the workspace's events are,
    whosever it is: a place for what is apart from those. Raises as `sequence_at` does.
    """
    return await _found(log, subjects.ALL, await log.end_of(workspace), point)


async def _found(log: Log, subject: str, end: int, point: str, first: int | None = None) -> int:
    """Return the sequence of the newest event of a subject at a point; `end` is that of the
    newest, `first` the first that one may have, without it the first of the partition of `end`.
    """
    begin = (first or first_sequence(partition_at(end))) - 1
    text = point.strip()
    if text.lower() == NOW or not text:
        return end
    if text.isdecimal():
        sequence = int(text)
        if sequence > end and not (whole_log := await log.end()).holds(sequence):
            raise InvalidInput(_beyond(whole_log, sequence))
        own_partitions = range(partition_at(begin + 1), partition_at(end) + 1)
        if sequence and end and partition_at(sequence) not in own_partitions:
            raise InvalidInput(
                f"sequence {sequence} stands in partition {partition_at(sequence)} of the log, and "
                f"this workspace in partition {partition_at(end)}: give one of its own, or a time"
            )
        return min(sequence, end)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{point!r:.100} is not {FORM}") from None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return await _last_before(log, subject, at, begin, end)


async def _last_before(log: Log, subject: str, at: datetime, after: int, end: int) -> int:
    """Return the last of these events that the log took by that time, behind `after` and up to
    `end`; 0 if none.

    Times are not in order where the bus's clock was set back. That shows between two of the events
    that are looked at, unless it is for less than the time between them.
    """
    if after >= end:
        return 0
    following_messages = await asyncio.gather(
        *(log.following(place, subject) for place in _places(after, end))
    )
    # The first one behind a place: all between the two is of other workspaces.
    messages = {
        message.sequence: message
        for message in following_messages
        if message and message.sequence <= end
    }
    later: Message | None = None
    for sequence, message in sorted(messages.items(), reverse=True):
        is_early = message.published_at <= at
        if is_early or (later and later.published_at < message.published_at):
            between = await _last_before(log, subject, at, sequence, end)
            if between or is_early:
                return max(between, sequence)
        later = message
        end = sequence - 1
    return 0


def _places(low: int, high: int) -> list[int]:
    """Return places from `low` to before `high`: evenly spread ones, and ever more of them towards
    the end.
    """
    span = high - low
    spread = {low + span * part // PARTS for part in range(PARTS)}
    return sorted(spread | {high - 2**power for power in range(span.bit_length())})
