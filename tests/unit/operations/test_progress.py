"""How far documents are, and waiting for them."""

import json
from typing import Any

import httpx
import pytest

from lightstream_rag.client import AsyncLightstream
from lightstream_rag.models import Document
from operations import progress
from operations.progress import Stage, stages, wait_for_documents
from runtime.errors import BudgetSpent, Unavailable


def document(id: str, status: str, chunks: int = 0, sequence: int = 1, **counts: int) -> Document:
    """A status as the query service gives it."""
    metadata: dict[str, Any] = {"chunks": chunks, "added_sequence": sequence, **counts}
    return Document(id=id, file_path=id, status=status, chunks_count=chunks, metadata=metadata)


class Service:
    """A query service that gives one list of documents after the other, in pages of two."""

    def __init__(self, *answers: list[Document] | None) -> None:
        self.looks, self.asked = list(answers), 0
        self.parked: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/operations/parked":
            return httpx.Response(200, json={"parked": self.parked})
        body = json.loads(request.content)
        page = body["page"]
        all_documents = self.looks[0]
        if all_documents is None:
            self.looks.pop(0)
            return httpx.Response(503, json={"detail": "starting"})
        answer = [document for document in all_documents if document.id in body["ids"]]
        result = answer[2 * page - 2 : 2 * page]
        has_more = len(answer) > 2 * page
        if not has_more:
            self.asked += 1
            self.looks[:1] = [] if len(self.looks) > 1 else [all_documents]
        pages = {
            "page": page,
            "page_size": 2,
            "total_count": 9,
            "total_pages": 9,
            "has_next": has_more,
            "has_prev": False,
        }
        documents = [document.model_dump() for document in result]
        return httpx.Response(
            200, json={"documents": documents, "pagination": pages, "status_counts": {}}
        )

    def client(self) -> AsyncLightstream:
        """A client of it, which asks once."""
        return AsyncLightstream("http://query", transport=httpx.MockTransport(self), attempts=1)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again without a pause."""
    monkeypatch.setattr(progress, "INTERVAL", 0.0)


async def now() -> bool:
    """Statuses show everything."""
    return True


async def never() -> bool:
    """Some event is tried again and again."""
    return False


def test_stages_count_documents_and_chunks() -> None:
    result = [
        document("a", "processed", 3, extracted=3, merged=3, embedded=3, indexed=3),
        document("b", "processing", 5, extracted=2, merged=1, embedded=5, indexed=0),
        document("c", "pending"),
        document("d", "failed"),
    ]
    assert stages(result, 6) == [
        Stage("chunked", 3, 6),
        Stage("extracted", 5, 8),
        Stage("merged", 4, 8),
        Stage("indexed", 3, 8),
    ]


def test_a_status_without_counts_is_one_at_the_beginning() -> None:
    assert stages([Document(id="a", file_path="a", status="pending")], 1)[1] == Stage(
        "extracted", 0, 0
    )


async def test_waiting_ends_when_every_wanted_document_is_through() -> None:
    service = Service(
        [document("other", "pending"), document("a", "pending")],
        [
            document("a", "processing", 2, extracted=1),
            document("b", "processed", 1),
            document("other", "pending"),
        ],
        [document("a", "processed", 2), document("b", "partial", 1), document("other", "pending")],
    )
    reports: list[list[Stage]] = []
    async with service.client() as client:
        result = await wait_for_documents(client, {"a": 1, "b": 1}, now, reports.append)
    assert [document.id for document in result] == ["a", "b"]
    assert service.asked == 3
    assert [stages[0].done for stages in reports] == [0, 2, 2]


async def test_a_status_of_an_older_text_does_not_end_the_waiting() -> None:
    old_status = document("a", "processed", 1, sequence=4)
    new_status = document("a", "processed", 1, sequence=9)
    service = Service([old_status], [old_status], [new_status])
    async with service.client() as client:
        assert await wait_for_documents(client, {"a": 9}, now, lambda _: None) == [new_status]
    assert service.asked == 3


async def test_an_event_that_has_to_be_tried_again_holds_nobody_up() -> None:
    async with Service(
        [document("a", "pending")], [document("a", "processed", 1)]
    ).client() as client:
        assert len(await wait_for_documents(client, {"a": 1}, never, lambda _: None)) == 1


async def test_a_document_without_a_status_is_waited_for_until_statuses_show_the_whole_log() -> (
    None
):
    answers = iter([False, False, True])
    service = Service([])

    async def caught_up() -> bool:
        return next(answers)

    async with service.client() as client:
        assert await wait_for_documents(client, {"deleted": 1}, caught_up, lambda _: None) == []
    assert service.asked == 3


async def test_a_service_that_is_started_again_is_waited_for() -> None:
    service = Service([document("a", "pending")], None, None, [document("a", "processed", 1)])
    async with service.client() as client:
        assert len(await wait_for_documents(client, {"a": 1}, now, lambda _: None)) == 1


async def test_a_service_that_stays_silent_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "MAX_SILENCE", 0.0)
    async with Service(None, None, None).client() as client:
        with pytest.raises(Unavailable, match="starting"):
            await wait_for_documents(client, {"a": 1}, now, lambda _: None)


async def test_waiting_ends_when_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "STALLED", 0.0)
    parked = {
        "workspace": "w",
        "reason": "retried",
        "events": 1,
        "durables": ["extractor"],
        "first": 3,
        "type": "ChunksCreated",
        "version": 1,
        "document": "b",
        "error": "the budget of 5 EUR is spent (5.0100)",
        "summary": "",
    }
    service = Service([document("a", "processed", 1), document("b", "processing", 2)])
    service.parked = [parked]
    looks = 0

    def show(_: list[Stage]) -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            service.parked = [parked | {"reason": "over-budget"}]

    async with service.client() as client:
        with pytest.raises(BudgetSpent, match=r"5.0100.*: 1 of 2 documents are worked on"):
            await wait_for_documents(client, {"a": 1, "b": 1}, now, show)
    assert looks >= 3
