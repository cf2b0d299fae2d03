"""Webhooks: signatures, where they may lead, what is sent, retries, replay, and what the routes
tell.
"""

import asyncio
import json
import socket
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest

from contracts.events import Event
from runtime.bus.feed.memory import MemoryEventFeed
from runtime.bus.memory import MemoryLog, MemorySharedValues
from runtime.bus.nats.consumers import ConsumerState
from services.gateway.operations.consumers import ConsumerRates
from services.gateway.webhooks.addresses import AddressRefused, Target, resolved
from services.gateway.webhooks.delivery import Webhooks
from services.gateway.webhooks.endpoints import Endpoint, Endpoints, EndpointState
from services.gateway.webhooks.notifications import Notifier
from services.gateway.webhooks.sender import (
    GIVE_UP,
    LONGEST_RETRY,
    Lease,
    WebhookSender,
    disabled_webhooks,
    failed,
)
from services.gateway.webhooks.signing import new_secret, signed_headers
from services.query.errors import NotFound
from tests.support.access import READER, SEVERAL, WRITER, behind, client, keyed
from tests.support.events import added, document, indexed, sealed
from tests.support.querying import QueryHarness, library_of_two

HERE = [ip_network("127.0.0.0/8")]
CANARY = "canary-9f31c7e2a4"


class HandledLog(MemoryLog):
    """A log all of which the status projection has handled."""

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        return len(self.messages)


@dataclass
class Receiver:
    """`Poster`: answers with these statuses, the last of them for ever."""

    statuses: list[int] = field(default_factory=lambda: [200])
    got: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list[Any])
    bodies: dict[str, bytes] = field(default_factory=dict[str, bytes])

    async def post(self, target: Target, headers: dict[str, str], body: bytes) -> int:
        self.got.append((headers, json.loads(body)))
        self.bodies[headers["webhook-id"]] = body
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if not status:
            raise ConnectionError
        return status

    @property
    def types(self) -> list[str]:
        return [body["type"] for _, body in self.got]


@dataclass
class Bench:
    """A sender over everything in memory, and one endpoint of the workspace w."""

    harness: QueryHarness
    receiver: Receiver = field(default_factory=Receiver)
    id: str = ""

    def __post_init__(self) -> None:
        self.endpoints = Endpoints(MemorySharedValues())
        self.webhooks = Webhooks(self.endpoints, self.receiver, HERE)
        self.sender = self.another()

    def another(self) -> WebhookSender:
        """The sender of another process."""
        notifier = Notifier(self.harness.log, self.harness.pointers, self.harness.documents)
        return WebhookSender(self.webhooks, MemoryEventFeed(self.harness.log), notifier)

    async def registered(self, *types: str, **fields: Any) -> None:
        draft = Endpoint("", "w", "http://127.0.0.1:9/hook", types, new_secret(), **fields)
        self.id = (await self.endpoints.add(draft, 0)).id

    async def logged(self, *events: Event, workspace: str = "w") -> None:
        for event in events:
            number = len(self.harness.log.messages)
            await self.harness.log.publish(sealed(event, id=f"e{number}", workspace=workspace))

    async def step(self) -> bool:
        return await self.sender.step(self.id, Lease(self.endpoints, self.id, self.sender.holder))

    async def state(self) -> EndpointState:
        record = await self.endpoints.state(self.id)
        assert record
        return record.state

    async def due(self) -> None:
        """Let the time of the next attempt be come."""
        record = await self.endpoints.state(self.id)
        assert record
        assert await self.endpoints.write_state(
            self.id, replace(record.state, next_attempt=0.0), record.revision
        )


@pytest.fixture
async def bench() -> Bench:
    harness = await library_of_two()
    harness.log = HandledLog()
    return Bench(harness)


def test_a_signature_is_that_of_the_specification() -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    assert signed_headers([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body) == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    assert new_secret() != new_secret()


PRIVATE = (
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
    "240.0.0.1",
    "[::1]",
    "[::]",
    "[fe80::1]",
    "[fc00::1]",
    "[ff02::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::1]",
    "2130706433",
    "127.1",
    "0x7f.1",
    "192.0.0.8",
    "192.0.0.9",
    "192.88.99.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.175.48.1",
    "192.0.2.1",
    "203.0.113.1",
    "198.51.100.1",
    "198.19.255.255",
    "[::ffff:192.88.99.1]",
    "[::7f00:1]",
    "[::ffff:0:7f00:1]",
    "[64:ff9b:1::1]",
    "[100::1]",
    "[100:0:0:1::1]",
    "[2001:1::1]",
    "[2001:2::1]",
    "[2001:20::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[fec0::1]",
    "[2620:4f:8000::1]",
    "[4000::1]",
)


@pytest.mark.parametrize("host", PRIVATE)
async def test_private_and_reserved_addresses_are_refused_however_they_are_written(
    host: str,
) -> None:
    with pytest.raises(AddressRefused):
        await resolved(f"https://{host}/hook", ())


@pytest.mark.parametrize(
    "url",
    [
        "ftp://8.8.8.8/",
        "https://",
        "8.8.8.8/hook",
        "https://a:b@8.8.8.8/",
        "https://8.8.8.8/#x",
        "http://8.8.8.8/",
        "https://8.8.8.8:99999/",
        "https://[::1/",
        "https://8.8.8.8/a\r\nX-Other: b",
        "https://8.8.8.8/a\nb",
        "https://8.8.8.8\r/",
        "\thttps://8.8.8.8/",
        "https://8.8.8.8/a b",
        "https://8.8.8.8/ü",
        "https://8.8.8.8\\@10.0.0.1/",
    ],
)
async def test_what_is_no_safe_url_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        await resolved(url, ())


async def test_a_name_is_resolved_once_and_its_address_is_what_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [["8.8.8.8"], ["8.8.8.8", "10.0.0.1"], ["10.0.0.1"]]

    async def getaddrinfo(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, 0, 0, "", (address, 443)) for address in answers.pop(0)]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    (target,) = await resolved("https://hooks.example:8443/a?b=c", ())
    assert (target.pinned_url, target.authority) == (
        "https://8.8.8.8:8443/a?b=c",
        "hooks.example:8443",
    )
    for _ in range(2):
        with pytest.raises(AddressRefused):
            await resolved("https://hooks.example/", ())
    assert answers == []


async def test_an_allowed_network_may_be_reached_also_without_tls() -> None:
    (target,) = await resolved("http://127.0.0.1:8080/hook", HERE)
    assert target.pinned_url == "http://127.0.0.1:8080/hook"
    with pytest.raises(AddressRefused):
        await resolved("http://10.0.0.1/", HERE)


async def test_events_of_the_chosen_types_are_sent_in_order_without_texts(bench: Bench) -> None:
    await bench.registered("DocumentAdded")
    await bench.logged(added("a", CANARY), added("b", CANARY))
    await bench.logged(added("theirs", CANARY), workspace="v")
    assert await bench.step() and not await bench.step()
    (first, body), (second, _) = bench.receiver.got
    assert (first["webhook-id"], second["webhook-id"]) == ("e0", "e1")
    assert (body["type"], body["data"]["document"], CANARY in str(bench.receiver.got)) == (
        "DocumentAdded",
        "a",
        False,
    )
    assert (await bench.state()).cursor == 2


async def test_a_body_is_sent_where_it_was_asked_for(bench: Bench) -> None:
    await bench.registered("DocumentAdded", with_body=True)
    await bench.logged(added("a", CANARY))
    await bench.step()
    assert bench.receiver.got[0][1]["data"]["event"]["data"]["text"] == CANARY


async def test_what_is_not_taken_is_sent_again_later_and_nothing_overtakes_it(bench: Bench) -> None:
    await bench.registered("DocumentAdded")
    await bench.logged(added("a"), added("b"), added("c"))
    bench.receiver.statuses = [200, 500, 302, 0, 200]
    for cause in ("answered 500", "redirects", "no answer"):
        assert not await bench.step()
        state = await bench.state()
        assert state.cursor == 1 and cause in state.last_error
        assert not await bench.step()  # its time has not come
        await bench.due()
    assert await bench.step()
    assert [headers["webhook-id"] for headers, _ in bench.receiver.got] == [
        "e0",
        "e1",
        "e1",
        "e1",
        "e1",
        "e2",
    ]
    state = await bench.state()
    assert (state.cursor, state.failures, state.last_error) == (3, 0, "")


def test_waits_grow_up_to_an_hour_and_days_of_failures_disable() -> None:
    state = EndpointState(0)
    now = 1000.0
    waits = list[float]()
    while not state.disabled:
        state = failed(state, "no answer", now)
        waits.append(state.next_attempt - now)
        now = state.next_attempt
    assert waits[:4] == [5.0, 10.0, 20.0, 40.0] and waits[-1] == LONGEST_RETRY
    assert now - 1000.0 >= GIVE_UP


async def test_the_next_attempt_comes_in_time_although_the_clock_was_set_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.registered("DocumentAdded")
    await bench.logged(added("a"))
    bench.receiver.statuses = [503, 200]
    await bench.step()
    wall_time = time.time
    monotonic = time.monotonic
    monkeypatch.setattr(time, "time", lambda: wall_time() - 86_400.0)
    assert not await bench.step()
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + 5.5)
    assert await bench.step()
    assert bench.receiver.types == ["DocumentAdded"] * 2


async def test_a_receiver_that_is_gone_is_disabled_at_once_until_it_is_enabled(
    bench: Bench,
) -> None:
    await bench.registered("DocumentAdded")
    await bench.logged(added("a"))
    bench.receiver.statuses = [410, 200]
    await bench.step()
    assert (await bench.state()).disabled
    assert (
        await disabled_webhooks(bench.endpoints)
        == "1 of 1 are disabled: see `lightstream webhooks list`"
    )
    await bench.endpoints.change_state(bench.id)
    assert await bench.step()
    assert await disabled_webhooks(bench.endpoints) is None


async def test_a_replay_wins_over_a_sender_that_is_under_way(bench: Bench) -> None:
    await bench.registered("DocumentAdded")
    await bench.logged(added("a"), added("b"))
    await bench.step()
    stale = await bench.endpoints.state(bench.id)
    assert stale
    await bench.endpoints.change_state(bench.id, cursor=0)
    assert not await bench.endpoints.write_state(bench.id, stale.state, stale.revision)
    await bench.step()
    assert [headers["webhook-id"] for headers, _ in bench.receiver.got] == ["e0", "e1", "e0", "e1"]


async def test_what_a_document_came_to_is_told_once(bench: Bench) -> None:
    await bench.registered("document.processed", "document.failed")
    # A document of the library, whose status is known already.
    await bench.logged(added("curie"), *(indexed(document("curie"), "graph", 0) for _ in range(29)))
    await bench.step()
    await bench.step()
    ((headers, body),) = bench.receiver.got
    assert (body["type"], body["data"]["document"], body["data"]["chunks"]) == (
        "document.processed",
        "curie",
        2,
    )
    assert headers["webhook-id"].startswith("curie:")


async def test_one_process_sends_at_a_time(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("services.gateway.webhooks.sender.time.monotonic", lambda: now)
    first = Lease(bench.endpoints, "a", "one")
    second = Lease(bench.endpoints, "a", "two")
    assert await first.hold() and not await second.hold()
    now += 50
    assert await first.hold() and not await second.hold()
    now += 59
    assert not await second.hold()
    now += 2  # 61 s since the last renewal that two has seen
    assert await second.hold() and not await first.hold()
    await second.give_back()
    assert await first.hold()


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


async def test_consumers_are_shown_with_their_rate_to_who_may_see_the_whole_deployment(
    bench: Bench,
) -> None:
    async with client(bench.harness.app()) as api:
        (first,) = (await api.get("/operations/consumers")).json()["consumers"]
    assert (first["name"], first["stage"], first["pending"], first["ack_pending"]) == (
        "extractor",
        "extractor",
        120,
        4,
    )
    assert (first["rate"], first["rate_since"]) == (None, None)
    async with keyed(bench.harness.app(behind(lightstream_api_keys=SEVERAL)), READER) as api:
        assert (await api.get("/operations/consumers")).status_code == 403


async def test_a_rate_is_counted_from_a_reading_of_the_last_minute() -> None:
    acknowledged_events = 100
    now = datetime(2026, 3, 1, tzinfo=UTC)

    async def read() -> list[ConsumerState]:
        return [ConsumerState("extractor", 0, 0, 0, 0, 0, acknowledged_events)]

    rates, result = ConsumerRates(read, lambda: now), list[float | None]()
    for seconds, events in ((0, 0), (10, 50), (0.5, 0), (40, 0), (120, 7)):
        now = now + timedelta(seconds=seconds)
        acknowledged_events = acknowledged_events + events
        (consumer,) = await rates.current()
        result.append(consumer.rate)
    assert result == [None, 5.0, 50 / 10.5, 50 / 50.5, None]


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
