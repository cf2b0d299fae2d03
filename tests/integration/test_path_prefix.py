"""Behind a reverse proxy that shows the service below a path: redirects, the OpenAPI document,
pages and logins.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from runtime.errors import ConfigurationError
from services.gateway.auth.settings import AccessSettings
from services.gateway.settings import GatewaySettings
from tests.support.access import KEY, behind
from tests.support.querying import library_of_two
from tests.support.served import served
from tests.support.stripping_proxy import proxy

QUESTION = {"query": "Who discovered radium?", "mode": "naive"}


@asynccontextmanager
async def behind_proxy(
    prefix: str = "/rag",
    *,
    strips: bool = True,
    headers: dict[str, str] | None = None,
    **access: Any,
) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of the proxy; `access` are settings of the service behind it."""
    app = (await library_of_two()).app(behind(**access), settings=GatewaySettings(workspace="w"))
    async with (
        served(app) as service,
        proxy(service, prefix, strips=strips, headers=headers) as address,
        httpx.AsyncClient(base_url=address, timeout=120) as client,
    ):
        yield client


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A folder with LightRAG's page."""
    (tmp_path / "index.html").write_text(
        "<html><head><!-- __LIGHTRAG_RUNTIME_CONFIG__ --></head></html>"
    )
    return tmp_path


@pytest.mark.parametrize("strips", [True, False])
async def test_redirects_and_answers_stay_below_the_prefix(page: Path, strips: bool) -> None:
    async with behind_proxy(
        strips=strips, lightrag_api_prefix="/rag", webui_dir=str(page)
    ) as client:
        root = await client.get("/rag/")
        assert root.status_code == 307
        assert root.headers["location"] in ("/rag/ui/", "/rag/webui/")
        assert (await client.get("/rag")).headers["location"] == root.headers["location"]
        assert (await client.get("/rag/webui")).headers["location"] == "/rag/webui/"
        slash = await client.get("/rag/health/")
        assert (slash.status_code, slash.headers["location"]) == (307, "/rag/health")
        assert (await client.get("/rag/health")).status_code == 200
        assert (await client.get("/rag/docs")).status_code == 200
        assert (await client.get("/rag/docs/start.js")).status_code == 200
        assert (await client.post("/rag/query", json=QUESTION)).status_code == 200
        assert (
            '"apiPrefix": "/rag", "webuiPrefix": "/rag/webui/"'
            in (await client.get("/rag/webui/")).text
        )


async def test_the_openapi_document_names_the_server() -> None:
    async with behind_proxy(lightrag_api_prefix="rag/") as client:
        document = (await client.get("/rag/openapi.json")).json()
        assert document["servers"] == [{"url": "/rag"}]
        assert "/query" in document["paths"]
    async with behind_proxy("/rag") as client:
        assert "servers" not in (await client.get("/rag/openapi.json")).json()


async def test_credentials_are_asked_for_below_the_prefix_too() -> None:
    async with behind_proxy(
        strips=False, lightrag_api_prefix="/rag", lightrag_api_key=KEY
    ) as client:
        assert (await client.post("/rag/query", json=QUESTION)).status_code == 403
        assert (
            await client.post("/rag/query", json=QUESTION, headers={"X-API-Key": KEY})
        ).status_code == 200
        assert (await client.get("/rag/health")).status_code == 200
        assert (await client.get("/rag/documents/status_counts")).status_code == 403


async def test_a_proxy_that_is_believed_may_say_the_prefix() -> None:
    prefix = {"X-Forwarded-Prefix": "/kb/rag"}
    async with behind_proxy("/kb/rag", headers=prefix, forwarded_allow_ips="127.0.0.1") as client:
        assert (await client.get("/kb/rag/")).headers["location"].startswith("/kb/rag/")
        assert (await client.get("/kb/rag/openapi.json")).json()["servers"] == [{"url": "/kb/rag"}]
    async with behind_proxy("/rag", headers=prefix) as client:
        assert not (await client.get("/rag/")).headers["location"].startswith("/kb")


@pytest.mark.parametrize(
    "forged_prefix", ["//evil.example", "https://evil.example", "/a/../b", "/a b", "/a\\b"]
)
async def test_a_forged_prefix_leads_nowhere(forged_prefix: str) -> None:
    async with behind_proxy(
        headers={"X-Forwarded-Prefix": forged_prefix}, forwarded_allow_ips="127.0.0.1"
    ) as client:
        location = (await client.get("/rag/")).headers["location"]
        assert location.startswith("/")
        assert not location.startswith("//")
        assert "evil" not in location


@pytest.mark.parametrize("prefix", ["/a b", "/a/../b", "/a?b", "https://a"])
def test_a_prefix_that_is_no_path_is_refused(prefix: str) -> None:
    with pytest.raises(ConfigurationError, match="give a path"):
        AccessSettings(lightrag_api_prefix=prefix)
