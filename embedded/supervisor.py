"""Supervises child processes: starts them, waits until they are ready, restarts them, stops
them.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from signal import SIGINT, SIGTERM

from embedded.data_folder import Child
from embedded.orphans import ProcessIdentity
from embedded.processes import Process
from runtime.errors import ConfigurationError
from runtime.processes.parent import RESTART, count_ends

Report = Callable[[str], None]
"""Takes one line about what happened."""


@dataclass
class ChildRecords:
    """The supervisor's records of its child processes; each change calls `on_change`."""

    on_change: Callable[[], None]
    report: Report
    children: dict[str, Child] = field(default_factory=dict[str, Child])

    def record_spawn(self, process: Process) -> None:
        """Record that the process was started."""
        before = self.children.get(process.name)
        restarts, fault = (before.restarts, before.fault) if before else (0, "")
        self.children[process.name] = Child(ProcessIdentity.of(process.pid), False, restarts, fault)
        self.on_change()

    def record_ready(self, process: Process) -> None:
        """Record that the process answers."""
        child = self.children[process.name]
        child.ready, child.fault = True, ""
        self.on_change()
        self.report(f"{process.name} is ready (pid {process.pid})")

    def record_exit(self, process: Process, code: int, delay: float) -> None:
        """Record that the process ended by itself."""
        child = self.children[process.name]
        child.ready, child.restarts, child.fault = False, child.restarts + 1, process.diagnosis()
        self.on_change()
        if child.fault:
            self.report(child.fault)
        self.report(
            f"{process.name} ended with code {code}; start number {child.restarts + 1} in "
            f"{delay:.1f} s"
        )

    def record_stop(self, process: Process) -> None:
        """Remove the record of a process that was stopped on purpose."""
        self.children.pop(process.name, None)
        self.on_change()


@asynccontextmanager
async def supervise(
    processes: Sequence[Process], records: ChildRecords
) -> AsyncGenerator[Callable[[], Awaitable[None]]]:
    """Run the processes for as long as the block lasts, restarting those that end; then stop all of
    them at once.

    Gives a function that waits until every one answered for the first time. It raises
    ConfigurationError, with the end of the log, when one ends before that; only what has answered
    once is started again.
    """
    supervised_processes = [_SupervisedProcess(process, records) for process in processes]
    try:
        for process in supervised_processes:
            await process.spawn()
        for process in supervised_processes:
            process.begin()
        yield lambda: _all_answered(supervised_processes)
    finally:
        await asyncio.gather(*(process.stop() for process in supervised_processes))


@contextmanager
def on_stop_signal(handle: Callable[[], object]) -> Generator[None]:
    """Call `handle` at the first SIGTERM or SIGINT inside, and do nothing at further ones: stopping
    is under way.
    """
    loop = asyncio.get_running_loop()
    stop_signal = asyncio.Event()

    def once() -> None:
        if not stop_signal.is_set():
            stop_signal.set()
            handle()

    for number in (SIGTERM, SIGINT):
        loop.add_signal_handler(number, once)
    try:
        yield
    finally:
        for number in (SIGTERM, SIGINT):
            loop.remove_signal_handler(number)


async def _all_answered(supervised_processes: Sequence["_SupervisedProcess"]) -> None:
    await asyncio.gather(*(process.answered for process in supervised_processes))


class _SupervisedProcess:
    """One process and the task that restarts it."""

    def __init__(self, process: Process, records: ChildRecords) -> None:
        self.process, self.records = process, records
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.spawning = asyncio.Lock()
        self.task: asyncio.Task[None] | None = None

    async def spawn(self) -> None:
        async with self.spawning:
            await self.process.spawn()
            self.records.record_spawn(self.process)

    def begin(self) -> None:
        self.task = asyncio.create_task(self._restart_forever())

    async def _restart_forever(self) -> None:
        try:
            await self.process.ready()
        except (ConfigurationError, OSError) as error:
            if not self.answered.done():  # else whoever waited has gone: the start was interrupted
                self.answered.set_exception(error)
            return
        self.records.record_ready(self.process)
        self.answered.set_result(None)
        ends = 0
        loop = asyncio.get_running_loop()
        while True:
            since = loop.time()
            code = await self.process.wait()
            ends = count_ends(ends, loop.time() - since)
            delay = RESTART.delay(ends)
            self.records.record_exit(self.process, code, delay)
            await asyncio.sleep(delay)
            with contextlib.suppress(
                ConfigurationError, OSError
            ):  # ended again, or silent: the next round
                await self.spawn()
                await self.process.ready()
                self.records.record_ready(self.process)

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
        self.records.record_stop(self.process)
