"""The consumers of the log over HTTP, with their rates."""

from datetime import UTC, datetime, timedelta

import pytest

from runtime.bus.nats.consumers import ConsumerState
from services.gateway.operations.consumers import ConsumerRates
from tests.support.access import READER, SEVERAL, behind, client, keyed
from tests.support.querying import library_of_two
from tests.support.webhook_bench import Bench, HandledLog


@pytest.fixture
async def bench() -> Bench:
    harness = await library_of_two()
    harness.log = HandledLog()
    return Bench(harness)


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
