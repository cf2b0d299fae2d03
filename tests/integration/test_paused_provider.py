"""Two extractors, as processes, and a provider that is down or asks to wait: nothing fails, nobody
storms it.
"""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest_asyncio
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import EntitiesExtracted, Event, StageFailed
from contracts.topology import declared_consumer
from embedded.processes import Process
from runtime.bus.codec import decode
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.models.rate_limiters import pause_notices
from tests.support.events import chunked, document, sealed
from tests.support.nats_server import BusServer, until
from tests.support.openai_provider import KEY, Provider, serving
from tests.support.services import page, service

DOCUMENTS = 6
CHUNKS = 5


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        yield provider


@pytest_asyncio.fixture
async def extractors(
    server: BusServer, provider: Provider, tmp_path: Path
) -> AsyncIterator[list[Process]]:
    """Two replicas of the extractor, which may make three calls at once together and remember in
    one place.
    """
    env = {
        "NATS_URL": server.url,
        "LLM_BASE_URL": provider.url,
        "LLM_MODEL": "good",
        "LLM_API_KEY": KEY,
        "MAX_ASYNC": "3",
        "MAX_GLEANING": "0",
        "DOCUMENTS_URL": f"sqlite://{tmp_path}/rows.sqlite",
    }
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(service("extractor", tmp_path / f"{n}", **env))
            for n in "ab"
        ]


async def publish(jetstream: JetStreamContext) -> None:
    log = NatsLog(jetstream)
    for number in range(DOCUMENTS):
        texts = [f"passage {order} of document {number}" for order in range(CHUNKS)]
        await log.publish(sealed(chunked(document(f"d{number}"), *texts), id=f"chunks-{number}"))


async def said(jetstream: JetStreamContext, event: type[Event]) -> int:
    """How many events of this type there are in the log."""
    pages = NatsLog(jetstream).read(0, [subjects.of_type(event.type_name())])
    return sum(
        [
            isinstance(decode(message.data, message.subject).data, event)
            async for page in pages
            for message in page
        ]
    )


async def until_all_is_extracted(jetstream: JetStreamContext) -> None:
    async def done() -> bool:
        return await said(jetstream, EntitiesExtracted) == DOCUMENTS * CHUNKS

    await until(done, "every chunk extracted")
    assert await said(jetstream, StageFailed) == 0


async def test_a_provider_that_is_down_pauses_both_and_they_go_on_by_themselves(
    jetstream: JetStreamContext, provider: Provider, extractors: list[Process]
) -> None:
    provider.down = True
    await publish(jetstream)
    values = await NatsSharedValues.bind(jetstream)

    async def both_say_so() -> bool:
        pages = [await page(process, "ready") for process in extractors]
        return all(
            status == 200 and "is paused since" in body.get("notes", {}).get("language model", "")
            for status, body in pages
        )

    await until(both_say_so, "notes on the health pages")
    (note,) = await pause_notices(values)
    assert note.startswith("good at 127.0.0.1 is paused since")
    assert "HTTP 500" in note
    assert KEY not in note
    request_count = len(provider.requests)
    await until_waiting(6.0)
    assert len(provider.requests) - request_count <= 10, (
        "more than five probes, each with the question that controls it"
    )
    assert await said(jetstream, StageFailed) == 0
    provider.down, back = False, time.time()
    await until_all_is_extracted(jetstream)
    assert time.time() - back < 15.0, "what waited was not woken when the outage was over"
    assert await pause_notices(values) == []
    for process in extractors:
        status, body = await page(process, "ready")
        assert (status, body["problems"]) == (200, {})
        # An event that the other replica has done is taken to come again here for a while yet.
        assert body.get("notes", {}).keys() <= {"extractor: tried again"}
    # One more may have controlled whether the last failing call's text was to blame.
    assert len([at for at in provider.times if at > back]) <= DOCUMENTS * CHUNKS + 1
    assert provider.most_running <= 3

    async def acknowledged() -> bool:
        return not (
            await jetstream.consumer_info("KB_EVENTS", declared_consumer("extractor").name)
        ).num_ack_pending

    await until(acknowledged, "every event acknowledged")


async def test_a_wait_is_kept_by_both_and_nothing_is_asked_twice(
    jetstream: JetStreamContext, provider: Provider, extractors: list[Process]
) -> None:
    provider.busy_until = time.time() + 5.0
    await publish(jetstream)
    await until_all_is_extracted(jetstream)
    refusals = [at for at in provider.times if at < provider.busy_until]
    assert 1 <= len(refusals) <= 6
    assert len(provider.requests) == DOCUMENTS * CHUNKS + len(refusals)
    assert provider.most_running <= 3


async def until_waiting(seconds: float) -> None:
    """Let time pass: what is tested is that nothing happens in it."""
    end = time.monotonic() + seconds

    async def over() -> bool:
        return time.monotonic() >= end

    await until(over, "the end of the wait", seconds=seconds + 5)
