"""Keeps processes alive: started, waited for, started again when they end, stopped in good order."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from signal import SIGINT, SIGTERM

from runtime.errors import ConfigurationError
from runtime.workers import RESTART, count_ends
from standalone.embedded.data_folder import Child
from standalone.embedded.orphans import Identity
from standalone.embedded.processes import Process

Report = Callable[[str], None]
"""Takes one line about what happened."""


@dataclass
class Book:
    """What the supervisor knows of its children; `changed` is called whenever that changes."""

    changed: Callable[[], None]
    report: Report
    children: dict[str, Child] = field(default_factory=dict[str, Child])

    def spawned(self, process: Process) -> None:
        """The process has a pid."""
        before = self.children.get(process.name)
        restarts, fault = (before.restarts, before.fault) if before else (0, "")
        self.children[process.name] = Child(Identity.of(process.pid), False, restarts, fault)
        self.changed()

    def ready(self, process: Process) -> None:
        """The process answers."""
        child = self.children[process.name]
        child.ready, child.fault = True, ""
        self.changed()
        self.report(f"{process.name} is ready (pid {process.pid})")

    def ended(self, process: Process, code: int, delay: float) -> None:
        """The process ended by itself."""
        child = self.children[process.name]
        child.ready, child.restarts, child.fault = False, child.restarts + 1, process.diagnosis()
        self.changed()
        if child.fault:
            self.report(child.fault)
        self.report(f"{process.name} ended with code {code}; start number {child.restarts + 1} in {delay:.1f} s")

    def stopped(self, process: Process) -> None:
        """The process was stopped on purpose."""
        self.children.pop(process.name, None)
        self.changed()


@asynccontextmanager
async def kept(processes: Sequence[Process], book: Book) -> AsyncGenerator[Callable[[], Awaitable[None]]]:
    """Spawn the processes and keep them alive inside; stop them, all at once, in the end.

    Gives a function that waits until every one answered for the first time. It raises ConfigurationError, with the end
    of the log, when one ends before that; only what has answered once is started again.
    """
    keepers = [_Keeper(process, book) for process in processes]
    try:
        for keeper in keepers:
            await keeper.spawn()
        for keeper in keepers:
            keeper.begin()
        yield lambda: _all_answered(keepers)
    finally:
        await asyncio.gather(*(keeper.stop() for keeper in keepers))


@contextmanager
def signals(handle: Callable[[], object]) -> Generator[None]:
    """Call `handle` at the first SIGTERM or SIGINT inside, and do nothing at further ones: stopping is under way."""
    loop, called = asyncio.get_running_loop(), asyncio.Event()

    def once() -> None:
        if not called.is_set():
            called.set()
            handle()

    for number in (SIGTERM, SIGINT):
        loop.add_signal_handler(number, once)
    try:
        yield
    finally:
        for number in (SIGTERM, SIGINT):
            loop.remove_signal_handler(number)


async def _all_answered(keepers: Sequence["_Keeper"]) -> None:
    await asyncio.gather(*(keeper.answered for keeper in keepers))


class _Keeper:
    """One process and the task that keeps it."""

    def __init__(self, process: Process, book: Book) -> None:
        self.process, self.book = process, book
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.spawning = asyncio.Lock()
        self.task: asyncio.Task[None] | None = None

    async def spawn(self) -> None:
        async with self.spawning:
            await self.process.spawn()
            self.book.spawned(self.process)

    def begin(self) -> None:
        self.task = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        try:
            await self.process.ready()
        except (ConfigurationError, OSError) as error:
            if not self.answered.done():  # else whoever waited has gone: the start was interrupted
                self.answered.set_exception(error)
            return
        self.book.ready(self.process)
        self.answered.set_result(None)
        ends, loop = 0, asyncio.get_running_loop()
        while True:
            since = loop.time()
            code = await self.process.wait()
            ends = count_ends(ends, loop.time() - since)
            delay = RESTART.delay(ends)
            self.book.ended(self.process, code, delay)
            await asyncio.sleep(delay)
            with contextlib.suppress(ConfigurationError, OSError):  # ended again, or silent: the next round
                await self.spawn()
                await self.process.ready()
                self.book.ready(self.process)

    async def stop(self) -> None:
        # A cancelled spawn could leave a child nobody knows.
        async with self.spawning:
            if self.task:
                self.task.cancel()
        if self.task:
            await asyncio.wait([self.task])
        if self.answered.done() and not self.answered.cancelled():
            self.answered.exception()  # seen: whoever waited for it was told
        await self.process.stop()
        self.book.stopped(self.process)
