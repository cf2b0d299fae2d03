"""Texts added over HTTP, and the documents of a workspace in pages and counts."""

import re
from typing import Any

import httpx
import pytest
import pytest_asyncio

from contracts.events import DocumentAdded
from runtime.bus.codec import decode
from tests.support.querying import QueryHarness, library_of_two, projected


@pytest_asyncio.fixture
async def harness() -> QueryHarness:
    return await library_of_two()


async def test_a_text_is_in_the_log_when_the_answer_comes(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    answer = await api.post(
        "/documents/text", json={"text": "A new text.", "file_source": "shelf/new.txt"}
    )
    assert answer.status_code == 200
    body = answer.json()
    assert (body["status"], bool(body["message"])) == ("success", True)
    assert re.fullmatch(r"insert_\d{8}_\d{6}_[0-9a-f]{8}", body["track_id"])
    (message,) = harness.log.messages
    event = decode(message.data, message.subject).data
    assert isinstance(event, DocumentAdded)
    assert (event.text, event.file_path, event.track_id) == (
        "A new text.",
        "new.txt",
        body["track_id"],
    )


async def test_texts_go_to_the_workspace_that_a_header_names(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    for header, name in (("LIGHTRAG-WORKSPACE", "one"), ("X-Workspace", "two")):
        await api.post(
            "/documents/text", json={"text": "text", "file_source": "a.txt"}, headers={header: name}
        )
    assert [message.subject.split(".")[2] for message in harness.log.messages] == ["one", "two"]


async def test_several_texts_share_one_track(api: httpx.AsyncClient, harness: QueryHarness) -> None:
    body = {"texts": ["one", "two"], "file_sources": ["1.txt", "2.txt"]}
    track = (await api.post("/documents/texts", json=body)).json()["track_id"]
    await projected(harness)
    answer = (await api.get(f"/documents/track_status/{track}")).json()
    assert (answer["track_id"], answer["total_count"], answer["status_summary"]) == (
        track,
        2,
        {"pending": 2},
    )
    assert {document["file_path"] for document in answer["documents"]} == {"1.txt", "2.txt"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("text", {"text": ""}),
        ("text", {"text": " \n"}),
        ("text", {"text": "\u0000"}),
        ("texts", {"texts": []}),
        ("texts", {"texts": ["one", " "]}),
        ("texts", {"texts": ["one", "two"], "file_sources": ["1.txt"]}),
        ("texts", {"texts": ["one", "two"], "file_sources": ["1.txt", "1.txt"]}),
    ],
    ids=str,
)
async def test_texts_that_cannot_be_added_are_refused_and_nothing_is_added(
    api: httpx.AsyncClient, harness: QueryHarness, path: str, body: Any
) -> None:
    assert (await api.post(f"/documents/{path}", json=body)).status_code == 422
    assert harness.log.messages == []


async def test_a_text_with_half_a_surrogate_pair_is_taken_or_refused(
    api: httpx.AsyncClient,
) -> None:
    raw = b'{"text": "some \\ud800 text", "file_source": "a\\udfff.txt"}'
    answer = await api.post(
        "/documents/text", content=raw, headers={"content-type": "application/json"}
    )
    assert answer.status_code in {200, 422}


async def test_an_unknown_track_has_no_documents(api: httpx.AsyncClient) -> None:
    answer = await api.get("/documents/track_status/nobody%ED%A0%80s")
    assert answer.status_code == 200
    assert (answer.json()["documents"], answer.json()["total_count"]) == ([], 0)


async def test_a_page_of_documents_has_their_states_and_where_it_stands(
    api: httpx.AsyncClient,
) -> None:
    answer = await api.post(
        "/documents/paginated", json={"page_size": 10, "sort_field": "id", "sort_direction": "asc"}
    )
    body = answer.json()
    assert body["pagination"] == {
        "page": 1,
        "page_size": 10,
        "total_count": 2,
        "total_pages": 1,
        "has_next": False,
        "has_prev": False,
    }
    assert [document["id"] for document in body["documents"]] == ["baker", "curie"]
    document = body["documents"][1]
    assert set(document) == {
        "id",
        "content_summary",
        "content_length",
        "status",
        "created_at",
        "updated_at",
        "track_id",
        "chunks_count",
        "error_msg",
        "metadata",
        "file_path",
        "warnings",
        "original_size",
    }
    assert (document["status"], document["chunks_count"], document["error_msg"]) == (
        "processed",
        2,
        None,
    )
    assert document["content_summary"].startswith("Marie Curie")
    assert document["created_at"].endswith("+00:00")
    assert body["status_counts"]["processed"] == 2


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ({"status_filter": "processed"}, 2),
        ({"status_filter": "PROCESSED"}, 2),
        ({"status_filters": ["failed", "pending"]}, 0),
        ({"page": 2}, 0),
    ],
)
async def test_pages_can_be_narrowed(api: httpx.AsyncClient, body: Any, count: int) -> None:
    assert len((await api.post("/documents/paginated", json=body)).json()["documents"]) == count


@pytest.mark.parametrize(
    "body", [{"page": 0}, {"page_size": 9}, {"page_size": 201}, {"sort_field": "size"}], ids=str
)
async def test_a_page_that_cannot_be_is_refused(api: httpx.AsyncClient, body: Any) -> None:
    assert (await api.post("/documents/paginated", json=body)).status_code == 422


async def test_counts_name_every_status_and_all(api: httpx.AsyncClient) -> None:
    counts = (await api.get("/documents/status_counts")).json()["status_counts"]
    assert {
        "pending",
        "parsing",
        "analyzing",
        "processing",
        "preprocessed",
        "processed",
        "failed",
        "all",
    } <= set(counts)
    assert (counts["processed"], counts["failed"], counts["all"]) == (2, 0, 2)
