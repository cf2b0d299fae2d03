"""Tags of documents over HTTP: given, shown, asked for, refused."""

import httpx
import pytest

from tests.support.querying import QueryHarness, projected


async def added(api: httpx.AsyncClient, harness: QueryHarness) -> str:
    """A document in the log; its id."""
    body = {"text": "Port Elm has a lighthouse.", "file_source": "port.md"}
    answer = (await api.post("/documents/text", json=body)).json()
    await projected(harness)
    return str(answer["documents"][0]["id"])


async def tags_of(api: httpx.AsyncClient, id: str) -> str | None:
    metadata = (await api.get("/documents/by_id", params={"doc_id": id})).json()["metadata"]
    return metadata.get("tags")


async def test_tags_take_the_place_of_those_before(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    id = await added(api, harness)
    for tags, text in (
        (["minutes", " 2026 ", "minutes"], "minutes, 2026"),
        (["port"], "port"),
        ([], None),
        (["port"], "port"),
    ):
        answer = await api.put(f"/documents/{id}/tags", json={"tags": tags})
        assert answer.status_code == 200, answer.text
        await projected(harness)
        assert await tags_of(api, id) == text
    events = (await api.get(f"/documents/{id}/events", params={"type": "TagsChanged"})).json()
    texts = [event["text"] for event in events["events"]]
    assert texts == ["minutes, 2026", "port", "no tags", "port"]


@pytest.mark.parametrize("tags", [["a,b"], [""], ["  "], ["x" * 257], ["line\nbreak"], "port"])
async def test_what_is_no_tag_is_refused(
    api: httpx.AsyncClient, harness: QueryHarness, tags: object
) -> None:
    id = await added(api, harness)
    answer = await api.put(f"/documents/{id}/tags", json={"tags": tags})
    assert (answer.status_code, "tag" in answer.text) == (422, True)
    assert await tags_of(api, id) is None


async def test_a_document_that_is_not_there_gets_no_tags(api: httpx.AsyncClient) -> None:
    answer = await api.put("/documents/none/tags", json={"tags": ["port"]})
    assert (answer.status_code, "none" in answer.text) == (404, True)
