"""Has the first question of a workspace find what later ones find: what is read once is read at the
start, after changes and when another generation goes live, while no question waits.

Nothing depends on it: a question that comes before reads what it needs itself.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from contracts.graph import Generations
from runtime.bus.port import Delivery, LiveGenerations
from runtime.concurrency.background import in_background
from runtime.errors import ServiceError
from runtime.models.port import Vector
from services.query.answering.dependencies import QueryDependencies
from services.query.partitions import Partitions
from services.query.question import Keywords, Mode, Question
from services.query.retrieval.port import WarmCaches
from services.query.retrieval.retrieve import retrieve

logger = structlog.get_logger(__name__)

MAX_WORKSPACES = 8
"""Workspaces that are kept warm: the one of requests that name none, and those asked last."""
QUIET = 1.0
"""Seconds without an event after which the changes are read: those of many documents at once."""
LONGEST_RUSH = 300.0
"""Seconds after which they are read although events go on: a bulk load takes no more for it."""
FOLLOW_SECONDS = 2.0
"""Seconds between two looks at the log while events go on, so that a question has few to read."""
INTERVAL = 5.0
"""Seconds between two looks at which generations are live."""
REHEARSED_MODES: tuple[Mode, ...] = ("mix", "walk")
REHEARSED_NAMES = 3
"""Entities that a rehearsed question names."""


@dataclass
class Warming:
    """Keeps the caches of this process warm for the default `workspace`, and for those that
    questions were asked in.
    """

    dependencies: QueryDependencies
    caches: WarmCaches
    pointers: LiveGenerations
    workspace: str
    _warmed: dict[str, Generations] = field(default_factory=dict[str, Generations])
    _changed: set[str] = field(default_factory=set[str])
    _last_event_at: float = 0.0
    _followed_at: float = 0.0
    _noticed: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def in_background(self) -> AsyncGenerator[None]:
        """Keep the caches warm while the block lasts."""
        async with in_background(self._run()):
            yield

    def notice(self, deliveries: Sequence[Delivery[Any]]) -> None:
        """Read soon what has changed in the workspaces of these events."""
        self._last_event_at = time.monotonic()
        self._changed.update(delivery.workspace for delivery in deliveries)
        self._noticed.set()

    async def _run(self) -> None:
        await self._look()
        for mode in REHEARSED_MODES:
            await self._rehearse(mode)
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(INTERVAL):
                    await self._noticed.wait()
            if self._changed:
                await self._rest()
            self._noticed.clear()
            await self._look()

    async def _rest(self) -> None:
        """Return when no event has come for a while, or some have for long; follow the log
        meanwhile.
        """
        end = time.monotonic() + LONGEST_RUSH
        while (seconds := self._last_event_at + QUIET - time.monotonic()) > 0:
            if time.monotonic() >= end:
                return
            await asyncio.sleep(min(seconds, FOLLOW_SECONDS))
            if time.monotonic() >= self._followed_at + FOLLOW_SECONDS:
                await self._follow()

    async def _follow(self) -> None:
        """Read in the log what has changed of the workspaces that are warm."""
        for workspace in self._changed & self._warmed.keys():
            await self.caches.follow(Partitions.of(workspace, self._warmed[workspace]))
        self._followed_at = time.monotonic()

    async def _look(self) -> None:
        """Warm what has changed, or is of another generation than before."""
        changed_workspaces = self._changed
        self._changed = set()
        other_workspaces = [name for name in self.caches.workspaces() if name != self.workspace]
        try:
            generations = await self.pointers.live()
            for workspace in (self.workspace, *other_workspaces[1 - MAX_WORKSPACES :]):
                if workspace in changed_workspaces or self._warmed.get(workspace) != generations:
                    await self.caches.warm(Partitions.of(workspace, generations))
                    self._warmed[workspace] = generations
        except ServiceError as error:
            self._changed |= changed_workspaces
            logger.warning("caches cannot be filled", error=str(error))

    async def _rehearse(self, mode: Mode) -> None:
        """Ask a question that nobody asked, with a vector out of nowhere, so that every part that
        takes part in the first one has been used: no model is asked.
        """
        with suppress(ServiceError):
            partitions = Partitions.of(self.workspace, await self.pointers.live())
            index = await self.dependencies.entity_names.of(partitions)
            names = index.names_of(range(min(REHEARSED_NAMES, len(index))))
            text = " ".join(names) or "nothing"
            keywords = Keywords((text,), (text,))
            question = Question(text, mode, keywords=keywords, rerank=False)
            async with self.dependencies.for_generation(partitions.vectors.generation) as deps:

                async def embed(texts: Sequence[str]) -> list[Vector]:
                    return [[1.0] + [0.0] * (deps.vectors.dimension - 1)] * len(texts)

                await retrieve(
                    question, partitions, replace(deps, embed=embed, vector_searches=None)
                )
