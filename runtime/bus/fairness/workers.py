"""The workers of one consumer in one process, which all partitions of the log share.

Each partition fetches as many batches as there are workers, and those take one in the order in
which they came. A batch may wait for the end of long work in another partition, so whoever waits
goes on with what no worker serves: see `FairScheduler`.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class WorkerRequest:
    """The place of a batch in the line for a worker; free of charge while one is free."""

    _task: asyncio.Task[bool] | None = None

    @property
    def is_granted(self) -> bool:
        """Return whether the batch has its worker."""
        return self._task is None or self._task.done()

    async def wait(self, seconds: float | None = None) -> None:
        """Return when the batch has its worker, or the seconds are over."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)

    async def withdraw(self) -> bool:
        """Leave the line; returns whether the batch had its worker by then."""
        if self._task is None:
            return True
        self._task.cancel()
        await asyncio.wait({self._task})
        return not self._task.cancelled()


@dataclass
class Workers:
    """`count` batches at a time, of all partitions together."""

    count: int = 1
    wake_ups: list[asyncio.Event] = field(default_factory=list[asyncio.Event])
    """Set when a batch takes long: every partition may have to look ahead then."""

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.count)

    @property
    def are_busy(self) -> bool:
        """Return whether the next batch has to wait."""
        return self._free.locked()

    @asynccontextmanager
    async def requested(self) -> AsyncGenerator[WorkerRequest]:
        """Yield the request of one batch, and give its worker back in the end."""
        if self._free.locked():
            request = WorkerRequest(asyncio.create_task(self._free.acquire()))
        else:
            await self._free.acquire()
            request = WorkerRequest()
        try:
            yield request
        finally:
            if await request.withdraw():
                self._free.release()

    def wake_all(self) -> None:
        """Let every partition look whether somebody has to wait."""
        for wake_up in self.wake_ups:
            wake_up.set()
