"""Documents deleted over HTTP, one by one and all of a workspace."""

from typing import Any

import httpx
import pytest

from contracts.events import DocumentDeleted
from contracts.graph import Partition
from runtime.stores.documents.port import Table
from tests.support.querying import QueryHarness, events, projected
from tests.unit.gateway.test_api import client

TEXT = {"text": "Port Elm has a lighthouse.", "file_source": "port.md"}


async def test_deleting_publishes_what_is_known_and_says_deletion_started_of_anything(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    await api.post("/documents/text", json={**TEXT, "file_source": "a.txt"})
    known_id = "doc-a5e54d1fd7bb69a228ef0dcd2431367e"
    unknown_id = "doc-nobody"
    answer = await api.request(
        "DELETE", "/documents/delete_document", json={"doc_ids": [known_id, unknown_id]}
    )
    body = answer.json()
    assert (answer.status_code, body["status"], body["doc_id"]) == (
        200,
        "deletion_started",
        f"{known_id}, {unknown_id}",
    )
    assert events(harness)[1:] == [DocumentDeleted(document_id=known_id)]


@pytest.mark.parametrize("ids", [[], [""], [" "], ["a", "a"], ["a", " a"], ["x" * 513], "a", None])
async def test_ids_that_cannot_be_are_refused(api: httpx.AsyncClient, ids: Any) -> None:
    answer = await api.request("DELETE", "/documents/delete_document", json={"doc_ids": ids})
    assert answer.status_code == 422


async def test_clearing_deletes_every_document_those_the_projection_has_not_seen_too(
    harness: QueryHarness,
) -> None:
    async with client(harness.app()) as api:
        names = [f"{number}.txt" for number in range(40)]
        await api.post("/documents/texts", json={"texts": names[:20], "file_sources": names[:20]})
        await projected(harness)
        await api.post("/documents/texts", json={"texts": names[20:], "file_sources": names[20:]})
        await api.post("/documents/text", json=TEXT, headers={"X-Workspace": "other"})
        answer = await api.request("DELETE", "/documents?confirm=w")
        assert answer.json() == {"status": "success", "message": "40 documents are being deleted."}
        assert (
            await api.request("DELETE", "/documents", headers={"X-Workspace": "empty"})
        ).status_code == 200
    deletions = [event for event in events(harness) if isinstance(event, DocumentDeleted)]
    assert len({event.document_id for event in deletions}) == len(deletions) == 40


async def test_clearing_without_saying_so_deletes_nothing_and_says_how_much_it_would(
    harness: QueryHarness, api: httpx.AsyncClient
) -> None:
    await api.post("/documents/texts", json={"texts": ["a", "b"], "file_sources": ["a", "b"]})
    elsewhere = {"sec-fetch-site": "same-origin", "referer": "http://test/docs"}
    for query, headers in (("", {}), ("?confirm=yes", {}), ("", elsewhere)):
        refusal = await api.request("DELETE", f"/documents{query}", headers=headers)
        assert refusal.status_code == 400
        assert (
            "every document of workspace 'w', 2 in all: DELETE /documents?confirm=w"
            in refusal.json()["detail"]
        )
    assert not [event for event in events(harness) if isinstance(event, DocumentDeleted)]


async def test_lightrags_page_which_asks_by_itself_clears_without_a_confirmation(
    harness: QueryHarness, api: httpx.AsyncClient
) -> None:
    await api.post("/documents/text", json=TEXT)
    page = {"sec-fetch-site": "same-origin", "referer": "http://test/webui/"}
    assert (await api.request("DELETE", "/documents", headers=page)).status_code == 200
    assert [event for event in events(harness) if isinstance(event, DocumentDeleted)]


async def test_caches_of_what_a_model_said_are_cleared_and_embeddings_stay(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    for workspace in ("w", "other"):
        for name in ("extractions", "keywords", "answers", "embeddings"):
            await harness.rows.put(Table(name, Partition(workspace, 0)), {"key": {"value": 1}})
    answer = await api.post("/documents/clear_cache", json={})
    assert answer.json() == {"status": "success", "message": "Successfully cleared all cache"}
    remaining = {
        (workspace, name)
        for workspace in ("w", "other")
        for name in ("extractions", "keywords", "answers", "embeddings")
        if await harness.rows.get(Table(name, Partition(workspace, 0)), ["key"])
    }
    foreign = {("other", name) for name in ("extractions", "keywords", "answers", "embeddings")}
    assert remaining == {("w", "embeddings")} | foreign
