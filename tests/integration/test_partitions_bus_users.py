"""Services and publishers on a log of several partitions, each as its own user of the bus."""

from pathlib import Path

from contracts.events import FeedbackGiven
from contracts.partitions import first_sequence, partition_at, partition_of
from operations.bus_accounts import IMPORTED_API, main
from runtime.bus import topology
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from tests.support.bus_users import opened
from tests.support.deployed_bus import deployed_bus
from tests.support.events import added, sealed
from tests.support.nats_server import until
from tests.support.services import page, service

COUNT = 2
WORKSPACES = ("w", "other")
"""One for each partition."""


async def test_what_services_and_publishers_need_is_allowed_in_every_partition(
    tmp_path: Path,
) -> None:
    async with (
        deployed_bus(tmp_path / "bus", partitions=COUNT) as bus,
        connected(bus.operator, name="test") as operator,
    ):
        assert await topology.apply(operator.jetstream(), partitions=COUNT)
        log = NatsLog(operator.jetstream())
        async with service("chunker", tmp_path, **bus.variables("chunker")) as chunker:
            publisher = await opened(bus, "publisher")
            for workspace in WORKSPACES:
                event = sealed(added("d", f"A text of {workspace}."), workspace=workspace)
                data = event.model_dump_json().encode()
                answer = await publisher.request(f"kb.v1.{workspace}.d.DocumentAdded", data)
                assert b'"seq"' in answer.data, answer.data

            async def chunked() -> bool:
                newest_messages = [
                    await log.newest(name, "d", "ChunksCreated") for name in WORKSPACES
                ]
                return all(newest_messages)

            await until(chunked, "chunks of a document in each partition")
            status, health_page = await page(chunker, "ready")
            assert status == 200, health_page
            await publisher.close()

        query = await opened(bus, "query")
        query_log = NatsLog(query.jetstream(prefix=IMPORTED_API))
        for workspace in WORKSPACES:
            partition = partition_of(workspace, COUNT)
            feedback = FeedbackGiven(rating="up", question="Who?")
            sequence = await query_log.publish(sealed(feedback, workspace=workspace))
            assert partition_at(sequence) == partition
            newest_message = await query_log.newest(workspace, "d", "ChunksCreated")
            assert newest_message is not None
            assert newest_message.sequence > first_sequence(partition)
        await query.close()


def test_with_one_partition_the_users_are_those_of_the_file() -> None:
    users = Path(__file__).resolve().parents[2] / "deploy" / "nats" / "users.conf"
    assert main([]) == users.read_text("utf-8")
    assert "KB_EVENTS_1" in main(["--partitions", "2", "acme=harbour"])
