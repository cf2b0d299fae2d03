"""Webhooks: signatures, what is sent, retries, replays, and one process that sends."""

import time

import pytest

from services.gateway.webhooks.endpoints import EndpointState
from services.gateway.webhooks.sender import (
    GIVE_UP,
    LONGEST_RETRY,
    Lease,
    disabled_webhooks,
    failed,
)
from services.gateway.webhooks.signing import new_secret, signed_headers
from tests.support.events import added, document, indexed
from tests.support.querying import library_of_two
from tests.support.webhook_bench import CANARY, Bench, HandledLog


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
