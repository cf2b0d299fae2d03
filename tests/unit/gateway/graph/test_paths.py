"""How two entities are connected, over HTTP: now and at a place of the log."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.support.access import client
from tests.support.logged_library import BEFORE_THE_FERRY, logged_library


@pytest_asyncio.fixture
async def api() -> AsyncIterator[httpx.AsyncClient]:
    harness = await logged_library()
    async with client(harness.app()) as api:
        yield api


async def paths(api: httpx.AsyncClient, source: str, target: str, **params: Any) -> dict[str, Any]:
    response = await api.get("/graph/paths", params={"source": source, "target": target, **params})
    assert response.status_code == 200, response.text
    return response.json()


def names(answer: dict[str, Any]) -> list[list[str]]:
    return [[entity["name"] for entity in path["entities"]] for path in answer["paths"]]


async def test_all_shortest_paths_come_with_what_states_them(api: httpx.AsyncClient) -> None:
    answer = await paths(api, "Ada Marlow", "Lighthouse")
    assert names(answer) == [
        ["Ada Marlow", "Ferry", "Lighthouse"],
        ["Ada Marlow", "Harbour Office", "Lighthouse"],
    ]
    assert (answer["length"], answer["is_truncated"]) == (2, False)
    first = answer["paths"][0]["relations"][0]
    assert (first["description"], first["file_paths"], first["chunk_ids"]) == (
        "It belongs to her",
        ["ferry.txt"],
        ["ferry-chunk-000"],
    )
    backwards = await paths(api, "Lighthouse", "Ada Marlow")
    assert names(backwards) == [list(reversed(path)) for path in names(answer)]
    bounded = await paths(api, "Ada Marlow", "Lighthouse", limit=1)
    assert (len(bounded["paths"]), bounded["is_truncated"]) == (1, True)


async def test_paths_of_the_past_are_those_of_then(api: httpx.AsyncClient) -> None:
    then = await paths(api, "Ada Marlow", "Lighthouse", as_of=BEFORE_THE_FERRY)
    assert names(then) == [["Ada Marlow", "Harbour Office", "Lighthouse"]]
    search = {"q": "r", "as_of": BEFORE_THE_FERRY}
    names_then = (await api.get("/graph/label/search", params=search)).json()
    assert names_then == ["Ada Marlow", "Harbour Office"]


async def test_entities_that_are_too_far_from_each_other_have_none(
    api: httpx.AsyncClient,
) -> None:
    answer = await paths(api, "Ada Marlow", "Lighthouse", max_length=1)
    assert (answer["length"], answer["paths"], answer["is_truncated"]) == (None, [], False)


@pytest.mark.parametrize(
    ("source", "target", "status", "reason"),
    [
        ("Ada", "Ferry", 404, "'Ada Marlow'"),
        ("Ferry", "Nobody at all", 404, "/graph/label/search"),
        ("Ferry", "Ferry", 400, "same entity"),
    ],
)
async def test_names_that_make_no_path_are_refused_with_the_way_out(
    api: httpx.AsyncClient, source: str, target: str, status: int, reason: str
) -> None:
    response = await api.get("/graph/paths", params={"source": source, "target": target})
    assert response.status_code == status
    assert reason in response.json()["detail"]
