"""The event processor: events before acknowledgement, the same again, siblings unharmed, nothing
lost in silence.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from contracts.events import DocumentAdded, Event, StageFailed
from contracts.graph import Generations
from runtime.bus.memory import MemoryMessage
from runtime.bus.port import BUG_ATTEMPTS, Delivery
from runtime.bus.processor import each
from runtime.errors import Poison, RateLimited, Retryable, Unavailable
from tests.support.events import added, chunked, document, sealed
from tests.support.processors import bench

ANSWER = chunked(document(), "text")


def answering(*events: Event) -> Any:
    async def handle(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        return events

    return each(handle)


def raising(error: Exception, name: str = "") -> Any:
    """Fails for the document named `name`, else for every one; the others give one event each."""

    async def handle(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        if name in {"", delivery.event.aggregate_id}:
            raise error
        return [chunked(document(delivery.event.aggregate_id), "text")]

    return each(handle)


async def test_what_a_handler_returns_is_published_before_its_cause_is_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = bench(answering(ANSWER, chunked(document(), "more", part=1, parts=2)))
    table.append(sealed(added()))

    async def ack(message: MemoryMessage) -> None:
        table.log.events.append("ack")

    monkeypatch.setattr(MemoryMessage, "ack", ack)
    await table.deliver()
    assert table.log.events == ["publish ChunksCreated", "publish ChunksCreated", "ack"]


async def test_an_event_carries_its_cause_its_beginning_its_trace_and_its_workspace() -> None:
    trace = f"00-{'a' * 32}-{'b' * 16}-01"
    table = bench(answering(ANSWER))
    table.append(
        sealed(added(), id="cause", correlation="begin", traceparent=trace, workspace="w2")
    )
    await table.deliver()
    (event,) = table.published()
    assert (event.causationid, event.correlationid, event.traceparent, event.workspace) == (
        "cause",
        "begin",
        trace,
        "w2",
    )
    assert event.source == "lightstream/chunker"


async def test_the_first_event_of_a_document_is_the_beginning_of_all_that_follow() -> None:
    table = bench(answering(ANSWER))
    table.append(sealed(added(), id="first"))
    await table.deliver()
    assert table.published()[0].correlationid == "first"


async def test_a_second_delivery_publishes_the_same_ids_and_so_nothing() -> None:
    table = bench(answering(ANSWER))
    table.append(sealed(added()))
    (message,) = await table.deliver()
    before = list(table.log.messages)
    await table.processor.process([message])
    assert table.log.messages == before


async def test_two_publishers_that_chose_the_same_event_id_lose_nothing() -> None:
    async def handle(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        return [chunked(document(delivery.event.aggregate_id), "text")]

    table = bench(each(handle))
    for number, (workspace, name) in enumerate([("one", "d"), ("two", "d"), ("one", "e")]):
        envelope = sealed(added(name), id="1", workspace=workspace)
        table.raw(
            envelope.model_dump_json(exclude_none=True).encode(),
            f"kb.v1.{workspace}.{name}.DocumentAdded",
        )
        assert len(table.log.messages) == number + 1
    await table.deliver()
    assert {(f.workspace, f.data.aggregate_id) for f in table.published()} == {
        ("one", "d"),
        ("two", "d"),
        ("one", "e"),
    }


async def test_what_is_being_worked_on_is_not_delivered_to_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beats: list[int] = []

    async def heartbeat(message: MemoryMessage) -> None:
        beats.append(message.sequence)
        if len(beats) == 2:
            raise Unavailable("a heartbeat was lost")
        if len(beats) >= 6:
            release.set()

    async def slow(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        await asyncio.wait_for(release.wait(), 10)
        return []

    release = asyncio.Event()
    monkeypatch.setattr(MemoryMessage, "heartbeat", heartbeat)
    table = bench(each(slow), ack_wait=0.03)
    for name in "de":
        table.append(sealed(added(name), id=name))
    await table.deliver()
    assert set(beats) == {1, 2}
    beats.clear()
    await asyncio.sleep(0.05)
    assert beats == []


async def test_a_handler_that_is_cancelled_by_its_own_driver_ends_no_worker() -> None:
    async def cancelling(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        if delivery.attempt == 1:
            task = asyncio.current_task()
            assert task
            task.cancel()
            await asyncio.sleep(0)
        return [ANSWER]

    table = bench(each(cancelling))
    table.append(sealed(added()))
    for _ in range(2):
        await table.deliver()
    assert [event.data for event in table.published()] == [ANSWER]


async def test_who_is_stopped_stops_at_whatever_moment() -> None:
    async def work() -> None:
        while True:
            table.append(
                sealed(added(f"d{len(table.log.messages)}"), id=f"{len(table.log.messages)}")
            )
            await table.deliver()

    for moment in range(40):
        table = bench(answering(ANSWER))
        task = asyncio.create_task(work())
        for _ in range(moment):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=5)
        assert task.cancelled(), f"a cancellation after {moment} steps was lost"


async def test_what_may_succeed_later_is_delivered_again_and_never_fails_the_document() -> None:
    table = bench(raising(Unavailable("the store is down")))
    table.append(sealed(added()))
    for _ in range(12):
        await table.deliver()
    assert table.unacknowledged == [1]
    assert len(table.consumer.delays) == 12
    assert (table.published(), table.log.dead) == ([], {})


async def test_what_failed_for_a_while_succeeds_in_the_end() -> None:
    async def handle(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        if delivery.attempt < 4:
            raise RateLimited("slowly")
        return [ANSWER]

    table = bench(each(handle))
    table.append(sealed(added()))
    for _ in range(4):
        await table.deliver()
    assert table.unacknowledged == []
    assert len(table.published()) == 1


async def test_the_delay_of_a_redelivery_is_the_one_the_provider_asked_for() -> None:
    table = bench(raising(RateLimited("slowly", retry_after=77.0)))
    table.append(sealed(added()))
    await table.deliver()
    assert table.consumer.delays == [77.0]


async def test_what_is_true_already_is_published_before_the_rest_is_tried_again() -> None:
    table = bench(raising(Retryable("one chunk waits", events=[ANSWER])))
    table.append(sealed(added()))
    await table.deliver()
    await table.deliver()
    assert [event.data for event in table.published()] == [ANSWER]
    assert table.unacknowledged == [1]


async def test_poison_becomes_an_event_and_is_kept_raw_and_acknowledged() -> None:
    table = bench(raising(Poison("it can never be")))
    table.append(sealed(added(), correlation="begin"))
    await table.deliver()
    (event,) = table.published("StageFailed")
    failure = event.data
    assert isinstance(failure, StageFailed)
    assert (failure.stage, failure.cause_type, failure.error_type) == (
        "chunker",
        "DocumentAdded",
        "Poison",
    )
    assert (failure.message, failure.attempt, failure.retry_may_help) == (
        "it can never be",
        1,
        False,
    )
    assert (event.causationid, event.correlationid) == ("cause", "begin")
    assert table.log.dead["dead:1:chunker"] == (
        table.log.messages[0].data,
        "Poison: it can never be",
    )
    assert table.unacknowledged == []


async def test_a_failure_stays_in_the_trace_of_its_cause() -> None:
    trace = f"00-{'a' * 32}-{'b' * 16}-01"
    table = bench(raising(Poison("no")))
    table.append(sealed(added(), traceparent=trace))
    await table.deliver()
    assert table.published()[0].traceparent == trace


async def test_a_failure_names_the_version_and_the_chunks_it_is_about() -> None:
    event = chunked(document("d", 7), "one", "two", first=3)
    table = bench(raising(Poison("no")), stage="extractor", on="extractor")
    table.append(sealed(event))
    await table.deliver()
    failure = table.published()[0].data
    assert isinstance(failure, StageFailed)
    assert (failure.document_id, failure.document) == ("d", event.document)
    assert [(chunk.id, chunk.order) for chunk in failure.chunks] == [
        ("d-chunk-003", 3),
        ("d-chunk-004", 4),
    ]


async def test_a_document_that_cannot_be_cut_fails_in_the_version_that_its_place_in_the_log_gives_it() -> (  # noqa: E501
    None
):
    table = bench(raising(Poison("no")))
    table.append(sealed(added("other"), id="other"))
    table.append(sealed(added("d")))
    await table.deliver()
    failure = next(f.data for f in table.published() if f.data.aggregate_id == "d")
    assert isinstance(failure, StageFailed)
    assert failure.document == document("d", 2)


async def test_a_bug_is_tried_a_few_times_and_then_set_aside_with_hope() -> None:
    table = bench(raising(RuntimeError("nobody foresaw this")))
    table.append(sealed(added()))
    for attempt in range(1, BUG_ATTEMPTS + 1):
        assert table.unacknowledged == ([1] if attempt > 1 else [])
        await table.deliver()
    assert table.unacknowledged == []
    failure = table.published()[0].data
    assert isinstance(failure, StageFailed)
    assert (failure.error_type, failure.attempt, failure.retry_may_help) == (
        "RuntimeError",
        BUG_ATTEMPTS,
        True,
    )


async def test_a_failure_that_cannot_be_published_is_not_acknowledged() -> None:
    table = bench(raising(Poison("no")))
    table.append(sealed(added()))
    table.log.refuse["StageFailed"] = Unavailable("the log is full", retry_after=30.0)
    await table.deliver()
    assert table.unacknowledged == [1]
    assert table.consumer.delays == [30.0]
    table.log.refuse.clear()
    await table.deliver()
    assert table.unacknowledged == []
    assert len(table.published("StageFailed")) == 1


async def test_events_that_cannot_be_published_leave_their_cause_in_the_log() -> None:
    table = bench(answering(ANSWER))
    table.append(sealed(added()))
    table.log.refuse["ChunksCreated"] = Unavailable("the log is full")
    await table.deliver()
    assert table.unacknowledged == [1]
    table.log.refuse.clear()
    await table.deliver()
    assert len(table.published("ChunksCreated")) == 1


async def test_an_event_too_large_for_the_log_fails_its_document_and_says_why() -> None:
    table = bench(answering(chunked(document(), "x" * 1_100_000)))
    table.append(sealed(added()))
    await table.deliver()
    failure = table.published()[0].data
    assert isinstance(failure, StageFailed)
    assert "more than KB_EVENTS takes" in failure.message
    assert table.unacknowledged == []


async def test_of_a_failure_that_cannot_be_handled_no_other_failure_is_published() -> None:
    table = bench(raising(Poison("no")), stage="query", on="query-status")
    table.append(
        sealed(
            StageFailed(
                stage="chunker",
                document_id="d",
                cause_type="DocumentAdded",
                error_type="Poison",
                message="m",
                attempt=1,
                retry_may_help=False,
            )
        )
    )
    await table.deliver()
    assert table.published() == []
    assert list(table.log.dead) == ["dead:1:query-status"]
    assert table.unacknowledged == []


async def test_a_handler_that_is_cancelled_neither_acknowledges_nor_gives_back() -> None:
    start = asyncio.Event()

    async def endless(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        start.set()
        await asyncio.Event().wait()
        return []

    table = bench(each(endless))
    table.append(sealed(added()))
    task = asyncio.create_task(table.deliver())
    await start.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert table.unacknowledged == [1]
    assert (table.consumer.delays, table.log.dead, table.published()) == ([], {}, [])
    assert table.processor.busy == 0


async def test_a_handler_sees_the_event_its_place_and_its_time() -> None:
    deliveries: list[Delivery[Any]] = []

    async def handle(delivery: Delivery[Any], generations: Generations) -> Sequence[Event]:
        assert generations == Generations()
        deliveries.append(delivery)
        return []

    table = bench(each(handle))
    envelope = sealed(added())
    table.append(envelope)
    await table.deliver()
    (delivery,) = deliveries
    assert isinstance(delivery.event, DocumentAdded)
    assert (delivery.sequence, delivery.attempt, delivery.happened_at) == (1, 1, envelope.time)
