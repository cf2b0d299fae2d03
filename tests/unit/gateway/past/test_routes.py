"""The past over HTTP: history of an entity, differences, the graph of then, undoing."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest_asyncio

from contracts.events import DocumentDeleted, GraphEdited
from services.gateway.auth.permissions import required_right
from tests.support.events import added, chunked, document, entity, extracted, relation, sealed
from tests.support.querying import QueryHarness
from tests.unit.gateway.test_api import client


@pytest_asyncio.fixture
async def harness() -> QueryHarness:
    """A log of two documents, and of an edit between them."""
    harness = QueryHarness()
    first = document("one", 1, file_path="one.txt")
    second = document("two", 5, file_path="two.txt")
    says = extracted(
        first,
        0,
        [entity("Ada", "person", "leads"), entity("Elm")],
        [relation("Ada", "Elm", "lives in")],
    )
    events = (
        added("one"),
        chunked(first, "Ada leads, and lives in Elm."),
        says,
        GraphEdited(operation="delete_entity", names=("Elm",)),
        added("two"),
        chunked(second, "The Bay is wide."),
        extracted(second, 0, [entity("Bay")]),
    )
    for number, event in enumerate(events):
        await harness.log.publish(sealed(event, id=f"event-{number}"))
    return harness


@pytest_asyncio.fixture
async def api(harness: QueryHarness) -> AsyncIterator[httpx.AsyncClient]:
    async with client(harness.app()) as api:
        yield api


async def test_the_history_of_an_entity_comes_in_pages(api: httpx.AsyncClient) -> None:
    answer = (await api.get("/graph/entity/history", params={"name": "Elm"})).json()
    assert (answer["exists"], answer["total"], answer["sequence"]) == (False, 2, 7)
    assert [(event["sequence"], event["type"], event["effect"]) for event in answer["events"]] == [
        (3, "EntitiesExtracted", "hidden"),
        (4, "GraphEdited", "counts"),
    ]
    assert answer["events"][0]["chunk_id"] == "one-chunk-000"
    assert answer["events"][0]["relations"] == [
        {"source": "Ada", "target": "Elm", "description": "lives in"}
    ]
    then = (await api.get("/graph/entity/history", params={"name": "Elm", "at": "3"})).json()
    assert (then["exists"], then["total"]) == (True, 1)
    page = (
        await api.get("/graph/entity/history", params={"name": "Elm", "after": 3, "limit": 1})
    ).json()
    assert [event["sequence"] for event in page["events"]] == [4]
    assert (await api.get("/graph/entity/history", params={"name": "Nobody"})).status_code == 404


async def test_the_graph_of_then_is_shown(api: httpx.AsyncClient) -> None:
    async def names(**then: str) -> set[str]:
        answer = (await api.get("/graphs", params={"label": "*", **then})).json()
        return {node["id"] for node in answer["nodes"]}

    assert await names(as_of="3") == {"Ada", "Elm"}
    assert await names(as_of="4") == {"Ada"}
    assert await names(as_of="now") == {"Ada", "Bay"}
    assert await names(as_of="2020-01-01") == set()
    around = (await api.get("/graphs", params={"label": "Ada", "as_of": "3"})).json()
    assert around["edges"][0]["properties"]["description"] == "lives in"
    assert (await api.get("/graphs", params={"label": "*", "as_of": "soon"})).status_code == 400


async def test_the_difference_of_two_places_is_listed(api: httpx.AsyncClient) -> None:
    answer = (await api.get("/operations/diff", params={"from": "3", "to": "now"})).json()
    assert [(difference["id"], difference["change"]) for difference in answer["documents"]] == [
        ("two", "appeared")
    ]
    assert [(difference["name"], difference["change"]) for difference in answer["entities"]] == [
        ("Bay", "appeared"),
        ("Elm", "gone"),
    ]
    assert [
        (difference["source"], difference["target"], difference["change"])
        for difference in answer["relations"]
    ] == [("Ada", "Elm", "gone")]
    assert answer["entities"][0]["fields"]["type"] == {"before": None, "after": "thing"}
    assert answer["counts"]["entities"] == {"appeared": 1, "changed": 0, "gone": 1}
    of_two = (await api.get("/operations/diff", params={"from": "0", "document": "two.txt"})).json()
    assert [difference["name"] for difference in of_two["entities"]] == ["Bay"]


async def test_a_question_is_answered_from_what_was_there_then(
    harness: QueryHarness, api: httpx.AsyncClient
) -> None:
    async def found(**then: Any) -> tuple[set[str], set[str], int]:
        body = {"query": "What is said of Ada and Bay?", "mode": "mix", **then}
        answer = await api.post("/query/data", json=body)
        data = answer.json()["data"]
        names = {entity["entity_name"] for entity in data.get("entities", ())}
        position = int(answer.headers["X-Log-Position"])
        return {chunk["file_path"] for chunk in data.get("chunks", ())}, names, position

    files, names, position = await found(as_of="3")
    assert (files, names) == ({"one.txt"}, {"Ada", "Elm"}) and position > 0
    earlier_texts = set(harness.embedder.texts)
    harness.embedder.texts.clear()
    assert (await found(as_of="3"))[:2] == (files, names)
    assert not {text for text in harness.embedder.texts if "lives in" in text} & earlier_texts
    assert (await found(as_of="now"))[1] == {"Ada", "Bay"}
    assert (await found(as_of="0"))[:2] == (set(), set())
    answer = (await api.post("/query", json={"query": "Who leads?", "as_of": "3"})).json()
    assert answer["references"] is not None
    assert (
        await api.post("/query", json={"query": "Who leads?", "as_of": "soon"})
    ).status_code == 400
    of_one = (await found(as_of="now", filter={"document_ids": ["two"]}))[1]
    assert of_one == {"Bay"}


async def test_a_sequence_that_no_log_can_have_is_refused(api: httpx.AsyncClient) -> None:
    answer = await api.post("/operations/undo", json={"sequence": 2**63})
    assert answer.status_code == 422 and "less than or equal to" in answer.text


async def test_an_edit_is_undone_and_a_dry_run_changes_nothing(
    harness: QueryHarness, api: httpx.AsyncClient
) -> None:
    body = {"sequence": 4, "reason": "Elm is a port"}
    dry = (await api.post("/operations/undo", json={**body, "dry_run": True})).json()
    assert (dry["published"], dry["position"], len(harness.log.messages)) == (False, 0, 7)
    undoing = (await api.post("/operations/undo", json=body)).json()
    assert undoing["published"] and undoing["event"] == {
        "operation": "undo_edit",
        "names": ["Elm"],
        "editor": "anyone",
        "evidence": "Elm is a port",
        "undoes": 4,
    }
    answer = (await api.get("/graphs", params={"label": "*", "as_of": "now"})).json()
    assert {node["id"] for node in answer["nodes"]} == {"Ada", "Elm", "Bay"}
    assert (await api.post("/operations/undo", json=body)).status_code == 409
    assert (await api.post("/operations/undo", json={"sequence": 99})).status_code == 404


async def test_everything_behind_a_place_is_undone_by_one_request(
    harness: QueryHarness, api: httpx.AsyncClient
) -> None:
    count = len(harness.log.messages)
    body = {"since": "3", "reason": "a bad afternoon"}
    plan = (await api.post("/operations/undo_since", json={**body, "dry_run": True})).json()
    assert (plan["since"], plan["published"], len(harness.log.messages)) == (3, False, count)
    answer = (await api.post("/operations/undo_since", json=body)).json()
    assert [undone["sequence"] for undone in answer["undone"]] == [
        undone["sequence"] for undone in plan["undone"]
    ]
    assert 4 in [undone["sequence"] for undone in answer["undone"]]
    assert answer["published"] and answer["left"] == plan["left"]
    again = (await api.post("/operations/undo_since", json=body)).json()
    assert again["undone"] == []
    soon = await api.post("/operations/undo_since", json={"since": "soon"})
    assert soon.status_code == 400


async def test_several_events_are_undone_by_one_request(
    harness: QueryHarness, api: httpx.AsyncClient
) -> None:
    await harness.log.publish(sealed(DocumentDeleted(document_id="two"), id="event-7"))
    body = {"sequences": [4, 1], "documents": ["two"], "reason": "a bad afternoon"}
    plan = (await api.post("/operations/undo_events", json={**body, "dry_run": True})).json()
    assert (plan["published"], len(harness.log.messages)) == (False, 8)
    answer = (await api.post("/operations/undo_events", json=body)).json()
    assert [undone["sequence"] for undone in answer["undone"]] == [8, 4]
    assert [left["sequence"] for left in answer["left"]] == [1]
    assert len(harness.log.messages) == 10
    for nothing in ({}, {"sequences": [0]}, {"documents": [""]}):
        assert (await api.post("/operations/undo_events", json=nothing)).status_code in (400, 422)


def test_undoing_needs_the_right_to_write_and_looking_does_not() -> None:
    assert required_right("POST", "/operations/undo") == "write"
    assert required_right("POST", "/operations/undo_since") == "write"
    assert required_right("POST", "/operations/undo_events") == "write"
    assert {
        required_right("GET", path) for path in ("/operations/diff", "/graph/entity/history")
    } == {"read"}
