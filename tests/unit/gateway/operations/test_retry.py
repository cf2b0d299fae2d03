"""Retries over HTTP: of documents by id or file name, or of all that failed, in one stage or in
all.
"""

import json

import pytest

from contracts.events import StageFailed
from tests.support.access import READER, SEVERAL, behind, client, keyed
from tests.support.events import added, delivered, sealed
from tests.support.querying import QueryHarness


async def failed(made: QueryHarness, *ids: str) -> None:
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
        first = await made.log.publish(
            sealed(added(id, file_path=f"{id}.txt"), workspace="w", id=f"{id}-added")
        )
        second = await made.log.publish(sealed(event, workspace="w", id=f"{id}-failed"))
        await made.project(
            delivered(
                added(id, file_path=f"{id}.txt"), first, workspace="w", id=id, correlation=id
            ),
            delivered(event, second, workspace="w", correlation=id),
        )


def requests(made: QueryHarness) -> list[dict[str, str]]:
    """What RetryRequested stand in the log."""
    return [
        json.loads(one.data)["data"]
        for one in made.log.messages
        if one.subject.endswith("RetryRequested")
    ]


async def test_documents_are_tried_again_by_id_and_by_file_name() -> None:
    made = QueryHarness()
    await failed(made, "one", "two", "three")
    async with client(made.app()) as api:
        body = {"documents": ["one", "two.txt", "nobody"], "stage": "chunker", "reason": "mended"}
        done = (await api.post("/operations/retry", json=body)).json()
    assert done == {"requested": ["one", "two"], "nothing_failed": ["nobody"]}
    assert [(one["document_id"], one["stage"], one["reason"]) for one in requests(made)] == [
        ("one", "chunker", "mended"),
        ("two", "chunker", "mended"),
    ]


async def test_all_that_failed_is_tried_again_at_once() -> None:
    made = QueryHarness()
    await failed(made, "one", "two")
    async with client(made.app()) as api:
        done = (await api.post("/operations/retry", json={"failed": True})).json()
    assert done == {"requested": ["one", "two"], "nothing_failed": []}


@pytest.mark.parametrize(
    "body", [{}, {"documents": ["one"], "failed": True}, {"failed": True, "stage": "cook"}]
)
async def test_a_request_that_does_not_say_what_is_refused(body: dict[str, object]) -> None:
    made = QueryHarness()
    await failed(made, "one")
    async with client(made.app()) as api:
        assert (await api.post("/operations/retry", json=body)).status_code in (400, 422)
    assert requests(made) == []


async def test_a_reader_tries_nothing_again() -> None:
    made = QueryHarness()
    await failed(made, "one")
    async with keyed(made.app(behind(lightstream_api_keys=SEVERAL)), READER, "w") as api:
        assert (await api.post("/operations/retry", json={"failed": True})).status_code == 403
    assert requests(made) == []
