"""The route that tells where an entity or a relation comes from, over stores in memory."""

from typing import Any

from tests.support.querying import QueryHarness, library_of_two
from tests.unit.gateway.test_api import client


async def sources(harness: QueryHarness, **params: Any) -> dict[str, Any]:
    async with client(harness.app()) as api:
        return (await api.get("/graph/provenance", params=params)).json()


async def test_an_entity_comes_from_chunks_each_with_its_place() -> None:
    harness = await library_of_two()
    answer = await sources(harness, name="Radium")
    by_order = {source["order"]: source for source in answer["sources"]}
    assert {order: source["description"] for order, source in by_order.items()} == {
        0: "An element that glows",
        1: "Used on dials of watches",
    }
    async with client(harness.app()) as api:
        chunks = (await api.get(f"/documents/{by_order[0]['document_id']}/chunks")).json()["chunks"]
    for chunk in chunks:
        source = by_order[chunk["order"]]
        assert [source[name] for name in ("chunk_id", "start", "end", "page")] == [
            chunk[name] for name in ("id", "start", "end", "page")
        ]
    assert (len(chunks), answer["after"]) == (2, None)


async def test_a_relation_is_found_from_either_end() -> None:
    harness = await library_of_two()
    answer = await sources(harness, name="Radium", other="Marie Curie")
    assert [source["description"] for source in answer["sources"]] == [
        "Marie Curie discovered radium"
    ]
    assert await sources(harness, name="Marie Curie", other="Radium") == answer


async def test_sources_are_paged_and_other_workspaces_do_not_have_them() -> None:
    harness = await library_of_two()
    first = await sources(harness, name="Radium", limit=1)
    second = await sources(harness, name="Radium", limit=1, after=first["after"])
    third = await sources(harness, name="Radium", limit=1, after=second["after"])
    assert sorted(page["sources"][0]["order"] for page in (first, second)) == [0, 1]
    assert third == {"sources": [], "after": None}
    async with client(harness.app()) as api:
        answer = await api.get(
            "/graph/provenance", params={"name": "Radium"}, headers={"X-Workspace": "other"}
        )
        nobody = await api.get("/graph/provenance", params={"name": "Nobody"})
    assert (answer.status_code, nobody.status_code) == (404, 404)
    assert "'Nobody'" in nobody.json()["detail"]
