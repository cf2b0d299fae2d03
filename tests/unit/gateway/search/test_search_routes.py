"""Exact search and reading on over HTTP, now and at a place of the log."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from services.query.lookup import passage_search
from tests.support.access import READER, SEVERAL, behind, client, keyed
from tests.support.logged_library import BEFORE_THE_FERRY, logged_library
from tests.support.querying import QueryHarness


@pytest_asyncio.fixture
async def harness() -> QueryHarness:
    return await logged_library()


@pytest_asyncio.fixture
async def api(harness: QueryHarness) -> AsyncIterator[httpx.AsyncClient]:
    async with client(harness.app()) as api:
        yield api


async def search(api: httpx.AsyncClient, *keywords: str, **params: Any) -> dict[str, Any]:
    response = await api.get("/passages/search", params={"keyword": keywords, **params})
    assert response.status_code == 200, response.text
    return response.json()


def chunks(answer: dict[str, Any]) -> list[str]:
    return [passage["chunk_id"] for passage in answer["passages"]]


async def test_passages_with_most_of_the_keywords_come_first_with_their_places(
    api: httpx.AsyncClient,
) -> None:
    answer = await search(api, "lighthouse", "Harbour office")
    assert chunks(answer) == ["harbour-chunk-001", "ferry-chunk-000", "harbour-chunk-000"]
    first = answer["passages"][0]
    assert first["counts"] == {"lighthouse": 1, "Harbour office": 1}
    assert first["snippets"] == ["The Harbour Office keeps the lighthouse."]
    assert (first["file_path"], first["document_id"], first["order"]) == (
        "harbour.txt",
        "harbour",
        1,
    )
    assert [name["name"] for name in answer["names"]] == ["Lighthouse", "Harbour Office"]
    assert (answer["total"], answer["total_names"], answer["passages_read"]) == (3, 2, 3)
    assert (answer["is_truncated"], answer["next_offset"]) == (False, None)


async def test_pages_follow_each_other_and_names_are_on_the_first(api: httpx.AsyncClient) -> None:
    pages = [await search(api, "the", limit=1, offset=offset) for offset in range(4)]
    assert [page["next_offset"] for page in pages] == [1, 2, None, None]
    assert sorted(chunk for page in pages for chunk in chunks(page)) == [
        "ferry-chunk-000",
        "harbour-chunk-000",
        "harbour-chunk-001",
    ]
    assert (await search(api, "ferry", limit=1))["names"] == [{"name": "Ferry", "type": "thing"}]
    assert (await search(api, "ferry", limit=1, offset=1))["names"] == []


async def test_documents_are_named_by_id_or_file(api: httpx.AsyncClient) -> None:
    for document in ("ferry", ["ferry", "ferry"]):
        assert chunks(await search(api, "lighthouse", document=document)) == ["ferry-chunk-000"]
    response = await api.get("/passages/search", params={"keyword": "a", "document": "no.txt"})
    assert response.status_code == 404
    assert "'no.txt'" in response.json()["detail"]


async def test_the_past_has_the_passages_and_names_of_then(api: httpx.AsyncClient) -> None:
    then = await search(api, "lighthouse", "ferry", as_of=BEFORE_THE_FERRY)
    assert chunks(then) == ["harbour-chunk-001"]
    assert [name["name"] for name in then["names"]] == ["Lighthouse"]
    assert chunks(await search(api, "lighthouse", "ferry", as_of="now")) == chunks(
        await search(api, "lighthouse", "ferry")
    )
    assert (await search(api, "lighthouse", as_of="0"))["total"] == 0
    response = await api.get("/passages/search", params={"keyword": "a", "as_of": "soon"})
    assert response.status_code == 400


async def test_what_is_behind_the_bound_is_not_searched_and_it_is_said(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_search, "MAX_PASSAGES", 2)
    monkeypatch.setattr(passage_search, "READ_AT_ONCE", 1)
    answer = await search(api, "lighthouse")
    assert (answer["passages_read"], answer["is_truncated"]) == (2, True)
    assert (await search(api, "lighthouse", document="harbour"))["is_truncated"] is False


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"keyword": "   "},
        {"keyword": "a" * 201},
        {"keyword": ["a"] * 11},
        {"keyword": "a", "limit": 101},
        {"keyword": "a", "offset": 10_001},
    ],
)
async def test_what_is_out_of_bounds_is_refused(
    api: httpx.AsyncClient, params: dict[str, Any]
) -> None:
    assert (await api.get("/passages/search", params=params)).status_code == 422


async def test_the_passages_around_one_are_read_now_and_then(api: httpx.AsyncClient) -> None:
    around = (await api.get("/passages/around", params={"chunk_id": "harbour-chunk-001"})).json()
    assert [passage["order"] for passage in around["passages"]] == [0, 1]
    assert around["passages"][1]["content"] == "The Harbour Office keeps the lighthouse."
    assert (around["file_path"], around["chunk_count"]) == ("harbour.txt", 2)
    alone = {"chunk_id": "harbour-chunk-000", "after": 0, "as_of": BEFORE_THE_FERRY}
    answer = (await api.get("/passages/around", params=alone)).json()
    assert [passage["order"] for passage in answer["passages"]] == [0]
    later = {"chunk_id": "ferry-chunk-000", "as_of": BEFORE_THE_FERRY}
    assert (await api.get("/passages/around", params=later)).status_code == 404


@pytest.mark.parametrize(
    ("chunk", "status", "reason"),
    [
        ("harbour-chunk-009", 404, "has no passage 9: it has 2"),
        ("nobody-chunk-000", 404, "no document 'nobody'"),
        ("harbour", 400, "`chunk_id`"),
    ],
)
async def test_a_passage_that_is_not_there_is_said_with_the_way_out(
    api: httpx.AsyncClient, chunk: str, status: int, reason: str
) -> None:
    response = await api.get("/passages/around", params={"chunk_id": chunk})
    assert response.status_code == status
    assert reason in response.json()["detail"]


async def test_a_reader_searches_its_workspace_alone(harness: QueryHarness) -> None:
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    paths = ("/passages/search?keyword=the", "/passages/around?chunk_id=harbour-chunk-000")
    for path in (*paths, "/graph/paths?source=Ferry&target=Lighthouse"):
        async with keyed(app, READER) as api:
            assert (await api.get(path)).status_code == 200
        async with keyed(app, READER, workspace="theirs") as api:
            assert (await api.get(path)).status_code == 403
        async with client(app) as api:
            assert (await api.get(path)).status_code in (401, 403)
    async with client(harness.app(), **{"X-Workspace": "theirs"}) as api:
        assert (await search(api, "the"))["total"] == 0
