"""The routes about webhooks: registration, rotation of secrets, rights."""

import json
import time
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from runtime.errors import NotFound
from services.gateway.webhooks.endpoints import Endpoint
from services.gateway.webhooks.signing import new_secret, signed_headers
from tests.support.access import READER, SEVERAL, WRITER, behind, client, keyed
from tests.support.events import added
from tests.support.querying import library_of_two
from tests.support.webhook_bench import Bench, HandledLog


@pytest.fixture
async def bench() -> Bench:
    harness = await library_of_two()
    harness.log = HandledLog()
    return Bench(harness)


async def test_the_routes_never_show_a_secret_again(bench: Bench) -> None:
    async with client(bench.harness.app(webhooks=bench.webhooks)) as api:
        webhook = (
            await api.post("/operations/webhooks", json={"url": "http://127.0.0.1:9/a"})
        ).json()
        assert webhook["secret"].startswith("whsec_") and webhook["state"] == "active"
        listing = await api.get("/operations/webhooks")
        assert webhook["secret"] not in listing.text and [
            endpoint["id"] for endpoint in listing.json()["webhooks"]
        ] == [webhook["id"]]
        path = f"/operations/webhooks/{webhook['id']}"
        assert (await api.post(f"{path}/test", json={})).json() == {
            "delivered": True,
            "status": 200,
            "error": None,
        }
        replay = await api.post(f"{path}/replay", json={"after": 0})
        assert replay.json()["cursor"] == 0 and "secret" not in replay.json()
        assert (await api.post(f"{path}/enable", json={})).status_code == 200
        assert (await api.delete(path)).json() == {"id": webhook["id"]}
        for method in (
            api.delete(path),
            api.post(f"{path}/test", json={}),
            api.post(f"{path}/enable", json={}),
        ):
            assert (await method).status_code == 404
    assert webhook["secret"] not in str([message.data for message in bench.harness.log.messages])
    assert all(
        webhook["secret"].encode() not in value
        for value, _ in bench.endpoints.values.values.values()
    )  # type: ignore[attr-defined]
    with pytest.raises(NotFound):
        await bench.endpoints.change_state(webhook["id"])


async def test_after_a_rotation_messages_are_signed_with_both_secrets_for_a_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    async with client(bench.harness.app(webhooks=bench.webhooks)) as api:
        first = (
            await api.post("/operations/webhooks", json={"url": "http://127.0.0.1:9/a"})
        ).json()
        path = f"/operations/webhooks/{first['id']}"
        second = (await api.post(f"{path}/rotate", json={"keep_hours": 2})).json()
        third = (await api.post(f"{path}/rotate", json={"keep_hours": 1})).json()
        for hours in (0.5, 1.5):
            monkeypatch.setattr(time, "time", lambda hours=hours: now + hours * 3600)
            await api.post(f"{path}/test", json={})
        listing = await api.get("/operations/webhooks")
        assert (
            await api.post("/operations/webhooks/0000000000000000/rotate", json={})
        ).status_code == 404
        assert (await api.post(f"{path}/rotate", json={"keep_hours": -1})).status_code == 422
    secrets = [answer["secret"] for answer in (first, second, third)]
    assert len(set(secrets)) == 3 and not any(secret in listing.text for secret in secrets)
    for (headers, _), valid in zip(bench.receiver.got, (secrets[:0:-1], secrets[2:]), strict=True):
        id = headers["webhook-id"]
        at = int(headers["webhook-timestamp"])
        body = bench.receiver.bodies[id]
        assert (
            headers["webhook-signature"] == signed_headers(valid, id, at, body)["webhook-signature"]
        )


async def test_who_has_rotated_nothing_is_stored_as_older_releases_read_it(bench: Bench) -> None:
    endpoint = await bench.endpoints.add(
        Endpoint("", "w", "http://127.0.0.1:9/a", ("DocumentAdded",), new_secret()), 0
    )
    value, _ = await bench.endpoints.values.read(f"config.{endpoint.id}")
    assert "former_secret" not in json.loads(value)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"url": "https://10.0.0.1/"}, 400),
        ({"url": "https://localhost/"}, 400),
        ({"url": "http://127.0.0.1/", "types": ["Nothing"]}, 400),
        ({"url": "http://127.0.0.1/", "types": []}, 422),
        ({"url": "x" * 3000}, 422),
    ],
)
async def test_what_cannot_be_a_webhook_is_refused(
    bench: Bench, body: dict[str, Any], status: int
) -> None:
    webhooks = replace(
        bench.webhooks,
        allowed_networks=[ip_network("127.0.0.1/32")] if "http://" in body["url"] else [],
    )
    async with client(bench.harness.app(webhooks=webhooks)) as api:
        assert (await api.post("/operations/webhooks", json=body)).status_code == status


async def test_webhooks_are_those_of_the_workspace_and_readers_change_none(bench: Bench) -> None:
    app = bench.harness.app(behind(lightstream_api_keys=SEVERAL), webhooks=bench.webhooks)
    async with keyed(app, WRITER, "v") as api:
        theirs = (
            await api.post("/operations/webhooks", json={"url": "http://127.0.0.1:9/a"})
        ).json()["id"]
        assert len((await api.get("/operations/webhooks")).json()["webhooks"]) == 1
    async with keyed(app, WRITER, "w") as api:
        assert (await api.get("/operations/webhooks")).json() == {"webhooks": []}
        assert (await api.delete(f"/operations/webhooks/{theirs}")).status_code == 404
    async with keyed(app, READER) as api:
        assert (
            await api.post("/operations/webhooks", json={"url": "http://127.0.0.1:9/a"})
        ).status_code == 403
        assert (await api.get("/operations/webhooks")).status_code == 200


async def test_a_webhook_ends_with_the_credentials_that_registered_it(bench: Bench) -> None:
    config = behind(lightstream_api_keys=SEVERAL)
    assert config.may_write("key:writer", "w")
    assert not config.may_write("key:reader", "w")
    assert not config.may_write("key:writer", "elsewhere")
    assert not config.may_write("key:removed", "w")
    assert not config.may_write("anyone", "w")
    assert behind().may_write("anyone", "w")
    bench.webhooks = replace(bench.webhooks, may_write=config.may_write)
    bench.sender = bench.another()
    await bench.registered("DocumentAdded", created_by="key:removed")
    await bench.logged(added("d"))
    assert not await bench.step()
    state = await bench.state()
    assert (bench.receiver.got, state.cursor) == ([], 0)
    assert "is gone or may not write" in state.last_error
    await bench.endpoints.adopt(bench.id, "key:writer")
    await bench.endpoints.change_state(bench.id)
    assert await bench.step()
    assert bench.receiver.types == ["DocumentAdded"]
