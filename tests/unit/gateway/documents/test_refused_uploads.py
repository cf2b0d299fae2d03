"""Uploads that are refused stay as rows with the reason, until the file is taken or they are
deleted.
"""

import time
from dataclasses import replace
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import httpx
import pytest

from contracts.ids import md5
from publishing.upload_records import INTERRUPTED, SILENCE, UploadRecord, UploadRecords
from runtime.bus.memory import MemorySharedValues
from services.gateway.settings import GatewaySettings
from tests.support import office_files as office
from tests.support.pdf_files import pdf
from tests.support.querying import QueryHarness
from tests.unit.gateway.documents.test_uploads import added, send
from tests.unit.gateway.test_api import client

UPLOADS = "/documents/uploads"


def bomb() -> bytes:
    """A Word file whose text inflates to more than is read."""
    output = BytesIO(office.docx())
    with ZipFile(output, "a", ZIP_DEFLATED) as archive:
        archive.writestr("word/header9.xml", b" " * 2**29)
    return output.getvalue()


async def rows(api: httpx.AsyncClient) -> list[dict[str, Any]]:
    return (await api.get(UPLOADS)).json()["uploads"]


@pytest.mark.parametrize(
    ("name", "data", "status", "reason"),
    [
        ("setup.exe", b"MZ\0\0", 400, "setup.exe"),
        ("empty.txt", b"", 422, "empty"),
        ("locked.pdf", pdf("page", password="secret"), 422, "password"),
        ("broken.docx", office.docx()[:500], 422, "broken.docx"),
        ("bomb.docx", bomb(), 422, "zip bomb"),
        ("locked.odt", office.odt(protected=True), 422, "password"),
        ("large.txt", b"x" * 2_000_000, 413, "1,000,000 bytes (MAX_UPLOAD_SIZE)"),
        ("larger.txt", b"x" * 1_000_010, 413, "1,000,000 bytes (MAX_UPLOAD_SIZE)"),
        ("../../x.txt", b"text", 400, "not a plain file name"),
    ],
)
async def test_what_is_refused_is_a_row_with_the_reason(
    harness: QueryHarness, name: str, data: bytes, status: int, reason: str
) -> None:
    app = harness.app(settings=GatewaySettings(workspace="w", max_upload_size=1_000_000))
    async with client(app) as api:
        for _ in range(2):
            answer = await send(api, name, data)
            assert answer.status_code == status
        [row] = await rows(api)
        detail = answer.json()["detail"]
        assert (row["file_path"], row["status"], row["error_msg"]) == (name, "failed", detail)
        assert reason in detail
        assert added(harness) == []
        track = (await api.get(f"/documents/track_status/{row['track_id']}")).json()
        assert track["documents"] == [row]
        elsewhere = await api.get(UPLOADS, headers={"X-Workspace": "other"})
        assert elsewhere.json()["uploads"] == []


async def test_a_row_goes_when_the_file_is_taken_or_it_is_deleted(api: httpx.AsyncClient) -> None:
    await send(api, "a.txt", b"")
    await send(api, "b.txt", b"")
    assert [row["file_path"] for row in await rows(api)] == ["b.txt", "a.txt"]
    assert (await send(api, "a.txt", b"text")).status_code == 200
    [row] = await rows(api)
    body = {"doc_ids": [row["id"]]}
    answer = await api.request("DELETE", "/documents/delete_document", json=body)
    assert (row["id"], answer.status_code) == ("doc-" + md5("b.txt"), 200)
    assert await rows(api) == []


async def test_a_row_is_removed_without_the_document_of_its_name(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    await send(api, "a.txt", b"one")
    await send(api, "a.txt", b"two")
    [row] = await rows(api)
    body = {"doc_ids": [row["id"], "doc-unknown"]}
    answer = await api.request("DELETE", UPLOADS, json=body)
    assert answer.json() == {"status": "success", "message": "1 of 2 are removed."}
    assert await rows(api) == []
    subjects = [message.subject for message in harness.log.messages]
    assert subjects and not any(subject.endswith("DocumentDeleted") for subject in subjects)


async def test_deleting_every_document_removes_what_was_refused_and_not_what_is_read(
    harness: QueryHarness,
) -> None:
    app = harness.app(settings=GatewaySettings(workspace="w"))
    async with client(app) as api:
        await send(api, "a.txt", b"")
        await UploadRecords(harness.uploads).put("w", replace(RUNNING, updated_at=time.time()))
        assert (await api.request("DELETE", "/documents?confirm=w")).status_code == 200
        assert [row["file_path"] for row in await rows(api)] == ["scan.pdf"]


async def test_another_text_of_a_name_is_refused_and_leaves_the_document(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    await send(api, "a.txt", b"one")
    assert (await send(api, "a.txt", b"two")).status_code == 409
    [row] = await rows(api)
    assert "replace=true" in row["error_msg"] and len(added(harness)) == 1
    assert (await send(api, "a.txt", b"two", "?replace=true")).status_code == 200
    assert await rows(api) == []


RUNNING = UploadRecord("upload_1", "scan.pdf", "abc", page_count=3, pages=1)


async def test_an_upload_of_which_nobody_speaks_any_more_is_interrupted() -> None:
    records = UploadRecords(MemorySharedValues())
    running = replace(RUNNING, updated_at=time.time())
    await records.put("w", running)
    assert await records.running("w", "scan.pdf", "abc") == running
    assert await records.remove("w", [RUNNING.document_id]) == 0, "it is still read"
    silent = replace(RUNNING, updated_at=time.time() - SILENCE - 1)
    await records.put("w", silent)
    [record] = await records.of("w")
    assert record == replace(silent, error=INTERRUPTED)
    assert await records.running("w", "scan.pdf", "abc") is None
    assert await records.remove("w", [RUNNING.document_id]) == 1


async def test_only_the_newest_records_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("publishing.upload_records.MAX_RECORDS", 3)
    records = UploadRecords(MemorySharedValues())
    for number in range(5):
        await records.put("w", replace(RUNNING, track_id=str(number)))
    await records.put("w", replace(RUNNING, track_id="3", pages=2))
    assert [(record.track_id, record.pages) for record in await records.of("w")] == [
        ("3", 2),
        ("4", 1),
        ("2", 1),
    ]
