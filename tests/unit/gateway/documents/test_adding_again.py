"""The routes about documents over stores in memory: added once, tried again, and never refused as
busy.
"""

import json
from typing import Any

import httpx
import pytest

from contracts.chunking import Chunking
from contracts.envelope import Envelope
from contracts.events import DocumentAdded, Event
from runtime.errors import Unavailable
from tests.support.events import added, delivered, document, failed
from tests.support.querying import QueryHarness, events, library_of_two, projected, texts
from tests.unit.gateway.test_api import client

TEXT = {"text": "Port Elm has a lighthouse.", "file_source": "port.md"}


async def add(api: httpx.AsyncClient, path: str, body: Any, key: str) -> httpx.Response:
    return await api.post(f"/documents/{path}", json=body, headers={"Idempotency-Key": key})


async def test_a_request_that_is_sent_twice_with_one_key_is_one_request(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    first, second = [await add(api, "text", TEXT, "k1") for _ in range(2)]
    assert (first.status_code, first.json()) == (200, second.json())
    assert texts(harness) == [TEXT["text"]]
    third = await add(api, "text", TEXT, "k2")
    assert (third.json()["status"], third.json()["track_id"]) == (
        "duplicated",
        first.json()["track_id"],
    )


async def test_a_key_sent_again_after_a_newer_text_does_not_bring_the_old_one_back(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    first = await add(api, "text", TEXT, "k1")
    await api.post("/documents/text", json={**TEXT, "text": "Newer."})
    again = await add(api, "text", TEXT, "k1")
    assert again.json() == first.json()
    assert texts(harness) == [TEXT["text"], "Newer."]


async def test_a_request_is_known_by_its_key_when_the_log_has_forgotten_its_ids(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    first = await add(api, "text", TEXT, "k1")
    identical = await add(api, "text", TEXT, "k2")
    await api.post("/documents/text", json={**TEXT, "text": "Newer."})
    harness.log.ids.clear()
    assert (await add(api, "text", TEXT, "k1")).json() == first.json()
    again = (await add(api, "text", TEXT, "k2")).json()
    assert (again["status"], again["documents"][0]["sequence"]) == (
        "duplicated",
        identical.json()["documents"][0]["sequence"],
    )
    assert (await add(api, "text", {**TEXT, "text": "Another."}, "k1")).status_code == 422
    assert texts(harness) == [TEXT["text"], "Newer."]


async def test_a_repetition_goes_on_where_the_first_attempt_ended_and_adds_nothing_twice(
    api: httpx.AsyncClient, harness: QueryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"texts": ["one", "two"], "file_sources": ["1.md", "2.md"]}
    publish = harness.log.publish

    async def until_full(envelope: Envelope[Event]) -> int:
        if harness.log.messages:
            raise Unavailable("KB_EVENTS is full", retry_after=30.0)
        return await publish(envelope)

    monkeypatch.setattr(harness.log, "publish", until_full)
    assert (await add(api, "texts", body, "k1")).status_code == 503
    monkeypatch.undo()
    await api.post("/documents/text", json={"text": "newer", "file_source": "1.md"})
    harness.log.ids.clear()
    answer = (await add(api, "texts", body, "k1")).json()
    assert texts(harness) == ["one", "newer", "two"]
    assert [document["is_new"] for document in answer["documents"]] == [True, True]
    assert (await add(api, "texts", body, "k1")).json() == answer


async def test_a_key_whose_claim_was_not_answered_is_that_of_its_request(
    api: httpx.AsyncClient, harness: QueryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = harness.requests.write

    async def without_answer(key: str, value: bytes, revision: int) -> bool:
        await write(key, value, revision)
        raise Unavailable("the bus did not answer")

    monkeypatch.setattr(harness.requests, "write", without_answer)
    assert (await add(api, "text", TEXT, "k1")).status_code == 503
    monkeypatch.undo()
    answers = [await add(api, "text", TEXT, "k1") for _ in range(2)]
    assert [answer.json()["status"] for answer in answers] == ["success"] * 2
    assert texts(harness) == [TEXT["text"]]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("text", {**TEXT, "text": "Another."}),
        ("text", {**TEXT, "file_source": "other.md"}),
        ("text", {**TEXT, "chunking": {"strategy": "recursive_character"}}),
        ("texts", {"texts": [TEXT["text"], "more"], "file_sources": ["port.md", "more.md"]}),
    ],
    ids=["text", "name", "chunking", "more of it"],
)
async def test_a_key_with_another_body_is_refused_and_nothing_is_added(
    api: httpx.AsyncClient, harness: QueryHarness, path: str, body: Any
) -> None:
    await add(api, "text", TEXT, "k1")
    answer = await add(api, path, body, "k1")
    assert (answer.status_code, "Idempotency-Key" in answer.json()["detail"]) == (422, True)
    assert texts(harness) == [TEXT["text"]]


async def test_several_texts_of_one_key_are_each_added_once_and_less_of_them_is_another_request(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    body = {"texts": ["one", "two"], "file_sources": ["1.md", "2.md"]}
    first, second = [await add(api, "texts", body, "k1") for _ in range(2)]
    assert (first.json(), texts(harness)) == (second.json(), ["one", "two"])
    third = await add(api, "texts", {"texts": ["two"], "file_sources": ["2.md"]}, "k1")
    assert third.status_code == 422


async def test_one_key_in_two_workspaces_is_two_keys(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    await add(api, "text", TEXT, "k1")
    body = {**TEXT, "text": "Another."}
    headers = {"Idempotency-Key": "k1", "X-Workspace": "other"}
    assert (await api.post("/documents/text", json=body, headers=headers)).status_code == 200
    assert len(texts(harness)) == 2


@pytest.mark.parametrize(
    ("option", "chunking"),
    [
        ({"strategy": "fixed_token"}, Chunking(strategy="token")),
        (
            {
                "strategy": "fixed_token",
                "params": {"chunk_token_size": 50, "split_by_character": "#"},
            },
            Chunking(strategy="token", size=50, split_by_character="#"),
        ),
        (
            {"strategy": "recursive_character", "params": {"size": 50, "overlap": 5}},
            Chunking(strategy="recursive", size=50, overlap=5),
        ),
    ],
)
async def test_how_a_text_is_cut_stands_in_its_event(
    api: httpx.AsyncClient, harness: QueryHarness, option: Any, chunking: Chunking
) -> None:
    assert (await api.post("/documents/text", json={**TEXT, "chunking": option})).status_code == 200
    (event,) = events(harness)
    assert isinstance(event, DocumentAdded) and event.chunking == chunking


@pytest.mark.parametrize(
    "option",
    [
        {"strategy": "by_moonlight"},
        {"strategy": "custom", "params": {}},
        {"strategy": "fixed_token", "novelty": 1},
        {"strategy": "fixed_token", "params": {"novelty": 1}},
        {"strategy": "fixed_token", "params": {"size": 5, "overlap": 5}},
        {"strategy": "fixed_token", "params": {"size": 1000, "overlap": 999}},
        {"strategy": "fixed_token", "params": {"split_by_character_only": True}},
        {"strategy": "recursive_character", "params": {"split_by_character": "#"}},
    ],
    ids=str,
)
async def test_a_cutting_that_cannot_be_is_refused(
    api: httpx.AsyncClient, harness: QueryHarness, option: Any
) -> None:
    answer = await api.post("/documents/text", json={**TEXT, "chunking": option})
    assert (answer.status_code, harness.log.messages) == (422, [])


async def test_failed_documents_are_added_again_once_for_each_failure(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    await api.post("/documents/text", json={**TEXT, "file_source": "a.txt"})
    id = "doc-a5e54d1fd7bb69a228ef0dcd2431367e"
    await projected(harness)
    await harness.project(delivered(failed("chunker", "DocumentAdded", document(id, 1)), 2))
    await harness.project(delivered(added("sound", "text"), 3))
    for _ in range(2):
        answer = await api.post("/documents/reprocess_failed")
        assert (answer.json()["status"], answer.json()["track_id"]) == ("reprocessing_started", "")
    assert texts(harness) == [TEXT["text"]] * 2


async def test_the_pipeline_is_busy_while_a_document_is_not_settled_and_nothing_is_refused_for_it(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    idle = (await api.get("/documents/pipeline_status")).json()
    assert (idle["busy"], idle["docs"], idle["recovery_required"]) == (False, 0, False)
    assert (await api.post("/documents/cancel_pipeline")).json()["status"] == "not_busy"
    await harness.project(delivered(added(), 1))
    busy = (await api.get("/documents/pipeline_status")).json()
    assert (busy["busy"], busy["docs"], busy["latest_message"]) == (True, 1, "1 pending")
    assert busy["scanning"] is False
    assert (await api.request("DELETE", "/documents?confirm=w")).status_code == 200
    assert (await api.post("/documents/text", json=TEXT)).status_code == 200


@pytest.mark.parametrize(
    "name",
    ["a\x1b[31m.md", "a.md\n[2] forged.md", "a\u202egm.md", "a\u2028b.md", "x" * 1100, "\x9b2J"],
)
async def test_a_name_that_is_none_is_refused_for_texts_as_for_files(
    api: httpx.AsyncClient, harness: QueryHarness, name: str
) -> None:
    first = await api.post("/documents/text", json={"text": "x", "file_source": name})
    second = await api.post(
        "/documents/texts", json={"texts": ["x", "y"], "file_sources": ["good.md", name]}
    )
    for answer in (first, second):
        assert answer.status_code == 422
        assert answer.json()["detail"].isprintable()
    assert harness.log.messages == []


async def test_a_name_that_was_published_past_us_is_shown_without_what_acts(
    harness: QueryHarness,
) -> None:
    hostile = "a.md\n[2] forged.md\x1b[31m"
    await harness.project(delivered(added(file_path=hostile), 1))
    async with client(harness.app()) as api:
        (document,) = (await api.post("/documents/paginated", json={})).json()["documents"]
    assert document["file_path"] == "a.md\ufffd[2] forged.md\ufffd[31m"


@pytest.mark.parametrize("search", ["fähre", "FA\u0308HRE"], ids=["composed", "decomposed"])
async def test_a_name_of_before_names_had_one_spelling_is_found_in_either(
    harness: QueryHarness, search: str
) -> None:
    names = ("Die Fa\u0308hre.md", "Die Fähre.md")
    for number, name in enumerate(names, 1):
        await harness.project(delivered(added(f"d{number}", file_path=name), number))
    async with client(harness.app()) as api:
        answer = (await api.post("/documents/paginated", json={"search": search})).json()
    assert {document["id"] for document in answer["documents"]} == {"d1", "d2"}


async def test_a_full_log_is_503_with_the_time_to_wait(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    async def full(*_: Any) -> int:
        raise Unavailable("KB_EVENTS is full", retry_after=30.0)

    harness.log.publish = full  # type: ignore[method-assign]
    answer = await api.post("/documents/text", json=TEXT)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")


@pytest.mark.parametrize(
    ("method", "path", "raw"),
    [
        ("DELETE", "delete_document", b'{"doc_ids": ["\\ud800"]}'),
        (
            "POST",
            "text",
            b'{"text": "some", "file_source": "\\udfff.md", "chunking": {"strategy": "\\ud800"}}',
        ),
        (
            "POST",
            "text",
            b'{"text": "some", "chunking": {"strategy": "fixed_token", "\\ud800": 1}}',
        ),
        ("POST", "texts", b'{"texts": ["\\ud800"], "file_sources": ["\\ud800"]}'),
    ],
)
async def test_half_a_surrogate_pair_is_no_internal_error(
    api: httpx.AsyncClient, method: str, path: str, raw: bytes
) -> None:
    headers = {"content-type": "application/json"}
    answer = await api.request(method, f"/documents/{path}", content=raw, headers=headers)
    assert answer.status_code in {200, 422}
    json.loads(answer.content.decode())


async def test_the_page_of_the_api_has_an_example_of_every_request() -> None:
    harness = await library_of_two()
    async with client(harness.app()) as api:
        schemas = (await api.get("/openapi.json")).json()["components"]["schemas"]
        requests = [
            name for name in schemas if name.endswith("Request") or name.startswith("Insert")
        ]
        assert (await api.get("/")).headers["location"] == "/docs"
    assert len(requests) > 4
    bare = [
        name
        for name in requests
        if "Response" not in name and '"examples"' not in json.dumps(schemas[name])
    ]
    assert bare == []


async def test_an_answer_says_where_each_document_stands_and_its_state_is_found_by_its_id(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    answer = (await api.post("/documents/text", json=TEXT)).json()
    (document,) = answer["documents"]
    fields = {
        "sequence": document["sequence"],
        "track_id": answer["track_id"],
        "is_new": True,
        "status": None,
    }
    assert document == {"id": "doc-f8e5fc3935ce926dc54e926fdc8cf0ec", **fields}
    absent = await api.get("/documents/by_id", params={"doc_id": answer["documents"][0]["id"]})
    assert (absent.status_code, absent.json()) == (
        404,
        {"detail": f"there is no document '{document['id']}'; GET /documents lists them"},
    )
    await projected(harness)
    state = (
        await api.get("/documents/by_id", params={"doc_id": answer["documents"][0]["id"]})
    ).json()
    assert (state["file_path"], state["status"]) == ("port.md", "pending")
    assert state["metadata"]["added_sequence"] == document["sequence"]
    again = (await api.post("/documents/text", json=TEXT)).json()
    assert again["documents"] == [{**document, "is_new": False, "status": "pending"}]
    elsewhere = await api.get(
        "/documents/by_id", params={"doc_id": state["id"]}, headers={"X-Workspace": "v"}
    )
    assert (elsewhere.status_code, elsewhere.json()) == (404, absent.json())
