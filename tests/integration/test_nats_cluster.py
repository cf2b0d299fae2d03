"""A cluster of three buses: services and publishers outlive the loss of any server, and nothing
confirmed is lost.

Nor by a backup of it that is restored into another cluster.
"""

from contextlib import suppress
from pathlib import Path

import pytest
from nats.errors import Error as NatsError
from nats.js.errors import APIError

from contracts import subjects
from operations.backup.restoring import Restore
from operations.backup.taking import Backup
from operations.backup.verifying import verify
from runtime.bus import topology
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Message
from tests.cluster.trial import trial
from tests.support.nats_cluster import SIZE, nats_cluster
from tests.support.nats_server import until
from tests.support.waiting import eventually


async def documents(log: NatsLog) -> list[Message]:
    """All documents that were added. Raises `Unavailable`."""
    return [m async for page in log.read() for m in page if m.subject.endswith(".DocumentAdded")]


@pytest.mark.nightly  # the leader alone: tests/integration/test_deployed_cluster.py
async def test_the_leader_is_killed_and_a_disk_is_lost_while_documents_flow(tmp_path: Path) -> None:
    """`make cluster` does the same fifty times."""
    async with trial(tmp_path) as running:
        assert await topology.check(running.jetstream) == []
        assert await topology.apply(running.jetstream) == [], (
            "nobody but the operator changes the number of copies"
        )
        leader = await running.cluster.leader(running.jetstream)
        await running.kill(leader)
        await running.kill((leader + 1) % SIZE, emptied=True)
        assert await running.problems() == []

        async def as_declared() -> bool:
            with suppress(
                APIError, NatsError
            ):  # a server that came back a moment ago may not answer yet
                return await topology.check(running.jetstream, replicas=SIZE) == []
            return False

        await until(as_declared, "every stream has its copies")
        manifest = await Backup(running.jetstream, tmp_path / "backup", lambda _: None).run()
        assert manifest.messages >= 2 * len(running.confirmed)
        verification = verify([tmp_path / "backup"], lambda _: None)
        assert not verification.problems
    async with (
        nats_cluster(tmp_path / "other") as other_cluster,
        connected(other_cluster.url("operator"), name="test") as client,
    ):
        other_jetstream = client.jetstream(timeout=10)
        assert (
            await Restore(other_jetstream, verification, lambda _: None, replicas=SIZE).run()
            == manifest.messages
        )
        assert await topology.check(other_jetstream, replicas=SIZE) == []
        leader = await other_cluster.leader(other_jetstream)
        await other_cluster.whole(other_jetstream)
        await other_cluster.kill(leader)
        names = dict(running.confirmed)
        for message in await eventually(lambda: documents(NatsLog(other_jetstream))):
            assert names.pop(subjects.split(message.subject)[1]) == message.sequence
        assert not names
