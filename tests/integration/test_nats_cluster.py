"""A cluster of three buses: services and publishers outlive the loss of any server, and nothing confirmed is lost."""

from contextlib import suppress
from pathlib import Path

from nats.errors import Error as NatsError
from nats.js.errors import APIError

from runtime.bus import topology
from standalone.operations.backup.taking import Backup
from standalone.operations.backup.verifying import verify
from tests.cluster.trial import trial
from tests.support.nats_cluster import SIZE
from tests.support.nats_server import until


async def test_the_leader_is_killed_and_a_disk_is_lost_while_documents_flow(tmp_path: Path) -> None:
    """`make cluster` does the same fifty times."""
    async with trial(tmp_path) as running:
        assert await topology.check(running.jetstream) == []
        assert await topology.apply(running.jetstream) == [], "nobody but the operator changes the number of copies"
        leader = await running.cluster.leader(running.jetstream)
        await running.kill(leader)
        await running.kill((leader + 1) % SIZE, emptied=True)
        assert await running.problems() == []

        async def as_declared() -> bool:
            with suppress(APIError, NatsError):  # a server that came back a moment ago may not answer yet
                return await topology.check(running.jetstream, replicas=SIZE) == []
            return False

        await until(as_declared, "every stream has its copies")
        manifest = await Backup(running.jetstream, tmp_path / "backup", lambda _: None).run()
        assert manifest.messages >= 2 * len(running.confirmed)
        assert not verify([tmp_path / "backup"], lambda _: None).problems
