"""One commit for the writes of all tasks that wait for the same SQLite file.

A commit costs a wait for the disk, and copies of pages that the next one changes again, so writes
that have come while another was under way are committed together. Nobody waits for others to come:
a write that is alone is committed alone. Each write is told of its end when the commit is on the
disk, and one that fails takes none of the others with it.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from runtime.stores.sqlite.key_filters import forget_filters

T = TypeVar("T")

Work = Callable[[sqlite3.Connection], Any]
Outcome = tuple[Any, Exception | None]
"""What a write returns, or its error."""

MOST_TOGETHER = 8
"""Writes of one commit at most: other processes wait for its end."""


def _future() -> "asyncio.Future[Any]":
    return asyncio.get_running_loop().create_future()


@dataclass(eq=False)
class _Write:
    work: Work
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    end: "asyncio.Future[Any]" = field(default_factory=_future)

    def finish(self, result: Any, error: Exception | None) -> None:
        """Tell its task, unless that was cancelled meanwhile."""
        if self.end.done():
            return
        if error is None:
            self.end.set_result(result)
        else:
            self.end.set_exception(error)


class GroupCommits:
    """Writes that wait for their commit. `writing` is held while one is under way.

    `commit` runs works in one transaction and returns the outcome of each, or raises the error of
    all.
    """

    def __init__(
        self, writing: asyncio.Lock, commit: Callable[[Sequence[Work]], Awaitable[list[Outcome]]]
    ) -> None:
        self._writing = writing
        self._commit = commit
        self._waiting: list[_Write] = []
        self._committing: asyncio.Task[None] | None = None
        self._under_way: asyncio.Future[list[Outcome]] | None = None

    async def run(self, work: Callable[[sqlite3.Connection], T], timeout: float) -> T:
        """Return what `work` returns, once its commit is on the disk.

        Raises TimeoutError when the turn of the work has not come within `timeout` seconds after
        the end of the commit that is under way, and what the work or its commit raises.
        """
        write = _Write(work)
        self._waiting.append(write)
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit_all())
        try:
            if self._under_way:
                await asyncio.wait([self._under_way])
            async with asyncio.timeout(timeout):
                await write.begun.wait()
        finally:
            # Whoever gives up before its turn leaves nothing to be done.
            with suppress(ValueError):
                self._waiting.remove(write)
        return cast("T", await write.end)

    async def _commit_all(self) -> None:
        """Commit what waits until nothing does."""
        try:
            while self._waiting:
                async with self._writing:
                    await self._commit_group()
        finally:
            self._committing = None

    async def _commit_group(self) -> None:
        group = self._waiting[:MOST_TOGETHER]
        del self._waiting[:MOST_TOGETHER]
        for write in group:
            write.begun.set()
        self._under_way = asyncio.ensure_future(self._commit([write.work for write in group]))
        try:
            outcomes = await self._under_way
        except Exception as error:
            # Nothing of the group is stored: each task raises the error as its own.
            outcomes = [(None, error)] * len(group)
        finally:
            self._under_way = None
        for write, (result, error) in zip(group, outcomes, strict=True):
            write.finish(result, error)


def transaction(connection: sqlite3.Connection, works: Sequence[Work]) -> list[Outcome]:
    """Run these works in one transaction; return the outcome of each. Raises the error of all."""
    # What a savepoint may take back: pages of one work, which SQLite would write to a file. What is
    # sorted for an index that is made, alone in its transaction, may be too large for memory.
    connection.execute(f"PRAGMA temp_store={'MEMORY' if len(works) > 1 else 'DEFAULT'}")
    # IMMEDIATE waits for its turn at the beginning; a reader that turns writer later would be
    # refused at once.
    connection.execute("BEGIN IMMEDIATE")
    try:
        outcomes: list[Outcome] = []
        for work in works:
            is_alone = len(works) == 1
            outcomes.append((work(connection), None) if is_alone else _apart(connection, work))
        connection.execute("COMMIT")
        return outcomes
    except BaseException:
        forget_filters(connection)
        raise
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _apart(connection: sqlite3.Connection, work: Work) -> Outcome:
    """Run one of several works: what it has written is taken back when it fails.

    Raises its error when SQLite has taken back all of the transaction, as it does on a full disk.
    """
    connection.execute("SAVEPOINT work")
    try:
        outcome: Outcome = (work(connection), None)
    except Exception as error:
        if not connection.in_transaction:
            raise
        connection.execute("ROLLBACK TO work")
        forget_filters(connection)
        outcome = (None, error)
    connection.execute("RELEASE work")
    return outcome
