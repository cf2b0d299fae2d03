"""Work that people stop: nothing more is paid for it, what was done stays, and it can be taken up
again.
"""

from typing import Any

import httpx

from contracts.events import ChunksCreated, DocumentCancelled, EntitiesExtracted
from contracts.graph import Generations
from operations.digest import Stores, digest
from operations.event_lines import event_line
from runtime.bus.document_versions import LogVersions
from tests.support.access import client
from tests.support.events import added, sealed
from tests.support.pipeline import FollowedLog, workers
from tests.support.querying import QueryHarness


class Harness:
    """A world whose services work only when they are told to."""

    def __init__(self) -> None:
        self.harness = QueryHarness(log=FollowedLog())
        self.workers = workers(self.harness, LogVersions(self.harness.log, look_again=0.0))

    async def add(self, id: str, passages: int) -> None:
        text = "|".join(
            f"Zoe Marlow met Ada Smith in {id} Town {number}." for number in range(passages)
        )
        how: Any = {"split_by_character": "|"}
        event = added(id, text, chunking=how, file_path=f"{id}.md")
        await self.harness.log.publish(sealed(event, id=f"told-{id}"))

    async def settle(self, *names: str) -> None:
        """Let those services work, all of them where none is named, until nothing is left."""
        named_workers = [
            worker for worker in self.workers if not names or worker.consumer.durable.name in names
        ]
        while any([await worker.step() for worker in named_workers]):
            pass

    def count(self, kind: type) -> int:
        return sum(
            message.subject.endswith(f".{kind.__name__}") for message in self.harness.log.messages
        )

    async def vectors(self) -> str:
        stores = Stores(self.harness.rows, self.harness.graph, self.harness.vectors)
        return (await digest("vectors", "w", Generations(), stores)).sha256


async def _states(api: httpx.AsyncClient) -> dict[str, tuple[str, str | None]]:
    documents = (await api.post("/documents/paginated", json={})).json()["documents"]
    return {document["id"]: (document["status"], document["error_msg"]) for document in documents}


async def test_what_is_not_done_is_stopped_and_taken_up_again_when_it_is_wanted() -> None:
    harness = Harness()
    async with client(harness.harness.app()) as api:
        await harness.add("done", 2)
        await harness.settle()
        await harness.add("cut", 3)
        await harness.settle("chunker", "indexer-chunks", "query-status")
        await harness.add("new", 4)  # not even seen by the projection
        before = harness.count(EntitiesExtracted)
        answer = (await api.post("/documents/cancel_pipeline")).json()
        assert (answer["status"], answer["doc_ids"]) == ("cancellation_requested", ["cut", "new"])
        assert "reprocess_failed" in answer["message"]
        await harness.settle()
        assert harness.count(EntitiesExtracted) == before
        states = await _states(api)
        cancelled_state = ("failed", "query: cancelled by anyone")
        assert states == {
            "done": ("processed", None),
            "cut": cancelled_state,
            "new": cancelled_state,
        }
        assert not (await api.get("/documents/pipeline_status")).json()["busy"]
        assert (await api.post("/documents/cancel_pipeline")).json()["status"] == "not_busy"
        assert harness.count(DocumentCancelled) == 2
        # What was embedded by then can be found, and is kept by whoever reads the log anew.
        result = (
            await api.post("/query/data", json={"query": "Who was in cut Town 2?", "mode": "naive"})
        ).json()
        assert "cut.md" in {chunk["file_path"] for chunk in result["data"]["chunks"]}
        assert (
            (await api.post("/documents/reprocess_failed"))
            .json()["message"]
            .startswith("2 documents")
        )
        await harness.settle()
        assert {status for status, _ in (await _states(api)).values()} == {"processed"}
        assert harness.count(EntitiesExtracted) == before + 3 + 4


async def test_a_document_that_was_through_before_the_stop_came_is_processed() -> None:
    harness = Harness()
    async with client(harness.harness.app()) as api:
        await harness.add("a", 1)
        await harness.settle(
            "chunker", "extractor", "merger", "merger-extents", "indexer-chunks", "indexer-graph"
        )
        assert (await api.post("/documents/cancel_pipeline")).json()["doc_ids"] == ["a"]
        await harness.settle()
        assert await _states(api) == {"a": ("processed", None)}
        gists = [
            event_line(message).gist
            async for page in harness.harness.log.read()
            for message in page
        ]
        assert "work on it is stopped by anyone" in gists


async def test_another_workspace_goes_on() -> None:
    harness = Harness()
    async with client(harness.harness.app()) as api:
        await harness.add("a", 2)
        answer = await api.post("/documents/cancel_pipeline", headers={"X-Workspace": "other"})
        assert answer.json()["status"] == "not_busy"
        await harness.settle()
        assert harness.count(ChunksCreated) == 1
        assert await _states(api) == {"a": ("processed", None)}
