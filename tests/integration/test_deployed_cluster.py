"""Three buses with the files of the deployment: accounts reach the log through any of them, also
when one is lost.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio
from nats.errors import Error as NatsError
from nats.js.errors import APIError

from contracts import subjects
from operations import bus_accounts
from runtime.bus.encoded_text import EncodedText
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from runtime.errors import Unavailable
from tests.support.events import added, sealed
from tests.support.nats_cluster import SIZE, NatsCluster, declare, nats_cluster
from tests.support.nats_server import until
from tests.support.services import service

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[NatsCluster]:
    async with nats_cluster(tmp_path_factory.mktemp("cluster")) as nodes:
        async with connected(nodes.url("operator"), name="test") as client:
            await declare(client.jetstream(timeout=10), SIZE)
        yield nodes


async def test_services_and_publishers_work_through_any_server_and_outlive_the_leader(
    cluster: NatsCluster, tmp_path: Path
) -> None:
    variables = {
        "NATS_URL": cluster.url("chunker", 1),
        "NATS_API_PREFIX": bus_accounts.IMPORTED_API,
    }
    async with (
        connected(cluster.url("operator"), name="test") as client,
        service("chunker", tmp_path, **variables) as chunker,
        connected(cluster.url("publisher", 2), name="publisher") as publisher,
    ):
        jetstream = client.jetstream(timeout=10)
        publishing = publisher.jetstream(prefix=bus_accounts.IMPORTED_API)

        async def cut(name: str) -> bool:
            with suppress(Unavailable):
                return await NatsLog(jetstream).newest("w", name, "ChunksCreated") is not None
            return False

        long_text = await NatsBlobs(publishing).put(
            EncodedText.of("Ada Marlow met Bertram Oake. " * 20_000), "w"
        )
        assert long_text.size > 500_000
        await NatsLog(publishing).publish(sealed(added("before", "Ada met Bob."), id="before"))
        await until(lambda: cut("before"), f"the chunker has cut it\n{chunker.tail()}")

        leader = await cluster.leader(jetstream)
        await cluster.kill(leader)
        await NatsLog(publishing).publish(sealed(added("after", "Ada met Bob."), id="after"))
        await until(
            lambda: cut("after"), f"the chunker has cut it without that server\n{chunker.tail()}"
        )
        await cluster.restart(leader)
        await cluster.whole(jetstream)
        assert (
            await jetstream.stream_info("KB_EVENTS", subjects_filter=subjects.ALL)
        ).state.subjects.keys() >= {
            subjects.subject("w", name, "DocumentAdded") for name in ("before", "after")
        }


async def test_a_service_may_read_the_log_through_no_server(cluster: NatsCluster) -> None:
    for number in range(SIZE):
        async with connected(cluster.url("chunker", number), name="test") as client:
            for prefix in (bus_accounts.API, bus_accounts.IMPORTED_API):
                with pytest.raises((APIError, NatsError)):
                    await client.jetstream(prefix=prefix, timeout=2).get_msg("KB_EVENTS", seq=1)
