"""Routes of LightRAG that have little to do here: each answers in its shape, or says why it does
not and what does.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from services.gateway.settings import GatewaySettings
from tests.support.access import KEY, behind, client
from tests.support.querying import QueryHarness
from tests.unit.gateway.documents.test_scans import ended


@pytest_asyncio.fixture
async def api() -> AsyncIterator[httpx.AsyncClient]:
    async with client(QueryHarness().app()) as api:
        yield api


async def test_there_is_no_conflict_to_list_or_to_repair(api: httpx.AsyncClient) -> None:
    assert (await api.get("/documents/source_conflicts?limit=5")).json() == {
        "conflicts": [],
        "next_cursor": None,
    }
    repair = {"canonical_source_key": "a.md", "primary_doc_id": "doc-1"}
    answer = await api.post("/documents/source_conflicts/repair", json=repair)
    assert answer.status_code == 501
    assert "delete_document" in answer.json()["detail"]


async def test_nothing_needs_a_reset(api: httpx.AsyncClient) -> None:
    answer = await api.post("/documents/recovery/force_reset", json={"confirm": True})
    assert (answer.status_code, answer.json()["status"]) == (200, "no_recovery_required")
    assert answer.json()["cancelled_manual_retries"] == 0
    assert (await api.post("/documents/recovery/force_reset", json={})).status_code == 400


async def test_pages_have_no_files_of_their_own(api: httpx.AsyncClient) -> None:
    answer = await api.get("/ui/customization/assets/0123abcd/logo")
    assert answer.status_code == 501
    assert "WEBUI_TITLE" in answer.json()["detail"]


async def test_the_page_to_read_needs_nothing_from_elsewhere(api: httpx.AsyncClient) -> None:
    page = await api.get("/redoc")
    assert page.status_code == 200
    assert "http://" not in page.text
    assert "https://" not in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    script = await api.get("/docs/redoc.standalone.js")
    assert (script.status_code, "redoc" in script.text.lower()) == (200, True)


@pytest.mark.parametrize(("docs", "status"), [(True, 200), (False, 401)])
async def test_it_is_shown_to_strangers_like_the_other_page(docs: bool, status: int) -> None:
    async with client(
        QueryHarness().app(behind(lightrag_api_key=KEY, enable_api_docs=docs))
    ) as api:
        assert ((await api.get("/redoc")).status_code == 200) is (status == 200)


async def test_a_scan_that_goes_on_shows_and_can_be_stopped(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    for number in range(40):
        (tmp_path / "w" / f"{number}.md").write_text(f"Text {number}.")
    harness = QueryHarness()
    async with client(
        harness.app(settings=GatewaySettings(workspace="w", input_dir=str(tmp_path)))
    ) as api:
        assert (await api.get("/documents/pipeline_status")).json()["scanning"] is False
        track = (await api.post("/documents/scan")).json()["track_id"]
        status = (await api.get("/documents/pipeline_status")).json()
        assert (status["scanning"], status["busy"], status["job_name"]) == (True, True, "scanning")
        elsewhere = await api.get("/documents/pipeline_status", headers={"X-Workspace": "other"})
        assert elsewhere.json()["scanning"] is False
        answer = (await api.post("/documents/cancel_pipeline")).json()
        assert (answer["status"], "1 scans" in answer["message"]) == (
            "cancellation_requested",
            True,
        )
        assert (await ended(api, track))["status"] == "cancelled"
        assert (await api.get("/documents/pipeline_status")).json()["scanning"] is False
    assert len(harness.log.messages) < 40


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "/documents/delete_document", {"doc_ids": [f"d{n}" for n in range(1001)]}),
        ("POST", "/documents/texts", {"texts": ["x"] * 1001}),
        ("POST", "/documents/paginated", {"status_filters": ["failed"] * 65}),
        (
            "POST",
            "/query",
            {"query": "Who leads?", "filter": {"document_ids": [f"d{n}" for n in range(1001)]}},
        ),
    ],
)
async def test_a_list_of_any_length_is_refused_with_the_limit(
    api: httpx.AsyncClient, method: str, path: str, body: dict[str, object]
) -> None:
    answer = await api.request(method, path, json=body)
    assert answer.status_code == 422
    assert "at most" in answer.text
