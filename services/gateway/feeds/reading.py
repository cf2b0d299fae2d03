"""Reads pages of a workspace's events, forwards and backwards, summarized."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts import subjects
from runtime.bus.event_summary import EventSummary, summarize
from runtime.bus.feed.newest import bounds, place_before
from runtime.bus.feed.port import EventFeed
from runtime.bus.port import Message
from services.gateway.feeds.visible_events import VisibleEvents
from services.gateway.places import PLAIN, Places

PAGE = 100
"""Events read at once; only their summaries are kept."""

MAX_VISIBLE = 10_000
"""Events of a document that are read at once for somebody from whom some documents are hidden."""


@dataclass(frozen=True)
class EventFilter:
    """Which events of a workspace: of one document or all, of some types or all; and how their
    reader sees places.
    """

    workspace: str
    document: str | None = None
    types: tuple[str, ...] = ()
    places: Places = PLAIN
    visible: VisibleEvents | None = None
    """What its reader sees of them; None: all."""

    @property
    def subject(self) -> str:
        """Return one filter of subjects that lets all of them through, and of several types others
        too.
        """
        return self._subject_of(self.types[0] if len(self.types) == 1 else "*")

    @property
    def subjects(self) -> list[str]:
        """Return the filters of subjects that together let through exactly these events."""
        return [self._subject_of(name) for name in dict.fromkeys(self.types)] or [self.subject]

    def admits(self, message: Message) -> bool:
        """Return whether an event that passed `subject` is one of these."""
        return not self.types or subjects.split(message.subject)[2] in self.types

    async def passed(self, messages: Sequence[Message]) -> list[Message]:
        """Return those of the events that passed `subject` that are these, and are seen."""
        admitted = [message for message in messages if self.admits(message)]
        if self.visible is None or not admitted:
            return admitted
        summaries = await self.visible.among([*map(summarize, admitted)])
        sequences = {summary.sequence for summary in summaries}
        return [message for message in admitted if message.sequence in sequences]

    def _subject_of(self, type_name: str) -> str:
        return subjects.of_type_in(self.workspace, type_name, self.document)


@dataclass(frozen=True)
class PageLimits:
    """Which page is asked for: what comes behind a sequence, or in front of one."""

    after: int | None
    before: int | None
    limit: int


@dataclass(frozen=True)
class EventPage:
    """A page of events in the order of the log, and how many there are beyond it in the direction
    of paging.
    """

    events: Sequence[EventSummary]
    remaining: int


async def events_after(
    feed: EventFeed, event_filter: EventFilter, after: int, limit: int
) -> EventPage:
    """Return the first `limit` events behind `after`."""
    events = list[EventSummary]()
    remaining = 0
    for subject in event_filter.subjects:
        summaries, unread_count = await _summaries(feed, subject, after, limit)
        events += summaries
        remaining += unread_count
    events.sort(key=lambda event: event.sequence)
    return EventPage(events[:limit], remaining + len(events[limit:]))


async def events_before(
    feed: EventFeed, event_filter: EventFilter, before: int | None, limit: int
) -> EventPage:
    """Return the last `limit` events whose sequence is less than `before`; None: the newest of
    all.
    """

    async def count(after: int) -> int:
        return sum([await feed.count(subject, after) for subject in event_filter.subjects])

    begin, end = await bounds(feed, event_filter.subjects[0], before, count)
    newer_count = await count(end)
    after = await place_before(count, begin, end, newer_count, limit)
    page = await events_after(feed, event_filter, after, await count(after) - newer_count)
    # Between the counts more may have come.
    events = [event for event in page.events if event.sequence <= end][-limit:]
    return EventPage(events, await count(0) - newer_count - len(events))


async def _summaries(
    feed: EventFeed, subject: str, after: int, limit: int
) -> tuple[list[EventSummary], int]:
    """Return the summaries of the first `limit` events behind `after`, and how many come behind
    these.
    """
    events = list[EventSummary]()
    while True:
        messages, unread_count = await feed.page(subject, after, min(PAGE, limit - len(events)))
        events += map(summarize, messages)
        if not unread_count or not messages or len(events) >= limit:
            return events, unread_count
        after = messages[-1].sequence


async def visible_page(
    feed: EventFeed, event_filter: EventFilter, visible: VisibleEvents, limits: PageLimits
) -> EventPage:
    """Return a page of the events of a document that are seen, as if there were no others. What
    remains is counted among the next `MAX_VISIBLE` events, or as many more as show that there is
    one.
    """
    is_backwards = limits.before is not None
    place = limits.before if is_backwards else limits.after or 0
    events = list[EventSummary]()
    has_more = True
    while has_more and len(events) <= limits.limit:
        if is_backwards:
            page = await events_before(feed, event_filter, place, MAX_VISIBLE)
            events = [*await visible.among(page.events), *events]
        else:
            page = await events_after(feed, event_filter, place or 0, MAX_VISIBLE)
            events += await visible.among(page.events)
        has_more = bool(page.events and page.remaining)
        place = page.events[0 if is_backwards else -1].sequence if page.events else place
    if is_backwards:
        return EventPage(events[-limits.limit :], len(events[: -limits.limit]))
    return EventPage(events[: limits.limit], len(events[limits.limit :]))


async def event_at(feed: EventFeed, event_filter: EventFilter, sequence: int) -> Message | None:
    """Return the event with this sequence if it is one of these, else None."""
    messages, _ = await feed.page(event_filter.subject, sequence - 1, 1)
    return next(
        (
            message
            for message in messages
            if message.sequence == sequence and event_filter.admits(message)
        ),
        None,
    )
