"""Many questions at once: so many look into the stores, the others wait, and none waits for
ever.
"""

import asyncio
import time
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import pytest

from publishing.upload_records import UploadRecord, UploadRecords
from runtime.bus.memory import MemorySharedValues
from runtime.errors import Unavailable
from runtime.models.port import Vector
from services.gateway.documents.adding import DocumentPublisher
from services.gateway.documents.reading import Readings
from services.gateway.documents.request_records import RequestRecords
from services.gateway.documents.uploading import ReadLimits, UploadedFile, UploadOptions
from services.query.retrieval.concurrency import ConcurrencyLimit
from tests.support.access import client
from tests.support.querying import QueryHarness, library_of_two

QUESTION = {"query": "Who discovered radium?", "mode": "naive"}


def counting(harness: QueryHarness, inside: list[int]) -> Any:
    """Embeds slowly, and notes how many do so at once."""
    now = 0

    async def embed(texts: Sequence[str], /) -> list[Vector]:
        nonlocal now
        now += 1
        inside.append(now)
        await asyncio.sleep(0.01)
        now -= 1
        return await harness.embedder.embed(texts)

    return embed


async def test_a_few_questions_look_into_the_stores_at_once_and_all_are_answered() -> None:
    harness = await library_of_two()
    inside = list[int]()
    deps = harness.deps(embed=counting(harness, inside), concurrency=ConcurrencyLimit(3))
    async with client(harness.app(answering=deps)) as api:
        answers = await asyncio.gather(*(api.post("/query", json=QUESTION) for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert (max(inside), len(inside)) == (3, 20)


async def test_who_waits_too_long_for_a_turn_is_asked_to_come_back() -> None:
    harness = await library_of_two()
    deps = harness.deps(concurrency=ConcurrencyLimit(1, max_wait=0.01))
    async with deps.concurrency.acquire("w"), client(harness.app(answering=deps)) as api:
        answer = await api.post("/query", json=QUESTION)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    async with client(harness.app(answering=deps)) as api:
        assert (await api.post("/query", json=QUESTION)).status_code == 200


async def test_a_turn_that_is_waited_for_in_vain_is_not_lost() -> None:
    turns = ConcurrencyLimit(1, max_wait=0.01)
    async with turns.acquire("w"):
        with pytest.raises(Unavailable):
            await turns.acquire("w").__aenter__()
    async with turns.acquire("w"):
        pass


async def test_a_question_of_a_quiet_workspace_is_not_behind_a_flood_of_another() -> None:
    """Of 101 questions, two at once, the quiet one would be answered last of all in one queue."""
    harness = await library_of_two()

    async def slow(texts: Sequence[str], /) -> list[Vector]:
        await asyncio.sleep(0.05)
        return await harness.embedder.embed(texts)

    app = harness.app(answering=harness.deps(embed=slow, concurrency=ConcurrencyLimit(2)))
    order = list[str]()
    async with client(app) as api:

        async def ask(workspace: str) -> None:
            answer = await api.post("/query", json=QUESTION, headers={"X-Workspace": workspace})
            assert answer.status_code == 200
            order.append(workspace)

        flood = [asyncio.create_task(ask("w")) for _ in range(100)]
        while not order:
            await asyncio.sleep(0.01)
        await ask("quiet")
        await asyncio.gather(*flood)
    assert order.index("quiet") < 50


class Slow(BytesIO):
    """A file that takes 0.2 s to read."""

    def read(self, size: int | None = -1, /) -> bytes:
        time.sleep(0.2)
        return super().read(size)


async def test_a_file_of_a_quiet_workspace_is_not_behind_a_flood_of_another() -> None:
    """Two of 30 files are read at once of one workspace; the place that is left is free at once."""
    harness = QueryHarness()
    readings = Readings(ReadLimits(1000), UploadRecords(MemorySharedValues()))
    read = list[str]()

    async def send(workspace: str, name: str) -> None:
        file = UploadedFile(name, Slow(b"Ada Marlow came to Port Elm."), name)
        requests = RequestRecords(harness.requests)
        publisher = DocumentPublisher(harness.log, harness.blobs, workspace, requests)
        outcome = await readings.upload(publisher, file, UploadOptions())
        assert not isinstance(outcome, UploadRecord)
        assert outcome[0].is_new
        read.append(workspace)

    flood = [asyncio.create_task(send("flood", f"{number}.txt")) for number in range(30)]
    await next(asyncio.as_completed(flood))
    await send("quiet", "a.txt")
    await asyncio.gather(*flood)
    assert read.index("quiet") < 15
