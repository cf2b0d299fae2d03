"""The routes about events: pages, single events, and what each chunk of a document gave."""

from functools import partial
from typing import Any, get_args

import pytest

from contracts import subjects
from contracts.access import Access
from contracts.events import EVENTS, AccessChanged, Event
from contracts.values import TokenUsage
from runtime.bus.feed.memory import MemoryEventFeed
from runtime.costs.prices import Prices
from services.gateway.feeds.models import EventType
from services.gateway.feeds.reading import EventFilter, PageLimits, visible_page
from services.gateway.feeds.sent_events import event_block
from services.gateway.feeds.visible_events import VisibleEvents, visible_types
from services.gateway.settings import GatewaySettings
from services.query.visibility.viewer import Viewer
from tests.support.access import READER, SEVERAL, behind, client, keyed
from tests.support.events import added, chunked, delivered, document, extracted
from tests.support.logged_events import CANARY, logged, of_several_documents
from tests.support.querying import QueryHarness

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

BLOCK = partial(event_block, prices=Prices(), with_body=False)


def sequences(page: dict[str, Any]) -> list[int]:
    return [event["sequence"] for event in page["events"]]


def test_the_types_that_can_be_asked_for_are_those_that_there_are() -> None:
    assert set(get_args(EventType)) == set(EVENTS) - set(subjects.APART)


async def test_events_are_paged_forwards_and_backwards(harness: QueryHarness) -> None:
    await of_several_documents(harness)
    async with client(harness.app()) as api:

        async def page(**params: Any) -> dict[str, Any]:
            return (await api.get("/events", params=params)).json()

        newest_page = await page(limit=3)
        assert sequences(newest_page) == [18, 19, 20] and newest_page["remaining"] == 17
        older_page = await page(limit=3, before=newest_page["before"])
        assert sequences(older_page) == [15, 16, 17] and older_page["remaining"] == 14
        first = await page(limit=3, after=0, document="b")
        assert sequences(first) == [2, 4, 6] and first["remaining"] == 7
        assert sequences(await page(limit=3, after=first["after"], document="b")) == [8, 10, 12]
        assert sequences(await page(limit=2, before=7, document="a")) == [3, 5]
        assert sequences(await page(before=2**53 - 1)) == sequences(await page())
        assert sequences(await page(before=1)) == []
        assert sequences(await page(before=0)) == []
        assert sequences(await page(before=0, document="a")) == []
        assert (await page(after=20)) == {
            "events": [],
            "after": None,
            "before": None,
            "remaining": 0,
        }


async def test_an_event_tells_what_it_cost_where_its_model_has_a_price(
    harness: QueryHarness,
) -> None:
    usage = TokenUsage(prompt=2_000_000, completion=500_000, cached=1_000_000)
    extractions = [extracted(document("a"), order) for order in range(3)]
    changes = [{"model": "priced"}, {"model": "other"}, {"model": "priced", "cached": True}]
    paid_events = [
        event.model_copy(update={"usage": usage, **change})
        for event, change in zip(extractions, changes, strict=True)
    ]
    first, *_ = await logged(harness, *paid_events)
    prices = '{"priced": {"prompt": 2, "cached": 1, "completion": 4, "currency": "EUR"}}'
    settings = GatewaySettings(workspace="w", model_prices=prices)
    async with client(harness.app(settings=settings)) as api:
        events = (await api.get("/documents/a/events")).json()["events"]
        summary = (await api.get(f"/events/{first}")).json()["summary"]
    assert [(event["money"], event["currency"]) for event in events] == [
        (5.0, "EUR"),
        (None, None),
        (None, None),
    ]
    assert summary["money"] == 5.0


@pytest.mark.parametrize("total", [1, 7, 150])
@pytest.mark.parametrize("limit", [1, 5, 100])
async def test_reading_backwards_finds_every_event_once(
    harness: QueryHarness, total: int, limit: int
) -> None:
    for n in range(total):
        await logged(harness, added("other", str(n)), workspace="v")
        if n % 7 == 0 or n > total // 2:
            await logged(harness, added("mine", str(n)))
    mine = [message.sequence for message in harness.log.messages if ".w." in message.subject]
    result = list[int]()
    before = None
    async with client(harness.app()) as api:
        while True:
            params = {"limit": limit, **({"before": before} if before else {})}
            page = (await api.get("/events", params=params)).json()
            if not page["events"]:
                break
            result = sequences(page) + result
            assert page["remaining"] == len(mine) - len(result)
            before = page["before"]
    assert result == mine


async def test_pages_of_who_does_not_see_all_go_on_behind_what_is_read_at_once(
    harness: QueryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.gateway.feeds.reading.MAX_VISIBLE", 5)
    events: list[Event] = [added("a", str(n)) for n in range(23)]
    events[4] = AccessChanged(document_id="a", access=Access(deny=("user:bo",)))
    events[14] = AccessChanged(document_id="a", access=Access())
    for sequence, event in zip(await logged(harness, *events), events, strict=True):
        await harness.project(delivered(event, sequence, workspace="w", id=f"e{sequence - 1}"))
    visible = VisibleEvents(harness.visibility, "w", Viewer(("user:bo",)))
    of_a = EventFilter("w", "a", visible_types(()), visible=visible)

    async def pages(*, is_backwards: bool) -> list[list[int]]:
        place: int | None = None if not is_backwards else 99
        read: list[list[int]] = []
        remaining = 1
        while remaining:
            limits = PageLimits(*((None, place) if is_backwards else (place, None)), 3)
            page = await visible_page(MemoryEventFeed(harness.log), of_a, visible, limits)
            read.append([event.sequence for event in page.events])
            remaining, place = page.remaining, read[-1][0 if is_backwards else -1]
        return read

    assert await pages(is_backwards=False) == [[1, 2, 3], [16, 17, 18], [19, 20, 21], [22, 23]]
    assert await pages(is_backwards=True) == [[21, 22, 23], [18, 19, 20], [3, 16, 17], [1, 2]]


async def test_several_types_are_read_in_the_order_of_the_log(harness: QueryHarness) -> None:
    of = document("d")
    await logged(
        harness,
        added("d"),
        chunked(of, "one"),
        extracted(of, 0),
        added("d", "again"),
        extracted(of, 1),
    )
    async with client(harness.app()) as api:
        params = {"type": ["EntitiesExtracted", "DocumentAdded"], "after": 0, "limit": 3}
        page = (await api.get("/events", params=params)).json()
    assert sequences(page) == [1, 3, 4] and page["remaining"] == 1


async def test_a_summary_tells_what_happened_and_no_text(harness: QueryHarness) -> None:
    extraction = extracted(document("d"), 3).model_copy(
        update={"model": "m-1", "usage": TokenUsage(prompt=10, completion=2), "duration_ms": 812}
    )
    await logged(
        harness, added("d", CANARY), extraction, traceparent=TRACE, causation="c", correlation="k"
    )
    async with client(harness.app()) as api:
        answer = await api.get("/documents/d/events")
        details = (await api.get("/events/1")).json()
    text, event = answer.json()["events"]
    assert CANARY not in answer.text
    assert (text["type"], text["text"]) == ("DocumentAdded", "d.txt, 17 bytes")
    assert (event["model"], event["duration_ms"], event["chunks"], event["cached"]) == (
        "m-1",
        812,
        [3],
        False,
    )
    assert (event["tokens"]["prompt"], event["tokens"]["completion"]) == (10, 2)
    assert (event["trace_id"], event["cause"], event["correlation"]) == (
        TRACE.split("-")[1],
        "c",
        "k",
    )
    assert details["event"]["data"]["text"] == CANARY and details["summary"] == text


async def test_a_message_that_is_no_event_is_shown_too(harness: QueryHarness) -> None:
    harness.log.append("kb.v1.w.d.DocumentAdded", b"{", "x")
    async with client(harness.app()) as api:
        (event,) = (await api.get("/documents/d/events")).json()["events"]
        details = (await api.get("/events/1")).json()
    assert (
        event["text"].startswith("not readable") and event["id"] == "" and event["document"] == "d"
    )
    assert details["event"] == {}


async def test_nobody_sees_events_of_another_workspace(harness: QueryHarness) -> None:
    await logged(harness, added("theirs", CANARY), workspace="v")
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), READER) as api:
        assert sequences((await api.get("/events", params={"after": 0})).json()) == []
        for path in (
            "/events/1",
            "/events?document=theirs",
            "/documents/theirs/events",
            "/documents/theirs/chunks",
        ):
            assert (await api.get(path)).status_code == 404
        for path in ("/events", "/events/1", "/documents/theirs/events", "/events/stream"):
            assert (await api.get(path, headers={"X-Workspace": "v"})).status_code == 403


async def test_a_document_whose_id_is_a_path_has_a_history(harness: QueryHarness) -> None:
    await logged(harness, added("notes/a b.md"))
    async with client(harness.app()) as api:
        for path in ("/documents/notes%2Fa%20b.md/events", "/documents/notes/a b.md/events"):
            assert sequences((await api.get(path)).json()) == [1]
        assert (await api.get("/documents/nothing/events")).status_code == 404
        assert (await api.get("/events", params={"after": 1, "before": 2})).status_code == 400


async def test_each_chunk_tells_what_it_gave(harness: QueryHarness) -> None:
    async with client(harness.app()) as api:
        answer = (await api.get("/documents/curie/chunks", params={"limit": 1})).json()
        next_page = (
            await api.get("/documents/curie/chunks", params={"after": answer["after"]})
        ).json()
        assert (await api.get("/documents/nobody/chunks")).status_code == 404
    (first,), (second,) = answer["chunks"], next_page["chunks"]
    assert (answer["chunk_count"], answer["after"], next_page["after"]) == (2, 0, None)
    assert (first["order"], first["content"][:12], second["order"]) == (0, "Marie Curie ", 1)
    assert [entity["name"] for entity in first["entities"]] == ["Marie Curie", "Radium"]
    (relation,) = first["relations"]
    assert (relation["source"], relation["target"], relation["keywords"]) == (
        "Marie Curie",
        "Radium",
        ["discovery"],
    )
    # Watch is named as the end of a relation only.
    assert [entity["name"] for entity in second["entities"]] == ["Radium"]
