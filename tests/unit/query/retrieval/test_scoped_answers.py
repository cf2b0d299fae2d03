"""A question about some of the documents learns nothing from the others."""

from typing import Any

import httpx
import pytest
import pytest_asyncio

from runtime.stores.graph.port import MOST_SOURCES
from services.query.question import Mode
from tests.support.events import entity, relation
from tests.support.querying import QueryHarness

QUESTION = "What does Marie Curie know of radium?"
SAYS: dict[str, Any] = {
    "public": (
        "Marie Curie gave a public talk on radium.",
        [entity("Marie Curie", "person", "She gave a public talk")],
        [relation("Marie Curie", "Radium", "She talked about radium", "talk")],
    ),
    "secret": (
        "Marie Curie keeps her radium in the cellar under the laboratory.",
        [
            entity("Marie Curie", "person", "She keeps radium in the cellar"),
            entity("Cellar", "place", "Under it all"),
        ],
        [relation("Marie Curie", "Radium", "She hides it in the cellar", "hiding")],
    ),
}


@pytest_asyncio.fixture
async def api() -> Any:
    harness = QueryHarness()
    for number, (name, (text, entities, relations)) in enumerate(SAYS.items()):
        await harness.index(name, text, says=((entities, relations),), version=1 + 1000 * number)
    transport = httpx.ASGITransport(harness.app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        yield api


async def data(api: httpx.AsyncClient, mode: Mode, **conditions: Any) -> Any:
    answer = await api.post(
        "/query/data", json={"query": QUESTION, "mode": mode, "filter": conditions}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


MODES: tuple[Mode, ...] = ("naive", "local", "global", "hybrid", "mix", "walk", "auto")


@pytest.mark.parametrize("mode", MODES)
async def test_no_word_of_another_document_is_in_what_is_found(
    api: httpx.AsyncClient, mode: Mode
) -> None:
    assert "cellar" in str(await data(api, mode)).casefold()
    result = await data(api, mode, document_ids=["public"])
    assert "public talk" in str(result["data"])
    assert "cellar" not in str(result).casefold()


@pytest.mark.parametrize("mode", MODES)
async def test_a_filter_that_admits_nothing_finds_nothing(
    api: httpx.AsyncClient, mode: Mode
) -> None:
    assert (await data(api, mode, file_path_prefix="elsewhere/"))["status"] == "failure"


@pytest.mark.parametrize("mode", ["local", "mix", "walk"])
async def test_of_a_hub_the_passage_of_the_document_asked_for_is_found_however_late_it_came(
    mode: Mode,
) -> None:
    harness = QueryHarness()
    for number in range(MOST_SOURCES + 3):
        says = ([entity("Marie Curie", "person", "A chemist")], [])
        await harness.index(
            f"talk-{number:02d}",
            f"Marie Curie spoke in hall {number}.",
            says=(says,),
            version=1 + 900 * number,
        )
    transport = httpx.ASGITransport(harness.app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        result = await data(api, mode, document_ids=[f"talk-{MOST_SOURCES + 2:02d}"])
    assert [chunk["content"] for chunk in result["data"]["chunks"]] == [
        f"Marie Curie spoke in hall {MOST_SOURCES + 2}."
    ]
    assert [entity["entity_name"] for entity in result["data"]["entities"]] == ["Marie Curie"]
    if mode == "walk":
        links = [{"said": "Marie Curie", "entities": ["Marie Curie"], "by": "name"}]
        assert result["metadata"]["processing_info"]["linked"] == links


async def test_paths_and_times_admit_documents_too(api: httpx.AsyncClient) -> None:
    assert "cellar" not in str((await data(api, "mix", file_path_prefix="public"))["data"])
    assert "public talk" not in str((await data(api, "mix", file_path_prefix="secret"))["data"])
    assert (await data(api, "mix", added_from="2100-01-01T00:00:00Z"))["status"] == "failure"


async def test_a_condition_nobody_knows_is_refused(api: httpx.AsyncClient) -> None:
    answer = await api.post("/query", json={"query": QUESTION, "filter": {"author": "me"}})
    assert answer.status_code == 422
    assert "author" in answer.text
