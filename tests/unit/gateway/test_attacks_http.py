"""Attacks on the HTTP API: other tenants' things, odd input, malformed bodies."""

import json
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from runtime.errors import Unavailable
from services.gateway.auth.permissions import required_right
from tests.support.access import (
    KEY,
    READER,
    SEVERAL,
    behind,
    client,
    keyed,
)
from tests.support.described_routes import described_routes
from tests.support.querying import QueryHarness

QUESTION = {"query": "Who discovered radium?"}


async def test_s03_what_a_foreign_key_asks_for_is_as_if_it_were_not_there(
    harness: QueryHarness,
) -> None:
    await harness.index(
        "theirs", "Nobody may know of the silver mine.", workspace="v", version=9000
    )
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), READER) as api:
        body = {"page_size": 200}
        assert "theirs" not in (await api.post("/documents/paginated", json=body)).text
        assert (
            "silver"
            not in (
                await api.post("/query/data", json={"query": "silver mine", "mode": "naive"})
            ).text
        )
        answer = await api.get("/documents/track_status/theirs")
        assert (answer.status_code, answer.json()["documents"]) == (200, [])


@pytest.mark.parametrize(
    "name", ["v", "V", "v%00", "%76", "ｖ", "v/../w", "w,v", "w;v", "*", "../v", "w\tv"]
)
async def test_s04_naming_another_workspace_never_leads_there(
    harness: QueryHarness, name: str
) -> None:
    await harness.index("theirs", "A silver mine.", workspace="v", version=9000)
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    header = {"X-Workspace": name.encode()}
    async with keyed(app, READER) as api:
        answer = await api.get("/documents/status_counts", headers=header)  # type: ignore[arg-type]
        assert answer.status_code == 403
        for body in ({"workspace": name}, {"tenant": name}, {"collection": name}):
            inside = await api.post(
                "/query/data", json={"query": "silver mine", "mode": "naive", **body}
            )
            assert "silver" not in inside.text
        response = await api.get(
            "/documents/status_counts", params={"workspace": name, "tenant": name}
        )
        assert response.json()["status_counts"]["all"] == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"top_k": 1e9},
        {"top_k": -1},
        {"top_k": "40; drop"},
        {"mode": "__class__"},
        {"chunk_top_k": 0},
        {"query": 7},
        {"query": {"$ne": None}},
        {"max_total_tokens": 10**12},
        {"hl_keywords": ["x"] * 65},
        {"min_position": -1},
        {"filter": "1 == 1"},
    ],
)
async def test_s05_a_question_cannot_be_widened(
    harness: QueryHarness, fields: dict[str, Any]
) -> None:
    async with keyed(harness.app(behind(lightrag_api_key=KEY)), KEY) as api:
        assert (await api.post("/query", json={**QUESTION, **fields})).status_code == 422


async def test_s05_fields_nobody_knows_give_no_rights(harness: QueryHarness) -> None:
    fields = {"is_admin": True, "tenant_id": "v", "right": "write", "file_path": "/etc/passwd"}
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), READER) as api:
        answer, wider_answer = [
            await api.post("/query", json={**QUESTION, **extra}) for extra in ({}, fields)
        ]
        assert answer.json()["response"] == wider_answer.json()["response"]
        assert (await api.post("/documents/text", json={"text": "x", **fields})).status_code == 403


async def test_s06_who_may_read_changes_nothing_on_any_route(harness: QueryHarness) -> None:
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    async with keyed(app, READER) as api:
        for method, path in described_routes():
            if required_right(method, path) == "write":
                answer = await api.request(method, path, json={})
                assert (answer.status_code, answer.json()["detail"]) == (
                    403,
                    "these credentials may read only",
                )
        for method in ("PUT", "PATCH", "DELETE", "POST"):
            assert (await api.request(method, "/v1/admin/replays")).status_code == 403
    assert harness.log.messages == []


async def test_s06_pages_about_the_api_can_be_taken_away() -> None:
    async with client(
        QueryHarness().app(behind(lightrag_api_key=KEY, enable_api_docs=False))
    ) as api:
        for path in ("/docs", "/openapi.json", "/docs/start.js", "/redoc"):
            assert (await api.get(path)).status_code == 403
    async with keyed(
        QueryHarness().app(behind(lightrag_api_key=KEY, enable_api_docs=False)), KEY
    ) as api:
        for path in ("/docs", "/openapi.json", "/docs/start.js", "/redoc"):
            assert (await api.get(path)).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"status_filter": {"$ne": None}},
        {"status_filters": [{"$where": "sleep(5000)"}]},
        {"status_filter": ["processed"]},
        {"page": {"$gt": 0}},
        {"sort_field": "$where"},
        {"sort_field": "status.$regex"},
        {"sort_direction": {"$nor": []}},
    ],
)
async def test_s10_operators_of_a_database_are_no_values(body: dict[str, Any]) -> None:
    async with keyed(QueryHarness().app(behind(lightrag_api_key=KEY)), KEY) as api:
        assert (await api.post("/documents/paginated", json=body)).status_code == 422


@pytest.mark.parametrize(
    "status", ["$ne", "processed' or '1'='1", "[$regex]", "processed\0", '"; return true; "']
)
async def test_s10_a_filter_that_looks_like_a_query_finds_nothing(
    harness: QueryHarness, status: str
) -> None:
    async with keyed(harness.app(behind(lightrag_api_key=KEY)), KEY) as api:
        answer = await api.post("/documents/paginated", json={"status_filter": status})
        assert (answer.status_code, answer.json()["documents"]) == (200, [])


@pytest.mark.parametrize(
    "source", ["/etc/passwd", "file:///etc/passwd", "../../x", "http://169.254.169.254/latest"]
)
async def test_s12_a_source_is_a_name_and_is_never_opened(
    harness: QueryHarness, source: str
) -> None:
    async with keyed(harness.app(behind(lightrag_api_key=KEY)), KEY) as api:
        answer = await api.post(
            "/documents/text", json={"text": "Port Elm.", "file_source": source}
        )
    assert answer.status_code == 200
    event = json.loads(harness.log.messages[-1].data)["data"]
    assert (event["text"], "/" in event["file_path"]) == ("Port Elm.", False)


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"query": "\\ud800\\ud800 what"}',
        b"\xff\xfe",
        b"[]",
        b'{"query": NaN}',
        b"",
        b"[" * 5000,
    ],
)
async def test_s23_malformed_bodies_are_the_callers_mistake_and_nothing_is_told(
    content: bytes,
) -> None:
    async with keyed(QueryHarness().app(behind(lightrag_api_key=KEY)), KEY) as api:
        for path in (
            "/query",
            "/query/data",
            "/documents/text",
            "/documents/texts",
            "/documents/paginated",
        ):
            answer = await api.post(
                path, content=content, headers={"Content-Type": "application/json"}
            )
            assert answer.status_code < 500, f"{path}: {answer.text}"
            assert not [
                word
                for word in ("Traceback", 'File "', "/site-packages/", KEY)
                if word in answer.text
            ]


async def test_s23_a_broken_part_is_told_by_an_id_alone(harness: QueryHarness) -> None:
    class Broken:
        async def counts(self, *_: Any) -> Any:
            raise Unavailable("mongodb://user:hunter22@store refused the connection")

    class Buggy:
        async def counts(self, *_: Any) -> Any:
            raise RuntimeError(f"hunter22 {KEY} /srv/app/file.py")

    for documents, status in ((Broken(), 503), (Buggy(), 500)):
        projections = replace(harness.projections(), documents=documents)
        app = harness.app(behind(lightrag_api_key=KEY), projections=projections)
        with capture_logs():
            async with keyed(app, KEY) as api:
                answer = await api.get("/documents/status_counts")
        assert (answer.status_code, "error_id" in answer.text) == (status, True)
        assert not [word for word in ("hunter22", KEY, "srv", "mongodb") if word in answer.text]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
