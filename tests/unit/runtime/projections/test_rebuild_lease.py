"""One rebuild at a time on a stack, wherever it runs; a dead one holds nobody up."""

import asyncio
import json
import os
import sys

import pytest

from runtime.bus.memory import MemorySharedValues
from runtime.errors import Busy
from runtime.projections import rebuild_lease
from runtime.projections.rebuild_lease import KEY, hold, running


@pytest.fixture
def values(monkeypatch: pytest.MonkeyPatch) -> MemorySharedValues:
    monkeypatch.setattr(rebuild_lease, "RENEWED", 0.02)
    monkeypatch.setattr(rebuild_lease, "EXPIRES", 0.2)
    return MemorySharedValues()


async def leave(values: MemorySharedValues, **fields: object) -> None:
    """A lease that nobody renews."""
    lease = {
        "projections": ["graph"],
        "host": "elsewhere",
        "pid": 1,
        "machine": "another",
        "id": "other",
        **fields,
    }
    _, revision = await values.read(KEY)
    await values.write(
        KEY, json.dumps({"started": "then", "progress": {}, **lease}).encode(), revision
    )


async def test_a_second_rebuild_is_refused_while_the_first_is_alive(
    values: MemorySharedValues,
) -> None:
    async with hold(values, ["graph"]) as first:
        first.progress = {"events": 7}
        with pytest.raises(Busy, match=f"rebuild of graph, process {os.getpid()} on "):
            async with hold(values, ["status"]):
                pytest.fail("there is one")
        lease = await running(values)
        assert lease is not None
        assert lease.progress == {"events": 7}
    assert await running(values) is None
    async with hold(values, ["status"]):
        pass


async def test_a_lease_that_nobody_renews_expires(values: MemorySharedValues) -> None:
    await leave(values)
    assert await running(values) is not None
    async with hold(values, ["status"]) as mine:
        lease = await running(values)
        assert lease is not None
        assert lease.id == mine.id


async def test_a_lease_of_a_process_that_has_ended_here_is_taken_over_at_once(
    values: MemorySharedValues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuild_lease, "EXPIRES", 1e9)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await process.wait()
    await leave(values, pid=process.pid, machine=rebuild_lease._machine())
    assert await running(values) is None
    async with hold(values, ["status"]):
        pass


async def test_who_was_overtaken_leaves_the_lease_of_the_other_alone(
    values: MemorySharedValues,
) -> None:
    async with hold(values, ["graph"]):
        await leave(values)
        await asyncio.sleep(0.1)
        assert json.loads((await values.read(KEY))[0])["id"] == "other"
    assert json.loads((await values.read(KEY))[0])["id"] == "other"
