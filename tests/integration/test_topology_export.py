"""What `topology export` prints describes what `topology apply` makes: on a real server, field by
field.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from nats.aio.client import Client
from nats.js import JetStreamContext

from contracts.topology import BUCKETS, CONSUMERS, STREAMS
from runtime.bus import topology
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.topology_export import exported
from tests.support.nats_server import BusServer, connected


@pytest_asyncio.fixture
async def client(server: BusServer) -> AsyncIterator[Client]:
    async with connected(server) as connection:
        yield connection


async def ask(client: Client, subject: str, body: Any = None) -> dict[str, Any]:
    data = b"" if body is None else json.dumps(body).encode()
    answer: dict[str, Any] = json.loads(
        (await client.request(f"$JS.API.{subject}", data, timeout=10)).data
    )
    assert "error" not in answer, answer
    return answer


async def configurations(client: Client) -> dict[str, Any]:
    """What the server has, by name."""
    streams = {
        name: (await ask(client, f"STREAM.INFO.{name}"))["config"]
        for name in (
            *(stream.name for stream in STREAMS),
            *(f"KV_{bucket.name}" for bucket in BUCKETS),
        )
    }
    durables = {
        durable.name: (await ask(client, f"CONSUMER.INFO.{durable.stream}.{durable.name}"))[
            "config"
        ]
        for durable in CONSUMERS
    }
    return {**streams, **durables}


async def remove_all(client: Client) -> None:
    for name in (await ask(client, "STREAM.NAMES"))["streams"]:
        await ask(client, f"STREAM.DELETE.{name}")


async def test_requests_make_what_apply_makes(client: Client) -> None:
    jetstream: JetStreamContext = client.jetstream(timeout=5)
    await topology.apply(jetstream)
    configurations_applied = await configurations(client)
    await remove_all(client)

    declarations = json.loads(exported("json", share_subjects=True))
    for config in declarations["streams"]:
        await ask(client, f"STREAM.CREATE.{config['name']}", config)
    for consumer in declarations["consumers"]:
        durable = consumer["config"]["durable_name"]
        subject = f"CONSUMER.DURABLE.CREATE.{consumer['stream_name']}.{durable}"
        await ask(client, subject, consumer)

    assert await configurations(client) == configurations_applied
    assert await topology.check(jetstream) == []
    assert await topology.apply(jetstream) == []


async def test_the_server_takes_every_field_as_it_is_exported(client: Client) -> None:
    await topology.apply(client.jetstream(timeout=5))
    result = await configurations(client)
    declarations = json.loads(exported("json", share_subjects=True))
    for config in (
        *declarations["streams"],
        *(consumer["config"] for consumer in declarations["consumers"]),
    ):
        has = result[config.get("name") or config["durable_name"]]
        # The server adds metadata of its own.
        has["metadata"] = {
            name: has.get("metadata", {}).get(name) for name in config.get("metadata", {})
        }
        assert {name: has.get(name) or None for name in config} == {
            k: v or None for k, v in config.items()
        }


async def test_a_bucket_of_an_older_version_is_brought_up_to_date_and_keeps_its_values(
    client: Client,
) -> None:
    """Buckets were made by the client's own call, which lets one message replace all keys."""
    jetstream = client.jetstream(timeout=5)
    bucket = BUCKETS[0]
    older_bucket = await jetstream.create_key_value(bucket=bucket.name, history=bucket.history)
    await older_bucket.put("pointers", b"{}")
    await topology.apply(jetstream)
    assert await topology.check(jetstream) == []
    assert (await jetstream.stream_info(f"KV_{bucket.name}")).config.allow_rollup_hdrs is False
    assert (await (await NatsSharedValues.bind(jetstream, bucket.name)).read("pointers"))[
        0
    ] == b"{}"
