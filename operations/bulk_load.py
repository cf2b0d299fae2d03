"""Fills new generations from the log, in bulk: read it in large groups, fold every document and key
once.

Nobody else writes these generations yet. What enters the log meanwhile is not in them: the rebuild
handles it later. Graph and vectors read the ends of documents first, so that nothing is made of
chunks that a later event takes back.
"""

import asyncio
import time
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from contracts import subjects
from contracts.events import EVENTS, ChunksCreated, DocumentDeleted, Event
from contracts.graph import Entity, Generations, Partition, Projection, Relation
from contracts.partitions import LogPosition
from operations.digest import Stores
from operations.retries import retry_outages
from runtime.bus.codec import decode
from runtime.bus.port import Delivery, Log, Message
from runtime.errors import NewerVersion, Poison
from runtime.replay import BoundedReplay, BulkReplay
from services.chunker.replay import DescriptionReplay
from services.extractor.replay import ExtractionReplay
from services.indexer.replay import VectorReplay
from services.merger.replay import GraphReplay
from services.query.replay import StatusReplay

PAGE = 500
"""Messages that the bus is asked for at a time."""

GROUP_EVENTS = 2000
GROUP_BYTES = 8 * 1024 * 1024
"""Messages, or bytes of them, that are handled together, while the next ones are fetched."""

BOUNDS = (ChunksCreated, DocumentDeleted)
"""The types of the events that tell the bounds of documents."""

Report = Callable[[dict[str, Any]], None]
T = TypeVar("T")


@dataclass(frozen=True)
class Replays:
    """What the services run in a rebuild."""

    status: StatusReplay
    descriptions: DescriptionReplay
    extractions: ExtractionReplay
    graph: GraphReplay
    vectors: VectorReplay

    def of(self, targets: Sequence[Projection]) -> list[BulkReplay]:
        """Return those that fill these projections."""
        replays: Mapping[Projection, list[BulkReplay]] = {
            "status": [self.status, self.descriptions, self.extractions],
            "graph": [self.graph],
            "vectors": [self.vectors],
        }
        return [replay for target in targets for replay in replays[target]]

    def bounded(self, targets: Sequence[Projection]) -> list[BoundedReplay]:
        """Return those of these projections that learn the bounds of documents first."""
        replays: Mapping[Projection, BoundedReplay] = {"graph": self.graph, "vectors": self.vectors}
        return [replays[target] for target in targets if target in replays]


@dataclass
class BulkLoad:
    """Fills generations from the log, to its present end or no further than `until`.

    `decode` returns None for what no projection has.
    """

    log: Log
    stores: Stores
    replays: Replays
    targets: Sequence[Projection]
    generations: Generations
    decode: Callable[[Message], Delivery[Event] | None]
    report: Report
    events_per_second: int = 0
    """Events that are read a second at most; 0: as many as possible."""
    until: LogPosition | None = None
    """The place up to which the log is read; None: its end."""
    workspaces: Sequence[str] = ()
    """The only workspaces that are read; none: all."""
    position: LogPosition = field(default_factory=LogPosition.start)
    """Place up to which the log is read."""
    events: int = 0
    """Events of the log that were read or passed over, without those that nobody can read."""
    written: int = 0
    """Entities and relations that were written."""
    skipped: int = 0
    """Events, entities and relations that can never be handled."""
    bounds_position: LogPosition = field(default_factory=LogPosition.start)
    """Place up to which the bounds of documents are read."""
    has_graph: bool = False
    """Whether entities and relations were written, which later events may take back."""

    async def run(self) -> None:
        """Fill the generations. What a killed run leaves is of no use."""
        end = await retry_outages(self.log.end)
        self.position = self.bounds_position = LogPosition.start(len(end.sequences))
        if self.until is not None:
            end = end.common(self.until)
        replays = self.replays.of(self.targets)
        types = {event for replay in replays for event in replay.events}
        if bounded_replays := self.replays.bounded(self.targets):
            await retry_outages(
                partial(self._read_bounds, bounded_replays, end),
                progress=lambda: self.bounds_position,
            )
        await retry_outages(
            partial(self._read, self._filters(types), replays, end), progress=lambda: self.position
        )
        self._advance(self.position.joined(end))
        await _all(retry_outages(partial(replay.finish, self.generations)) for replay in replays)
        if "graph" in self.targets:
            await self._write_all(self._folded())
        elif "vectors" in self.targets:
            pages = self.replays.vectors.pages(self.generations, self.workspaces)
            await self._write_all(pages)

    def _filters(self, types: Collection[type[Event]]) -> list[str]:
        """Return the filters of events of these types, in the workspaces that are read."""
        names = [name for name, event in EVENTS.items() if issubclass(event, tuple(types))]
        filters = (
            [subjects.ALL] if Event in types else [subjects.of_type(name) for name in sorted(names)]
        )
        if not self.workspaces:
            return filters
        tokens = map(subjects.token, self.workspaces)
        return [subjects.narrowed(filter, token) for token in tokens for filter in filters]

    async def _read_bounds(self, replays: Sequence[BoundedReplay], end: LogPosition) -> None:
        """Give the replays the bounds of all documents, as the log has them at `end`."""
        await _with_next(
            self._groups(self._filters(BOUNDS), self.bounds_position, end),
            lambda group: self._take_bounds(group, replays),
        )

    async def _take_bounds(
        self, messages: Sequence[Message], replays: Sequence[BoundedReplay]
    ) -> None:
        began = time.monotonic()
        deliveries = _readable(messages)
        await _all(
            retry_outages(partial(replay.take_bounds, deliveries, self.generations))
            for replay in replays
        )
        self.bounds_position = _behind(self.bounds_position, messages)
        await self._rest(len(messages), began)

    async def _read(
        self, filters: Sequence[str], replays: Sequence[BulkReplay], end: LogPosition
    ) -> None:
        # Not beyond the end to which the bounds are known.
        await _with_next(
            self._groups(filters, self.position, end),
            lambda group: self._take(group, replays, end),
        )

    async def _groups(
        self, filters: Sequence[str], after: LogPosition, end: LogPosition
    ) -> AsyncGenerator[list[Message]]:
        max_events = min(GROUP_EVENTS, self.events_per_second or GROUP_EVENTS)
        group: list[Message] = []
        size = 0
        page = min(PAGE, max_events)
        async with aclosing(self.log.read_behind(after, filters, page=page, until=end)) as pages:
            async for messages in pages:
                group += messages
                size += sum(len(message.data) for message in messages)
                if len(group) >= max_events or size >= GROUP_BYTES:
                    yield group
                    group = []
                    size = 0
        if group:
            yield group

    async def _take(
        self, messages: Sequence[Message], replays: Sequence[BulkReplay], end: LogPosition
    ) -> None:
        began = time.monotonic()
        deliveries = [delivery for message in messages if (delivery := self.decode(message))]
        # Each has tables, collections or a store of its own: while one waits for its server, the
        # others compute.
        await _all(
            self._take_all(
                replay,
                [delivery for delivery in deliveries if isinstance(delivery.event, replay.events)],
            )
            for replay in replays
        )
        if self.replays.graph.is_full:
            await self._write_all(self._folded())
        self._advance(_behind(self.position, messages))
        self.events -= len(messages) - len(deliveries)
        self.report({"events": self.events, **self.position.progress_to(end)})
        await self._rest(len(messages), began)

    async def _rest(self, count: int, began: float) -> None:
        """Wait as long as so many events, begun at that time, are to take."""
        if self.events_per_second:
            await asyncio.sleep(
                max(0.0, count / self.events_per_second - (time.monotonic() - began))
            )

    def _advance(self, position: LogPosition) -> None:
        self.events += position.event_count - self.position.event_count
        self.position = position

    async def _take_all(self, replay: BulkReplay, batch: Sequence[Delivery[Any]]) -> None:
        """Have the replay take the batch, without events that can never succeed: the services skip
        them too.
        """
        if not batch:
            return
        try:
            await retry_outages(lambda: replay.take(batch, self.generations))
        except Poison:
            if len(batch) == 1:
                self.skipped += 1
                return
            for half in _halves(batch):
                await self._take_all(replay, half)

    async def _folded(self) -> AsyncGenerator[tuple[str, list[Entity], list[Relation]]]:
        graph = self.replays.graph
        has_graph = self.has_graph
        await retry_outages(partial(graph.finish, self.generations))
        for changes in graph.pages():
            self.has_graph = True
            entities, relations = await retry_outages(
                partial(graph.fold, changes, self.generations)
            )
            if not has_graph:
                # Nothing is there that a tombstone would have to replace.
                entities = [entity for entity in entities if not entity.is_gone]
                relations = [relation for relation in relations if not relation.is_gone]
            yield changes.workspace, entities, relations

    async def _write_all(
        self, pages: AsyncGenerator[tuple[str, list[Entity], list[Relation]]]
    ) -> None:
        async def write(page: tuple[str, list[Entity], list[Relation]]) -> None:
            await self._write(*page)
            self.written += len(page[1]) + len(page[2])
            self.report({"entities and relations": self.written})

        await _with_next(pages, write)
        self.report({"entities and relations": self.written, "of": self.written})

    async def _write(
        self, workspace: str, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        writes: list[Callable[[], Awaitable[None]]] = []
        if "graph" in self.targets:
            partition = Partition(workspace, self.generations.graph)
            writes.append(partial(self.stores.graph.put, partition, entities, relations))
        if "vectors" in self.targets:
            writes.append(
                partial(self.replays.vectors.put, workspace, entities, relations, self.generations)
            )
        results = await asyncio.gather(*map(retry_outages, writes), return_exceptions=True)
        errors = [result for result in results if result is not None]
        if any(not isinstance(error, Poison) for error in errors):
            raise next(error for error in errors if not isinstance(error, Poison))
        if errors and len(entities) + len(relations) == 1:
            self.skipped += 1
        elif errors:
            for half in _halves([*entities, *relations]):
                await self._write(
                    workspace,
                    [item for item in half if isinstance(item, Entity)],
                    [item for item in half if isinstance(item, Relation)],
                )


async def _with_next(
    items: AsyncGenerator[T], work: Callable[[T], Coroutine[Any, Any, None]]
) -> None:
    """Work on each item, in order and one at a time, while the next one is made."""
    task: asyncio.Task[None] | None = None
    try:
        async for item in items:
            if task:
                await task
            task = asyncio.create_task(work(item))
        if task:
            await task
    finally:
        if task and not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _all(calls: Iterable[Awaitable[object]]) -> None:
    """Wait for all of these calls, which run at the same time. Raises the error of the first that
    failed.
    """
    for result in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


def _readable(messages: Sequence[Message]) -> list[Delivery[Event]]:
    """Return the messages that this program can read; the others are counted where they are
    taken.
    """
    deliveries: list[Delivery[Event]] = []
    for message in messages:
        with suppress(Poison, NewerVersion):
            envelope = decode(message.data, message.subject, message.headers)
            deliveries.append(Delivery(envelope, message.sequence, 1, message.published_at))
    return deliveries


def _behind(position: LogPosition, messages: Sequence[Message]) -> LogPosition:
    """Return the place behind these messages, too."""
    return position.behind(message.sequence for message in messages)


def _halves(items: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    middle = len(items) // 2
    return items[:middle], items[middle:]
