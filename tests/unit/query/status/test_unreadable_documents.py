"""A document that cannot be read is listed as failed under its own id and name."""

import json
from typing import Any

import pytest

from contracts.subjects import subject
from tests.support.access import client
from tests.support.pipeline import workers
from tests.support.querying import QueryHarness


def _added(id: str, **fields: Any) -> bytes:
    body = {
        "document_id": id,
        "text": "A text.",
        "file_path": "minutes/May 4.md",
        "metadata": {"a": ["no", "list"]},
    }
    event = {
        "specversion": "1.0",
        "id": f"e-{id}",
        "source": "/tests",
        "type": "lightstream.DocumentAdded.v1",
        "workspace": "w",
        "data": {**body, **fields},
    }
    return json.dumps(event).encode()


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({}, "minutes/May 4.md"),
        ({"file_path": "a\x1b[31m\n.md"}, "a[31m.md"),
        ({"file_path": 7}, "unknown_source"),
    ],
)
async def test_it_keeps_its_id_and_its_name(fields: dict[str, Any], name: str) -> None:
    harness = QueryHarness()
    where = subject("w", "Minutes of May", "DocumentAdded")
    harness.log.append(where, _added("Minutes of May", **fields), "e-1")

    for worker in workers(harness):
        while await worker.step():
            pass
    async with client(harness.app()) as api:
        (document,) = (
            await api.post("/documents/paginated", json={"status_filter": "failed"})
        ).json()["documents"]
    assert (document["id"], document["file_path"], document["status"]) == (
        "Minutes of May",
        name,
        "failed",
    )
    assert "metadata" in document["error_msg"]
