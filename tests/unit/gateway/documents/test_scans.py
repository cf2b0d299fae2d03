"""Scans of a folder over HTTP: one at a time, of the workspace's own folder."""

import asyncio
from pathlib import Path
from typing import Any

import httpx

from services.gateway.settings import GatewaySettings
from tests.support.parsing_services import parsing_server
from tests.support.querying import QueryHarness, texts
from tests.unit.gateway.test_api import client


async def test_a_scan_needs_a_folder(api: httpx.AsyncClient) -> None:
    answer = await api.post("/documents/scan")
    assert (answer.status_code, "INPUT_DIR" in answer.json()["detail"]) == (501, True)
    assert (await api.get("/documents/scan/status/scan_nobody")).status_code == 404


def scanning(harness: QueryHarness, inputs: Path) -> Any:
    return client(harness.app(settings=GatewaySettings(workspace="w", input_dir=str(inputs))))


async def test_a_scan_adds_what_is_read_and_says_what_is_not(
    harness: QueryHarness, tmp_path: Path
) -> None:
    folder = tmp_path / "in" / "w"
    outside = tmp_path / "outside.txt"
    (folder / "deep" / ".git").mkdir(parents=True)
    outside.write_text("secret")
    for name in (
        "a.txt",
        "deep/a.txt",
        ".hidden.txt",
        "deep/.git/b.txt",
        "film.gif",
        "any.unheard",
    ):
        (folder / name).write_text(f"text of {name}")
    (folder / "link.txt").symlink_to(outside)
    (folder / "binary.txt").write_bytes(b"\x7fELF\0\1\2" * 50)
    (folder / "short.txt").write_bytes("Müller".encode("cp1252"))
    async with scanning(harness, tmp_path / "in") as api:
        scan = (await api.post("/documents/scan")).json()
        assert (scan["status"], scan["track_id"].startswith("scan_")) == (
            "scanning_started",
            True,
        )
        result = await ended(api, scan["track_id"])
        assert (result["status"], result["counts"]["processed"], result["counts"]["error"]) == (
            "completed",
            4,
            1,
        )
        assert result["samples"]["processed"]["items"] == [
            "a.txt",
            "any.unheard",
            "deep/a.txt",
            "short.txt",
        ]
        assert "binary.txt" in result["samples"]["error"]["items"][0]
        assert "short.txt: read as" in result["samples"]["warning"]["items"][0]
        again = await ended(api, (await api.post("/documents/scan")).json()["track_id"])
        assert (again["counts"]["processed"], again["counts"]["unchanged"]) == (0, 4)
        elsewhere = await api.get(
            f"/documents/scan/status/{scan['track_id']}", headers={"X-Workspace": "other"}
        )
        assert elsewhere.status_code == 404
    assert sorted(filter(None, texts(harness))) == [
        "Müller",
        "text of a.txt",
        "text of any.unheard",
        "text of deep/a.txt",
    ]


async def test_a_scan_finds_what_only_a_service_reads(
    harness: QueryHarness, tmp_path: Path
) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "tides.bmp").write_bytes(b"BM" + bytes(200))
    async with parsing_server() as server:
        settings = GatewaySettings(
            workspace="w",
            input_dir=str(tmp_path),
            lightrag_parser="bmp:docling-P",
            docling_endpoint=server.url,
        )
        async with client(harness.app(settings=settings)) as api:
            result = await ended(api, (await api.post("/documents/scan")).json()["track_id"])
    assert result["samples"]["processed"]["items"] == ["tides.bmp"]
    (text,) = texts(harness)
    assert "| Monday | 3.1 m |" in (text or "")


async def test_a_scan_reads_the_folder_of_its_workspace_only(
    harness: QueryHarness, tmp_path: Path
) -> None:
    for name in ("w/a.txt", "other/b.txt", "loose.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}")
    async with scanning(harness, tmp_path) as api:
        result = await ended(api, (await api.post("/documents/scan")).json()["track_id"])
        assert result["samples"]["processed"]["items"] == ["a.txt"]
        refusal = await api.post("/documents/scan", headers={"X-Workspace": "third"})
        assert refusal.status_code == 404
        assert "no folder third: make it" in refusal.json()["detail"]
    assert texts(harness) == ["text of w/a.txt"]


async def test_a_workspace_has_one_scan_at_a_time_among_processes(
    harness: QueryHarness, tmp_path: Path
) -> None:
    for workspace in ("w", "other"):
        (tmp_path / workspace).mkdir()
        for number in range(30):
            (tmp_path / workspace / f"{number}.txt").write_text(f"text {number}")
    async with scanning(harness, tmp_path) as api, scanning(harness, tmp_path) as neighbour:
        first = (await api.post("/documents/scan")).json()
        second = (await api.post("/documents/scan")).json()
        elsewhere = (await neighbour.post("/documents/scan")).json()
        foreign = (await api.post("/documents/scan", headers={"X-Workspace": "other"})).json()
        assert (second["status"], second["track_id"]) == (
            "scanning_skipped_pipeline_busy",
            first["track_id"],
        )
        assert (elsewhere["status"], elsewhere["track_id"]) == (
            "scanning_skipped_pipeline_busy",
            "",
        )
        assert foreign["status"] == "scanning_started"
        assert (await ended(api, first["track_id"]))["counts"]["processed"] == 30
        assert (await neighbour.post("/documents/scan")).json()["status"] == "scanning_started"


async def ended(api: httpx.AsyncClient, track_id: str) -> Any:
    async with asyncio.timeout(20):
        while True:
            result = (await api.get(f"/documents/scan/status/{track_id}")).json()
            if result["status"] != "running":
                return result
            await asyncio.sleep(0.02)
