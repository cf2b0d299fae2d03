"""Attacks by web pages: of other origins, and by what a browser would run."""

import pytest

from tests.support.access import (
    KEY,
    behind,
    client,
)
from tests.support.querying import QueryHarness

QUESTION = {"query": "Who discovered radium?"}


EVIL = "https://evil.example"


@pytest.mark.parametrize(
    "origin", [EVIL, "null", "http://localhost.evil.example", "http://localhost:81"]
)
async def test_s22_a_page_of_another_origin_is_told_nothing_and_changes_nothing(
    harness: QueryHarness, origin: str
) -> None:
    for app in (harness.app(behind()), harness.app(behind(lightrag_api_key=KEY))):
        async with client(app, Origin=origin, **{"X-API-Key": KEY}) as api:
            preflight = await api.options(
                "/query", headers={"Access-Control-Request-Method": "POST"}
            )
            answers = [
                preflight,
                await api.get("/documents/status_counts"),
                await api.post("/query", json=QUESTION),
            ]
            assert [a for a in answers if "access-control-allow-origin" in a.headers] == []
            assert preflight.status_code in {403, 405}
            assert not answers[2].cookies
    async with client(harness.app(behind()), Origin=origin) as api:
        assert (await api.post("/documents/text", json={"text": "poison"})).status_code == 403
    assert harness.log.messages == []


async def test_s22_a_page_that_has_its_own_name_lead_here_is_refused() -> None:
    async with client(QueryHarness().app(behind())) as api:
        for host in ("evil.example", "evil.example:9621", "127.0.0.1.evil.example", "[::1", ""):
            assert (
                await api.get("/documents/status_counts", headers={"Host": host})
            ).status_code == 403, host
        for host in ("localhost:9621", "127.0.0.1:9621", "[::1]:9621"):
            assert (
                await api.get("/documents/status_counts", headers={"Host": host})
            ).status_code == 200, host


async def test_s22_origins_that_are_named_may_call_and_never_with_cookies(
    harness: QueryHarness,
) -> None:
    app = harness.app(behind(lightrag_api_key=KEY, cors_origins="https://ours.example"))
    async with client(app, Origin="https://ours.example") as api:
        header_names = "x-api-key, idempotency-key"
        headers = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": header_names,
        }
        preflight = await api.options("/query", headers=headers)
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == "https://ours.example"
        assert "access-control-allow-credentials" not in preflight.headers
        answer = await api.post("/query", json=QUESTION, headers={"X-API-Key": KEY})
        assert "X-New-Token" in answer.headers["access-control-expose-headers"]
    async with client(app, Origin=EVIL) as api:
        assert (
            "access-control-allow-origin"
            not in (await api.options("/query", headers=headers)).headers
        )
    async with client(
        harness.app(behind(lightrag_api_key=KEY, cors_origins="*")), Origin=EVIL
    ) as api:
        answer = await api.get("/health")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers


async def test_answers_are_kept_from_being_run_framed_or_kept() -> None:
    async with client(QueryHarness().app(behind(lightrag_api_key=KEY))) as api:
        for path in (
            "/health",
            "/documents/status_counts",
            "/login",
            "/docs",
            "/nowhere",
            "/docs/swagger-ui.css",
        ):
            headers = (await api.get(path)).headers
            assert headers["X-Content-Type-Options"] == "nosniff", path
            assert headers["Referrer-Policy"] == "no-referrer", path
            assert headers["X-Frame-Options"] == "DENY", path
            policy = headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in policy, path
            assert "default-src 'none'" in policy, path
            assert "unsafe-inline" not in policy.split("style-src")[0], path


async def test_the_page_about_the_api_needs_nothing_from_elsewhere() -> None:
    async with client(QueryHarness().app(behind())) as api:
        page = (await api.get("/docs")).text
        assert "//" not in page
        assert "<script>" not in page
        for name in (
            "docs/swagger-ui.css",
            "docs/swagger-ui-bundle.js",
            "docs/start.js",
            "openapi.json",
        ):
            assert name in page + (await api.get("/docs/start.js")).text
            assert (await api.get(f"/{name}")).status_code == 200
        assert (
            (await api.get("/docs/swagger-ui-bundle.js"))
            .headers["Content-Type"]
            .startswith("text/javascript")
        )
        for name in ("..%2f__init__.py", "core.py", "%2e%2e", "%2e%2e/core.py"):
            assert (await api.get(f"/docs/{name}")).status_code == 404
