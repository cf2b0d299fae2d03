"""The files that documents are read from: kept where that is wanted, given to who sees the
document.
"""

import httpx
import pytest

from services.gateway.settings import GatewaySettings
from tests.support.access import behind, client, keyed
from tests.support.pdf_files import pdf
from tests.support.querying import QueryHarness, projected

KEEPING = GatewaySettings(workspace="w", keep_originals=True)
READER = "reads-0123456789abcdef"
LAWYER = "reads-law-0123456789abcdef"


async def upload(api: httpx.AsyncClient, name: str, data: bytes, query: str = "") -> str:
    answer = await api.post(f"/documents/upload{query}", files={"file": (name, data)})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["documents"][0]["id"])


async def test_a_file_comes_back_byte_for_byte_and_no_browser_runs_it() -> None:
    harness = QueryHarness()
    page = b"<html><body>The tide <script>alert(1)</script> gauge.</body></html>"
    async with client(harness.app(settings=KEEPING)) as api:
        for name, data, media_type in (
            ("report ü.pdf", pdf("first page", "second page"), "application/pdf"),
            ("page.html", page, "application/octet-stream"),
        ):
            id = await upload(api, name, data)
            await projected(harness)
            document = (await api.get("/documents/by_id", params={"doc_id": id})).json()
            answer = await api.get(f"/documents/{id}/original")
            assert (answer.content, document["original_size"]) == (data, len(data))
            assert answer.headers["content-type"].startswith(media_type)
            assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
            assert "sandbox" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"


async def test_the_page_of_a_character_is_told() -> None:
    harness = QueryHarness()
    async with client(harness.app(settings=KEEPING)) as api:
        id = await upload(api, "report.pdf", pdf("first page", "second page"))
        await projected(harness)
        path = f"/documents/{id}/original"
        pages = [
            (await api.get(path, params={"character": place})).headers.get("lightstream-page")
            for place in (0, 5, 15, 10_000)
        ]
    assert pages == ["1", "1", "2", "2"]


async def test_without_the_setting_nothing_is_kept_and_a_later_upload_brings_the_file() -> None:
    harness = QueryHarness()
    data = pdf("first page")
    async with client(harness.app()) as api:
        id = await upload(api, "report.pdf", data)
        await projected(harness)
        answer = await api.get(f"/documents/{id}/original")
        assert (answer.status_code, "KEEP_ORIGINALS" in answer.text) == (404, True)
        assert not harness.blobs.texts
    async with client(harness.app(settings=KEEPING)) as api:
        for _ in range(2):
            await upload(api, "report.pdf", data)
        await projected(harness)
        assert (await api.get(f"/documents/{id}/original")).content == data
    assert len(harness.blobs.texts) == 1


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_who_does_not_see_the_document_does_not_get_its_file(is_deleted: bool) -> None:
    harness = QueryHarness()
    access = behind(
        lightstream_api_keys=f"reader:{READER}:w:read,lawyer:{LAWYER}:w:read",
        lightstream_principals="key:reader=user:bo, key:lawyer=user:ann group:legal",
    )
    async with client(harness.app(settings=KEEPING)) as api:
        id = await upload(api, "plan.pdf", pdf("vermilion"))
        change = {"access": {"allow": ["group:legal"]}}
        await api.put("/documents/access", params={"doc_id": id}, json=change)
        if is_deleted:
            await api.request("DELETE", "/documents/delete_document", json={"doc_ids": [id]})
        await projected(harness)
    app = harness.app(access, settings=KEEPING)
    codes: list[int] = []
    for key in (READER, LAWYER):
        async with keyed(app, key, "w") as api:
            codes.append((await api.get(f"/documents/{id}/original")).status_code)
    assert codes == ([404, 404] if is_deleted else [404, 200])


async def test_a_page_is_drawn_with_its_marks_for_who_sees_the_document() -> None:
    harness = QueryHarness()
    text = "The tide gauge stands at the long pier."
    async with client(harness.app(settings=KEEPING)) as api:
        id = await upload(api, "report.pdf", pdf("first page", text))
        plain_id = await upload(api, "notes.txt", b"The tide gauge.")
        await projected(harness)
        path = f"/documents/{id}/page"
        start = len("first page\n\n")
        marked_page = await api.get(path, params={"marks": f"{start}-{start + len(text)}"})
        first_page = await api.get(path, params={"number": 1, "marks": f"{start}-{start + 9}"})
        statuses = [
            (await api.get(f"/documents/{document}/page", params=query)).status_code
            for document, query in (
                (id, {"number": "3"}),
                (id, {"marks": "9"}),
                (plain_id, {}),
                ("nothing", {}),
            )
        ]
    assert marked_page.headers["content-type"] == "image/webp"
    assert "sandbox" in marked_page.headers["content-security-policy"]
    assert 0.1 < float(marked_page.headers["lightstream-mark"]) < 0.2
    assert [page_of(answer) for answer in (marked_page, first_page)] == [("2", "2"), ("1", "2")]
    assert "lightstream-mark" not in first_page.headers
    assert statuses == [422, 422, 404, 404]


def page_of(answer: httpx.Response) -> tuple[str, str]:
    assert answer.status_code == 200, answer.text
    return answer.headers["lightstream-page"], answer.headers["lightstream-pages"]


async def test_pages_are_of_the_version_that_is_asked_for() -> None:
    harness = QueryHarness()
    async with client(harness.app(settings=KEEPING)) as api:
        id = await upload(api, "report.pdf", pdf("one", "two", "three"))
        sequence = harness.log.messages[-1].sequence
        await upload(api, "report.pdf", pdf("one"), "?replace=true")
        await projected(harness)
        earlier_page = await api.get(f"/documents/{id}/page", params={"as_of": sequence})
        newest_page = await api.get(f"/documents/{id}/page")
    assert [page_of(answer)[1] for answer in (earlier_page, newest_page)] == ["3", "1"]
