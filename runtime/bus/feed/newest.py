"""Reads the events of a filter from the newest on: the log itself reads forwards alone."""

from collections.abc import AsyncGenerator, Awaitable, Callable

from contracts.partitions import first_sequence, partition_at
from runtime.bus.feed.port import EventPages
from runtime.bus.port import Message

PAGE = 50
"""Events that are looked for at first: an event has up to 256 KiB, and up to twice as many are
read.
"""

MOST_AT_ONCE = 250
"""Events that are looked for by who has taken that many."""

CountBehind = Callable[[int], Awaitable[int]]
"""Returns how many of the events come behind a sequence."""


async def newest_first(
    feed: EventPages, subject: str, before: int | None = None, *, page: int = PAGE
) -> AsyncGenerator[Message]:
    """Yield the events of a filter whose sequence is less than `before`, the newest first; None:
    all of them. What nobody takes is not read, but for the rest of a page. Raises `Unavailable`.
    """

    async def count(after: int) -> int:
        return await feed.count(subject, after)

    begin, end = await bounds(feed, subject, before, count)
    newer_count = await count(end)
    step = 0
    while end > begin:
        place = await place_before(count, begin, end, newer_count, page, step)
        messages, _ = await feed.page(subject, place, await count(place) - newer_count)
        # Between the counts more may have come.
        earlier = [message for message in messages if message.sequence <= end]
        for message in reversed(earlier):
            yield message
        newer_count += len(earlier)
        page, wanted = min(2 * page, MOST_AT_ONCE), page
        # What comes next lies about as close.
        step = (end - place) * page // wanted
        end = place


async def bounds(
    feed: EventPages, subject: str, before: int | None, count: CountBehind
) -> tuple[int, int]:
    """Return the sequences behind which, and up to which, the events in front of `before` stand;
    None: all of them. `count` counts them; `subject` is a filter of their workspace.
    """
    last_sequence = await feed.last_sequence(subject)
    # Whoever asks may name any number, also one of a partition that has none of these events.
    begin = first_sequence(partition_at(last_sequence)) - 1
    if begin and await count(0) > await count(begin):
        begin = 0  # A workspace that was moved has older ones in another partition.
    return begin, last_sequence if before is None else max(begin, min(before - 1, last_sequence))


async def place_before(
    count: CountBehind, begin: int, end: int, newer_count: int, limit: int, step: int = 0
) -> int:
    """Return a sequence behind which there are `newer_count` events and at least `limit` others;
    `begin`, that before the first, when there are fewer.

    There are at most twice `limit`, unless they lie side by side. `step`: in how many sequences
    they may be; nobody has to know.
    """
    if await count(begin) <= newer_count + 2 * limit:
        return begin
    step = max(step, limit)
    place = max(begin, end - step)
    while place > begin and await count(place) < newer_count + limit:
        step *= 4
        place = max(begin, end - step)
    # Where events lie closer than the steps, the place is narrowed down.
    too_late = end
    while too_late - place > 1 and await count(place) > newer_count + 2 * limit:
        middle = (place + too_late) // 2
        place, too_late = (
            (middle, too_late) if await count(middle) >= newer_count + limit else (place, middle)
        )
    return place
