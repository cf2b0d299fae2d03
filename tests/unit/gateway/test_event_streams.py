"""The streams of events: what they send, where they go on, and how many there may be."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

import pytest

from contracts.events import FeedbackGiven
from contracts.partitions import LogPosition
from runtime.bus.feed.memory import MemoryEventFeed
from runtime.costs.prices import Prices
from runtime.errors import Unavailable
from services.gateway.feeds.reading import EventFilter
from services.gateway.feeds.sent_events import (
    block_of_all,
    event_block,
    event_stream,
    stream_of_all,
)
from services.gateway.feeds.streams import EventStreams
from tests.support.access import SEVERAL, WRITER, behind, client, keyed
from tests.support.events import added
from tests.support.logged_events import CANARY, logged, of_several_documents
from tests.support.querying import QueryHarness
from tests.support.waiting import PATIENCE

BLOCK = partial(event_block, prices=Prices(), with_body=False)


def stream(
    harness: QueryHarness, after: int = 0, streams: EventStreams | None = None, **conditions: Any
) -> Any:
    """The lines of a stream of the workspace w."""
    feed = MemoryEventFeed(harness.log)
    filter = EventFilter("w", **conditions)
    return event_stream(
        streams or EventStreams(), feed, filter, after, principal="ada", block=BLOCK
    )


async def blocks(lines: AsyncGenerator[str], count: int) -> list[dict[str, str]]:
    """The fields of the next blocks that have data."""
    result = list[dict[str, str]]()
    async with asyncio.timeout(PATIENCE):
        while len(result) < count:
            fields = dict(line.split(": ", 1) for line in (await anext(lines)).splitlines() if line)
            result += [fields] if "data" in fields else []
    return result


async def test_the_stream_sends_what_is_there_and_then_what_comes(harness: QueryHarness) -> None:
    await logged(harness, added("d", CANARY))
    async with aclosing(stream(harness)) as lines:
        (first,) = await blocks(lines, 1)
        await logged(harness, added("theirs"), workspace="v")
        await logged(harness, added("e"))
        (second,) = await blocks(lines, 1)
    assert (first["id"], first["event"], second["id"]) == ("1", "DocumentAdded", "3")
    assert CANARY not in str(first) and json.loads(second["data"])["document"] == "e"


async def test_a_filtered_stream_moves_its_place_over_what_it_leaves_out(
    harness: QueryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.gateway.feeds.sent_events.HEARTBEAT_SECONDS", 0.0)
    await logged(harness, added("d"), added("d", "2"))
    async with aclosing(stream(harness, types=("ChunksCreated", "StageFailed"))) as lines:
        messages = [await anext(lines) for _ in range(2)]
    assert messages == ["retry: 2000\nid: 0\n: connected\n\n", ": heartbeat\nid: 2\n\n"]


async def test_a_stream_resumes_where_the_client_was(harness: QueryHarness) -> None:
    await of_several_documents(harness)
    streams = EventStreams()
    app = harness.app(streams=streams)
    streams.stopping.set()
    async with client(app) as api:
        for headers, params in (({"Last-Event-ID": "18"}, {"after": "1"}), ({}, {"after": "18"})):
            answer = await api.get("/events/stream", params=params, headers=headers)
            assert answer.text.startswith("retry: 2000\nid: 18\n")
        assert (await api.get("/events/stream")).text.startswith("retry: 2000\nid: 20\n")
        assert (await api.get("/events/stream", headers={"Last-Event-ID": "x"})).status_code == 422


async def test_a_stream_of_all_workspaces_names_them_and_resumes_behind_its_ids(
    harness: QueryHarness,
) -> None:
    await logged(harness, added("d", CANARY))
    await logged(harness, FeedbackGiven(rating="up", question="Who?"))
    await logged(harness, added("theirs"), workspace="v")
    feed = MemoryEventFeed(harness.log)
    block = partial(block_of_all, prices=Prices(), with_body=False)
    lines = stream_of_all(EventStreams(), feed, LogPosition.start(), principal="ada", block=block)
    async with aclosing(lines):
        first, second = await blocks(lines, 2)
    assert (first["id"], second["id"]) == ("1", "3"), "what is about questions is left out"
    named = [json.loads(fields["data"])["workspace"] for fields in (first, second)]
    assert named == ["w", "v"]
    assert CANARY not in str(first)


async def test_a_stream_of_all_workspaces_is_for_who_sees_all_and_begins_where_it_is_told(
    harness: QueryHarness,
) -> None:
    await of_several_documents(harness)
    streams = EventStreams()
    streams.stopping.set()
    async with client(harness.app(streams=streams)) as api:
        path = "/operations/events/stream"
        for params, start in (({}, 20), ({"after": "0"}, 0), ({"after": "18"}, 18)):
            answer = await api.get(path, params=params)
            assert answer.text.startswith(f"retry: 2000\nid: {start}\n")
        answer = await api.get(path, headers={"Last-Event-ID": "7"})
        assert answer.text.startswith("retry: 2000\nid: 7\n")
        for place in ("x", "17592186044420", "5-17592186044420"):
            assert (await api.get(path, params={"after": place})).status_code == 400
    app = harness.app(behind(lightstream_api_keys=SEVERAL), streams=streams)
    async with keyed(app, WRITER) as api:
        assert (await api.get(path)).status_code == 403


async def test_a_stream_ends_when_the_service_stops(harness: QueryHarness) -> None:
    streams = EventStreams()
    async with aclosing(stream(harness, streams=streams)) as lines:
        await anext(lines)
        asyncio.get_running_loop().call_soon(streams.stopping.set)
        async with asyncio.timeout(PATIENCE):
            assert [line async for line in lines] == []
    assert not streams.has_all("ada")


async def test_there_is_a_bound_to_the_streams_of_all_and_of_one(harness: QueryHarness) -> None:
    streams = EventStreams(limit=4)
    app = harness.app(streams=streams)
    with streams.opened("anyone"), streams.opened("anyone"):
        async with client(app) as api:
            refusal = await api.get("/events/stream")
            assert refusal.status_code == 429 and refusal.headers["retry-after"]
        with (
            streams.opened("ada"),
            streams.opened("bob"),
            pytest.raises(Unavailable, match="MAX_EVENT_STREAMS"),
        ):
            await anext(stream(harness, streams=streams))
    with streams.opened("b"), streams.opened("c"), streams.opened("d"), streams.opened("e"):
        async with client(app) as api:
            refusal = await api.get("/events/stream")
            assert refusal.status_code == 503 and refusal.headers["retry-after"]


async def test_a_stream_whose_bus_is_away_ends_and_its_place_is_free(harness: QueryHarness) -> None:
    class Away(MemoryEventFeed):
        async def follow(self, subject: str, after: int, wait: float) -> AsyncGenerator[list[Any]]:
            raise Unavailable("the bus does not answer")
            yield []

    streams = EventStreams()
    lines = event_stream(
        streams, Away(harness.log), EventFilter("w"), 0, principal="ada", block=BLOCK
    )
    assert [line async for line in lines][1:] == [": ends, for Unavailable\n\n"]
    assert streams.free == streams.limit
