"""A real Milvus Lite whose clock is set back: what it hides then, that nobody is given half of it,
what mends it.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import pytest_asyncio

from contracts.graph import Partition
from embedded.clock_watch import StepWatch
from embedded.processes import Process, free_port
from embedded.servers.milvus_lite import DATABASE, milvus_lite, uri
from embedded.servers.milvus_lite_times import CLOCK_SET_BACK, date_rows_to_now
from runtime import clock as clocks
from runtime.errors import Unavailable
from runtime.stores.vectors.milvus.store import MilvusVectors
from tests.support.partitions import fresh_partition
from tests.support.stepped_clock import SteppedClock, has_compiler, stepped_clock
from tests.support.vector_stores import DIMENSION, MODEL, ids, row

pytestmark = pytest.mark.skipif(
    not has_compiler(), reason="no C compiler to make a clock that can be set"
)

STEPS = [30.0, 86_400.0]
REFUSED = 0.5
"""Seconds for which nobody asks after a step, in these tests."""


class Lite:
    """One server with a clock of its own, and a client with that clock."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock: SteppedClock = stepped_clock(folder)
        port = free_port()
        self.server: Process = milvus_lite(folder / "vectors", port=port)
        self.server.env = {**self.server.env, **self.clock.environment}
        self.client = MilvusVectors(uri(port), model=MODEL, dimension=DIMENSION, timeout=20)
        self.partition: Partition = fresh_partition()
        self.reports: list[str] = []
        self.watch = StepWatch(self.server, self.reports.append)
        self._patch = monkeypatch
        monkeypatch.setattr(clocks, "SETTLING", REFUSED)

    async def put(self, *names: str) -> None:
        await self.client.put(self.partition, "chunks", [row(name) for name in names])

    async def delete(self, *names: str) -> None:
        await self.client.delete(self.partition, "chunks", names)

    async def found(self) -> list[str]:
        """Return the ids that a search finds, which are those of a scan."""
        direction = [1.0] + [0.0] * (DIMENSION - 1)
        hits = await self.client.search(self.partition, "chunks", direction, top_k=9)
        ids_scanned = await ids(self.client, self.partition)
        assert sorted(hit.id for hit in hits) == ids_scanned
        return ids_scanned

    def set_clock(self, seconds: float) -> None:
        """Set the server's clock and ours, so many seconds ahead of the machine's."""
        self.clock.set(seconds)
        # Only ours: gRPC reads the clock by two ways, which have to agree.
        ours = SimpleNamespace(time=lambda: time.time() + seconds, monotonic=time.monotonic)
        self._patch.setattr(clocks, "time", ours)

    async def settled(self) -> None:
        """Let the time pass in which nobody asks."""
        until = time.monotonic() + 10.0
        while time.monotonic() < until:
            try:
                await self.client.ping()
                return
            except Unavailable:
                await asyncio.sleep(0.1)
        raise AssertionError("the client asks no more")

    @property
    def database(self) -> Path:
        return self.server.folder / DATABASE


@pytest_asyncio.fixture
async def lite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Lite]:
    lite = Lite(tmp_path, monkeypatch)
    await lite.server.start()
    yield lite
    await lite.client.close()
    await lite.server.kill()


@pytest.mark.parametrize("step", STEPS)
async def test_a_step_back_is_refused_until_the_server_was_started_again_and_then_nothing_is_hidden(
    lite: Lite, step: float
) -> None:
    await lite.put("a", "b")
    lite.set_clock(-step)
    with pytest.raises(
        Unavailable, match=rf"clock was set back by {step:.0f} s: the vector store is started again"
    ):
        await lite.found()
    with pytest.raises(Unavailable):
        await lite.put("c")
    await lite.watch.check()
    assert not lite.server.alive
    assert lite.reports[0] == f"this machine's clock was set back by {step:.0f} s"
    await lite.server.start()
    await lite.settled()
    assert await lite.found() == ["a", "b"]
    assert "2 rows of the future are dated to now" in lite.server.tail()
    assert not (lite.server.folder / CLOCK_SET_BACK).exists()
    await lite.put("c", "a")
    await lite.delete("b")
    assert await lite.found() == ["a", "c"]
    lite.set_clock(0.0)
    assert await lite.found() == ["a", "c"], "and nothing comes back when the clock is right again"


async def test_a_machine_that_starts_with_a_wrong_clock_has_its_vectors(lite: Lite) -> None:
    await lite.put("a", "b")
    await lite.server.stop()
    lite.set_clock(-86_400.0)
    await lite.server.start()
    await lite.settled()
    assert await lite.found() == ["a", "b"]
    await lite.delete("a")
    assert await lite.found() == ["b"]


async def test_a_step_forward_changes_nothing(lite: Lite) -> None:
    await lite.put("a")
    lite.set_clock(86_400.0)
    await lite.watch.check()
    assert lite.server.alive
    assert await lite.found() == ["a"]


async def test_rows_among_newer_ones_are_dated_too_and_others_are_left_alone(lite: Lite) -> None:
    lite.clock.set(86_400.0)
    await lite.put("future")
    lite.clock.set(0.0)
    await lite.put("present")
    await lite.server.stop()
    (lite.server.folder / CLOCK_SET_BACK).touch()
    assert date_rows_to_now(lite.database) == 1
    assert date_rows_to_now(lite.database) == 0
    await lite.server.start()
    assert await lite.found() == ["future", "present"]


def test_what_is_no_database_of_milvus_lite_is_left_alone(tmp_path: Path) -> None:
    assert date_rows_to_now(tmp_path / DATABASE) == 0
    (tmp_path / DATABASE).touch()
    assert date_rows_to_now(tmp_path / DATABASE) == 0
