"""The same text posted again: the answer's track id always leads to a document, so that who polls
comes to an end.
"""

from pathlib import Path
from typing import Any

import httpx

from publishing.documents import add_document
from publishing.draft import DocumentDraft, Submission
from services.gateway.settings import GatewaySettings
from tests.support.access import client
from tests.support.events import delivered, document, failed
from tests.support.querying import QueryHarness, projected
from tests.unit.gateway.documents.test_scans import ended
from tests.unit.gateway.documents.test_uploads import send

TEXT = {"text": "Port Elm has a lighthouse.", "file_source": "port.md"}


async def tracked(api: httpx.AsyncClient, answer: dict[str, Any]) -> list[str]:
    """The ids of the documents that the answer's track id leads to."""
    result = (await api.get(f"/documents/track_status/{answer['track_id']}")).json()
    return [document["id"] for document in result["documents"]]


async def test_a_text_that_is_there_is_answered_with_its_document_and_status(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    first = (await api.post("/documents/text", json=TEXT)).json()
    await projected(harness)
    again = (await api.post("/documents/text", json=TEXT)).json()
    (document,) = again["documents"]
    assert (again["status"], again["track_id"]) == ("duplicated", first["track_id"])
    assert (document["id"], document["is_new"], document["status"]) == (
        first["documents"][0]["id"],
        False,
        "pending",
    )
    assert document["id"] in again["message"]
    assert await tracked(api, again) == [document["id"]]


async def test_one_that_failed_says_so_and_names_the_way_out(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    first = (await api.post("/documents/text", json=TEXT)).json()
    await projected(harness)
    id = first["documents"][0]["id"]
    await harness.project(delivered(failed("chunker", "DocumentAdded", document(id, 1)), 9))
    again = (await api.post("/documents/text", json=TEXT)).json()
    assert again["documents"][0]["status"] == "failed"
    assert "reprocess_failed" in again["message"]


async def test_of_several_texts_those_that_are_there_are_told_apart(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    await api.post("/documents/text", json=TEXT)
    body = {"texts": [TEXT["text"], "Something new."], "file_sources": ["port.md", "new.md"]}
    answer = (await api.post("/documents/texts", json=body)).json()
    await projected(harness)
    assert (answer["status"], [document["is_new"] for document in answer["documents"]]) == (
        "success",
        [False, True],
    )
    assert await tracked(api, answer) == [answer["documents"][1]["id"]]
    again = (await api.post("/documents/texts", json=body)).json()
    assert again["status"] == "duplicated"
    for entry in again["documents"]:
        assert entry["id"] in await tracked(api, entry)


async def test_a_document_without_a_track_is_tracked_by_its_id(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    await add_document(
        harness.log,
        harness.blobs,
        DocumentDraft.of(Submission(text=TEXT["text"], file_path="port.md")),
        workspace="w",
        source="elsewhere",
    )
    await projected(harness)
    again = (await api.post("/documents/text", json=TEXT)).json()
    assert await tracked(api, again) == [again["documents"][0]["id"]]


async def test_an_upload_and_a_scan_of_what_is_there_lead_to_it_too(
    harness: QueryHarness, tmp_path: Path
) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "port.md").write_text(TEXT["text"])
    settings = GatewaySettings(workspace="w", input_dir=str(tmp_path))
    async with client(harness.app(settings=settings)) as api:
        first = (await send(api, "port.md", TEXT["text"].encode())).json()
        await projected(harness)
        again = (await send(api, "port.md", TEXT["text"].encode())).json()
        assert (again["status"], await tracked(api, again)) == (
            "duplicated",
            [first["documents"][0]["id"]],
        )
        scan = (await api.post("/documents/scan")).json()
        await ended(api, scan["track_id"])
        assert await tracked(api, scan) == [first["documents"][0]["id"]]
