"""Retries over HTTP: of documents by id or file name, or of all that failed, in one stage or in
all.
"""

import json

import pytest

from contracts.events import StageFailed
from tests.support.access import READER, SEVERAL, behind, client, keyed
from tests.support.events import added, delivered, sealed
from tests.support.querying import QueryHarness


async def failed(harness: QueryHarness, *ids: str) -> None:
    """Have these documents fail in the chunker."""
    for id in ids:
        event = StageFailed(
            document_id=id,
            stage="chunker",
            cause_type="DocumentAdded",
            error_type="Poison",
            message="no text",
            attempt=1,
            retry_may_help=True,
            file_path=f"{id}.txt",
        )
        first = await harness.log.publish(
            sealed(added(id, file_path=f"{id}.txt"), workspace="w", id=f"{id}-added")
        )
        second = await harness.log.publish(sealed(event, workspace="w", id=f"{id}-failed"))
        await harness.project(
            delivered(
                added(id, file_path=f"{id}.txt"), first, workspace="w", id=id, correlation=id
            ),
            delivered(event, second, workspace="w", correlation=id),
        )


def requests(harness: QueryHarness) -> list[dict[str, str]]:
    """What RetryRequested stand in the log."""
    return [
        json.loads(message.data)["data"]
        for message in harness.log.messages
        if message.subject.endswith("RetryRequested")
    ]


async def test_documents_are_tried_again_by_id_and_by_file_name() -> None:
    harness = QueryHarness()
    await failed(harness, "one", "two", "three")
    async with client(harness.app()) as api:
        body = {"documents": ["one", "two.txt", "nobody"], "stage": "chunker", "reason": "mended"}
        answer = (await api.post("/operations/retry", json=body)).json()
    assert answer == {"requested": ["one", "two"], "nothing_failed": ["nobody"]}
    assert [
        (request["document_id"], request["stage"], request["reason"])
        for request in requests(harness)
    ] == [
        ("one", "chunker", "mended"),
        ("two", "chunker", "mended"),
    ]


async def test_all_that_failed_is_tried_again_at_once() -> None:
    harness = QueryHarness()
    await failed(harness, "one", "two")
    async with client(harness.app()) as api:
        answer = (await api.post("/operations/retry", json={"failed": True})).json()
    assert answer == {"requested": ["one", "two"], "nothing_failed": []}


@pytest.mark.parametrize(
    "body", [{}, {"documents": ["one"], "failed": True}, {"failed": True, "stage": "cook"}]
)
async def test_a_request_that_does_not_say_what_is_refused(body: dict[str, object]) -> None:
    harness = QueryHarness()
    await failed(harness, "one")
    async with client(harness.app()) as api:
        assert (await api.post("/operations/retry", json=body)).status_code in (400, 422)
    assert requests(harness) == []


async def test_a_reader_tries_nothing_again() -> None:
    harness = QueryHarness()
    await failed(harness, "one")
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), READER, "w") as api:
        assert (await api.post("/operations/retry", json={"failed": True})).status_code == 403
    assert requests(harness) == []
