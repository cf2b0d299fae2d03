"""What was found, as data; and where in the log an answer stands."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from contracts.graph import Space
from runtime.bus.memory import MemoryLog
from services.query.positions import LogPositions
from services.query.settings import QuerySettings
from tests.support.facts import added, delivered
from tests.support.querying import World, library_of_two

QUESTION = "Who discovered radium?"
SPACE = Space("w", 1)


@pytest_asyncio.fixture
async def world() -> World:
    return await library_of_two()


@pytest_asyncio.fixture
async def api(world: World) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(world.app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        yield api


async def test_data_has_lightrags_shape(api: httpx.AsyncClient) -> None:
    body = (await api.post("/query/data", json={"query": QUESTION, "ll_keywords": ["Radium"]})).json()
    assert (body["status"], set(body["data"])) == ("success", {"entities", "relationships", "chunks", "references"})
    radium = next(entity for entity in body["data"]["entities"] if entity["entity_name"] == "Radium")
    assert set(radium) == {
        "entity_name", "entity_type", "description", "source_id", "file_path", "created_at",
    }  # fmt: skip
    assert set(body["data"]["relationships"][0]) == {
        "src_id", "tgt_id", "description", "keywords", "weight", "source_id", "file_path", "created_at",
    }  # fmt: skip
    assert {"reference_id", "content", "file_path", "chunk_id"} <= set(body["data"]["chunks"][0])
    assert body["data"]["references"][0] == {"reference_id": "1", "file_path": "curie.txt"}
    assert body["metadata"]["query_mode"] == "mix"
    assert body["metadata"]["keywords"] == {"high_level": [], "low_level": ["Radium"]}
    assert set(body["metadata"]["processing_info"]) == {
        "total_entities_found", "total_relations_found", "entities_after_truncation", "relations_after_truncation",
        "merged_chunks_count", "final_chunks_count", "mode",
    }  # fmt: skip


async def test_naive_data_has_passages_only(api: httpx.AsyncClient) -> None:
    body = (await api.post("/query/data", json={"query": QUESTION, "mode": "naive"})).json()
    assert (body["data"]["entities"], body["data"]["relationships"]) == ([], [])
    assert set(body["metadata"]["processing_info"]) == {"mode", "total_chunks_found", "final_chunks_count"}


async def test_bypass_finds_nothing_and_looks_nowhere(api: httpx.AsyncClient) -> None:
    body = (await api.post("/query/data", json={"query": QUESTION, "mode": "bypass"})).json()
    assert body["status"] == "success"
    assert body["data"] == {"entities": [], "relationships": [], "chunks": [], "references": []}


@pytest.mark.parametrize(
    ("mode", "message"),
    [("mix", "Query returned no results"), ("naive", "No relevant document chunks found.")],
)
async def test_nothing_found_is_a_failure_with_its_reason(api: httpx.AsyncClient, mode: str, message: str) -> None:
    answer = await api.post("/query/data", json={"query": QUESTION, "mode": mode}, headers={"X-Workspace": "empty"})
    assert answer.json() == {
        "status": "failure",
        "message": message,
        "data": {},
        "metadata": {"failure_reason": "no_results", "mode": mode},
    }


async def test_a_request_for_data_that_is_not_valid_is_refused_in_the_same_shape(api: httpx.AsyncClient) -> None:
    answer = await api.post("/query/data", json={"query": "ab"})
    assert (answer.status_code, answer.json()["status"]) == (400, "failure")
    assert "too short" in answer.json()["message"]


class FoldedTo(MemoryLog):
    """A log of which the projection has acknowledged so much."""

    position = 0

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        assert durables == ("query-status",)
        return self.position


async def test_an_answer_stands_before_the_oldest_document_that_is_worked_on(world: World) -> None:
    log = FoldedTo()
    log.position = 2000
    assert await LogPositions(log, world.documents).of(SPACE) == 2000
    await world.project(delivered(added("new", "a text"), 1500, workspace="w", id="new", correlation="new"))
    assert await LogPositions(log, world.documents).of(SPACE) == 1499
    assert await LogPositions(log, world.documents).of(Space("other", 1)) == 2000


async def test_a_position_never_goes_back(world: World) -> None:
    log = FoldedTo()
    positions = LogPositions(log, world.documents)
    log.position = 2000
    assert await positions.reach(SPACE, 2000, seconds=0) == 2000
    await world.project(delivered(added("new", "a text"), 1500, workspace="w", id="new", correlation="new"))
    assert await positions.reach(SPACE, 2000, seconds=0) == 2000


async def test_a_position_that_is_not_reached_is_waited_for_until_the_time_is_over(world: World) -> None:
    assert await LogPositions(FoldedTo(), world.documents).reach(SPACE, 7, seconds=0.2) == 0


async def test_answers_carry_their_position_and_a_position_to_come_is_a_503(world: World) -> None:
    settings = QuerySettings(workspace="w", min_position_timeout=0.0)
    transport = httpx.ASGITransport(world.app(settings=settings), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        answer = await api.post("/query", json={"query": QUESTION, "min_position": 0})
        assert (answer.status_code, answer.headers["X-Log-Position"]) == (200, "0")
        assert (await api.post("/query/data", json={"query": QUESTION})).headers["X-Log-Position"] == "0"
        answer = await api.post("/query", json={"query": QUESTION, "min_position": 9})
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        assert "position 0 is reached, 9 was asked for" in answer.json()["detail"]
