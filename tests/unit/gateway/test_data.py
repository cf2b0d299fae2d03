"""What was found, as data; and where in the log an answer stands."""

import asyncio
import time
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from contracts.graph import Partition
from contracts.moments import microseconds
from runtime.bus.memory import MemoryLog
from services.gateway.settings import GatewaySettings
from services.query.status.positions import CACHE_SECONDS, LogPositions
from tests.support.events import added, delivered
from tests.support.querying import QueryHarness

QUESTION = "Who discovered radium?"
SPACE = Partition("w", 1)


@pytest_asyncio.fixture
async def api(harness: QueryHarness) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(harness.app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        yield api


async def test_data_has_lightrags_shape(api: httpx.AsyncClient) -> None:
    body = (
        await api.post(
            "/query/data", json={"query": QUESTION, "mode": "mix", "ll_keywords": ["Radium"]}
        )
    ).json()
    assert (body["status"], set(body["data"])) == (
        "success",
        {"entities", "relationships", "chunks", "references"},
    )
    radium = next(
        entity for entity in body["data"]["entities"] if entity["entity_name"] == "Radium"
    )
    assert set(radium) == {
        "entity_name",
        "entity_type",
        "description",
        "source_id",
        "file_path",
        "created_at",
    }
    assert set(body["data"]["relationships"][0]) == {
        "src_id",
        "tgt_id",
        "description",
        "keywords",
        "weight",
        "source_id",
        "file_path",
        "created_at",
    }
    assert {"reference_id", "content", "file_path", "chunk_id"} <= set(body["data"]["chunks"][0])
    assert body["data"]["references"][0] == {"reference_id": "1", "file_path": "curie.txt"}
    assert body["metadata"]["query_mode"] == "mix"
    assert body["metadata"]["keywords"] == {"high_level": [], "low_level": ["Radium"]}
    assert set(body["metadata"]["processing_info"]) == {
        "total_entities_found",
        "total_relations_found",
        "entities_after_truncation",
        "relations_after_truncation",
        "merged_chunks_count",
        "final_chunks_count",
        "mode",
    }


async def test_naive_data_has_passages_only(api: httpx.AsyncClient) -> None:
    body = (await api.post("/query/data", json={"query": QUESTION, "mode": "naive"})).json()
    assert (body["data"]["entities"], body["data"]["relationships"]) == ([], [])
    assert set(body["metadata"]["processing_info"]) == {
        "mode",
        "total_chunks_found",
        "final_chunks_count",
    }


async def test_bypass_finds_nothing_and_looks_nowhere(api: httpx.AsyncClient) -> None:
    body = (await api.post("/query/data", json={"query": QUESTION, "mode": "bypass"})).json()
    assert body["status"] == "success"
    assert body["data"] == {"entities": [], "relationships": [], "chunks": [], "references": []}


@pytest.mark.parametrize(
    ("mode", "message"),
    [("mix", "Query returned no results"), ("naive", "No relevant document chunks found.")],
)
async def test_nothing_found_is_a_failure_with_its_reason(
    api: httpx.AsyncClient, mode: str, message: str
) -> None:
    answer = await api.post(
        "/query/data", json={"query": QUESTION, "mode": mode}, headers={"X-Workspace": "empty"}
    )
    assert answer.json() == {
        "status": "failure",
        "message": message,
        "data": {},
        "metadata": {"failure_reason": "no_results", "mode": mode},
    }


async def test_a_request_for_data_that_is_not_valid_is_refused_in_the_same_shape(
    api: httpx.AsyncClient,
) -> None:
    answer = await api.post("/query/data", json={"query": "ab"})
    assert (answer.status_code, answer.json()["status"]) == (400, "failure")
    assert "too short" in answer.json()["message"]


class FoldedTo(MemoryLog):
    """A log of which the projection has handled so much, and in which the workspace's newest event
    stands there.
    """

    position = 0
    newest_at = 0

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        assert durables == ("query-status",)
        return self.position

    async def last(self, workspace: str) -> int:
        return self.newest_at if workspace == "w" else 0


class Clock:
    """Microseconds, as a test sets them."""

    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


NOW = 2_000_000_000_000_000


async def test_an_answer_stands_before_the_oldest_document_that_is_worked_on(
    harness: QueryHarness,
) -> None:
    log = FoldedTo()
    clock = Clock(NOW)
    log.position = 2000
    assert await LogPositions(log, harness.documents, clock).of(SPACE) == NOW
    delivery = delivered(added("new", "a text"), 1500, workspace="w", id="new", correlation="new")
    await harness.project(delivery)
    at = microseconds(delivery.happened_at)
    assert await LogPositions(log, harness.documents, clock).of(SPACE) == at - 1
    assert await LogPositions(log, harness.documents, clock).of(Partition("other", 1)) == NOW


async def test_a_position_never_goes_back_and_what_was_just_added_is_waited_for_all_the_same(
    harness: QueryHarness,
) -> None:
    log = FoldedTo()
    clock = Clock(NOW)
    positions = LogPositions(log, harness.documents, clock)
    assert await positions.of(SPACE) == NOW
    delivery = delivered(added("new", "a text"), 1500, workspace="w", id="new", correlation="new")
    at = microseconds(delivery.happened_at)
    log.newest_at = 1500
    # In the log and not seen by the projection; then seen, and worked on.
    assert await positions.wait_for(SPACE, at, seconds=0) < at
    await harness.project(delivery)
    log.position = 1500
    assert await positions.wait_for(SPACE, at, seconds=0) < at
    assert await positions.wait_for(SPACE, at - 1, seconds=0) >= at - 1
    assert await LogPositions(log, harness.documents, clock).of(SPACE) == at - 1
    assert await positions.of(SPACE) == NOW


async def test_documents_that_come_without_a_pause_do_not_hold_a_position_back(
    harness: QueryHarness,
) -> None:
    log = FoldedTo()
    clock = Clock(NOW)
    positions = LogPositions(log, harness.documents, clock)
    log.newest_at = 10
    assert await positions.of(SPACE) == 0
    clock.now, log.newest_at, log.position = NOW + 1_000_000, 20, 15
    await asyncio.sleep(CACHE_SECONDS)
    assert await positions.of(SPACE) == NOW


async def test_what_others_do_moves_no_position(harness: QueryHarness) -> None:
    log = FoldedTo()
    clock = Clock(NOW)
    positions: set[int] = set()
    for log.position in (10, 1000, 50_000):  # everybody's events
        positions.add(await LogPositions(log, harness.documents, clock).of(SPACE))
    assert positions == {NOW}


async def test_a_position_that_is_not_reached_is_waited_for_until_the_time_is_over(
    harness: QueryHarness,
) -> None:
    log = FoldedTo()
    log.newest_at = 7
    assert await LogPositions(log, harness.documents).wait_for(SPACE, 7, seconds=0.2) < 7


async def test_answers_carry_their_position_and_a_position_to_come_is_a_503(
    harness: QueryHarness,
) -> None:
    settings = GatewaySettings(workspace="w", min_position_timeout=0.0)
    transport = httpx.ASGITransport(harness.app(settings=settings), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        before = time.time_ns() // 1000
        answer = await api.post("/query", json={"query": QUESTION, "min_position": before})
        assert answer.status_code == 200
        assert before <= int(answer.headers["X-Log-Position"]) <= time.time_ns() // 1000
        later = int(
            (await api.post("/query/data", json={"query": QUESTION})).headers["X-Log-Position"]
        )
        assert later >= int(answer.headers["X-Log-Position"])
        answer = await api.post("/query", json={"query": QUESTION, "min_position": 2 * before})
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        assert f"{2 * before} was asked for" in answer.json()["detail"]


async def test_no_answer_tells_one_workspace_how_much_goes_on_in_another() -> None:
    disclosures: list[set[int]] = []
    for other_texts in (0, 40):
        harness = QueryHarness()
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(harness.app()), base_url="http://api"
        ) as api:
            for number in range(other_texts):
                text = {"text": f"Text {number}."}
                await api.post("/documents/text", json=text, headers={"X-Workspace": "other"})
            answer = (await api.post("/documents/text", json={"text": "Ours."})).json()
            retrieval = await api.post("/query/data", json={"query": QUESTION})
            disclosures.append(
                {answer["documents"][0]["sequence"], int(retrieval.headers["X-Log-Position"])}
            )
    # Times, whatever number the log gave: no place in the log is among them.
    now = time.time_ns() // 1000
    assert all(
        number == 0 or abs(number - now) < 60_000_000
        for numbers in disclosures
        for number in numbers
    )
