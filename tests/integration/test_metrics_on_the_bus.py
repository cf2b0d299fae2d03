"""What `/metrics` tells of the bus, read with the permissions that services have where they are
deployed.
"""

from pathlib import Path

from contracts.topology import declared_consumer
from runtime.bus import topology
from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.bus.nats.log import NatsLog
from runtime.bus.write_status import WriteStatus
from runtime.metrics.bus_readings import read_deployment, read_durables
from tests.support.deployed_bus import deployed_bus
from tests.support.events import added, sealed
from tests.support.metrics import counted


async def test_services_read_their_durables_and_the_query_service_all_of_the_bus(
    tmp_path: Path,
) -> None:
    async with deployed_bus(tmp_path / "bus") as bus:
        async with connected(bus.operator, name="test") as client:
            await topology.apply(client.jetstream())
            await NatsLog(client.jetstream()).publish(sealed(added(), id="one"))
            await client.publish("dead.merger", b"raw")
            await client.flush()
        async with connected(bus.url("chunker"), name="test") as client:
            jetstream = client.jetstream(prefix=bus.variables("chunker")["NATS_API_PREFIX"])
            await read_durables(jetstream, [declared_consumer("chunker")], WriteStatus())
            assert await counted("lightstream_durable_pending", durable="chunker") == 1
        async with connected(bus.url("query"), name="test") as client:
            jetstream = client.jetstream(prefix=bus.variables("query")["NATS_API_PREFIX"])
            await read_deployment(jetstream, await NatsLiveGenerations.bind(jetstream))
    assert await counted("lightstream_projection_lag_events", projection="status") == 1
    assert await counted("lightstream_dead_letters", durable="merger") == 1
    assert await counted("lightstream_dead_letters") == 1
    assert await counted("lightstream_log_sequence") == 1
    assert await counted("lightstream_stream_size_bytes", stream="KB_EVENTS") > 0
