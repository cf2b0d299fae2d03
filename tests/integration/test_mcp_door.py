"""MCP over HTTP is no way in: no web page, no other name of this machine, no stranger beyond it, no
doubled header.
"""

import asyncio
import json
import os
from typing import Any

import httpx
import pytest

from mcp_server.access import CACHE_SIZE, AccessMiddleware
from mcp_server.query_service import CallerClients, connection_pool
from mcp_server.server import HttpOptions, create_app
from services.gateway.auth.config import AuthConfig
from tests.support.access import READER, SEVERAL, WRITER, behind
from tests.support.commands import ROOT, Forked
from tests.support.mcp_servers import listening, over_http, serving
from tests.support.shared_servers import SharedServers

PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


async def posted(at: str, body: Any = PING, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        return await client.post(at, json=body, headers={**ACCEPT, **headers})


async def test_only_this_machines_own_names_are_answered_and_no_web_page() -> None:
    async with listening() as url, serving(url) as at:
        port = at.split(":")[2].split("/")[0]
        assert (await posted(at)).status_code == 200
        assert (await posted(at, Host=f"localhost:{port}")).status_code == 200
        for host in (
            "evil.example",
            f"evil.example:{port}",
            f"127.0.0.1.evil.example:{port}",
            "[::1",
            "",
        ):
            assert (await posted(at, Host=host)).status_code in (400, 421), host
        for origin in (
            "http://evil.example",
            f"http://127.0.0.1:{port}",
            "http://localhost:3000",
            "null",
        ):
            assert (await posted(at, Origin=origin)).status_code == 403, origin
        async with httpx.AsyncClient(trust_env=False) as client:
            headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
            answer = await client.options(at, headers=headers)
            assert "access-control-allow-origin" not in answer.headers
            form = await client.post(at, data={"a": "b"}, headers=ACCEPT)
            assert form.status_code == 400
            assert "server" not in form.headers


async def test_a_request_that_is_too_large_or_no_json_is_refused() -> None:
    async with listening() as url, serving(url) as at:
        assert (await posted(at, {**PING, "params": {"x": "y" * 9_000_000}})).status_code == 413
        async with httpx.AsyncClient(trust_env=False) as client:
            headers = {**ACCEPT, "Content-Type": "application/json"}
            assert (await client.post(at, content=b"{", headers=headers)).status_code == 400
            assert (
                await client.post(at, content=b"[" * 100_000, headers=headers)
            ).status_code == 400


async def test_a_header_that_says_who_asks_is_not_taken_twice() -> None:
    async with listening(behind(lightstream_api_keys=SEVERAL)) as url, serving(url) as at:
        async with httpx.AsyncClient(trust_env=False) as client:
            twice = [*ACCEPT.items(), ("X-API-Key", READER), ("X-API-Key", WRITER)]
            answer = await client.post(at, json=PING, headers=twice)
        assert (answer.status_code, answer.json()["error"]["message"]) == (
            400,
            "the header X-API-Key must not be given twice",
        )
        two = {"X-API-Key": READER, "X-Workspace": "w", "LIGHTRAG-WORKSPACE": "v"}
        assert (await posted(at, **two)).status_code == 400


@pytest.fixture
def forked_command(shared_servers: SharedServers) -> Forked:
    return Forked(shared_servers)


async def ended(forked_command: Forked, url: str, *arguments: str, **env: str) -> tuple[int, str]:
    """Exit code and output of a server that does not start."""
    command = ["mcp", "--http", "--json", "--url", url, *arguments]
    process = await asyncio.to_thread(
        forked_command, command, {"PATH": os.environ["PATH"], **env}, ROOT
    )
    return process.returncode, json.loads(process.stdout)["error"]["message"]


async def test_beyond_this_machine_it_starts_only_before_a_service_that_asks_for_credentials(
    forked_command: Forked,
) -> None:
    beyond = {"LIGHTSTREAM_MCP_HOST": "0.0.0.0"}
    async with listening() as url:
        code, message = await ended(forked_command, url, "--port", "0", **beyond)
        assert (code, "asks nobody for credentials" in message) == (1, True)
    code, message = await ended(forked_command, "http://127.0.0.1:1", "--port", "0", **beyond)
    assert (code, "does not answer" in message) == (3, True)
    async with (
        listening(behind(lightstream_api_keys=SEVERAL)) as url,
        serving(url, LIGHTSTREAM_MCP_NAMES="books.example", **beyond) as address,
    ):
        at = address.replace("0.0.0.0", "127.0.0.1")
        assert (await posted(at)).status_code == 403
        assert (
            await posted(at, **{"X-API-Key": READER, "Host": "books.example"})
        ).status_code == 200
        assert (
            await posted(at, **{"X-API-Key": READER, "Host": "evil.example"})
        ).status_code == 421
        async with over_http(at, **{"X-API-Key": READER}) as client:
            assert not (await client.call_tool("list_documents", {})).is_error


async def test_a_port_that_is_taken_is_named(forked_command: Forked) -> None:
    async with listening() as url, serving(url) as at:
        port = at.split(":")[2].split("/")[0]
        code, message = await ended(forked_command, url, "--port", port)
    assert (code, f"port {port}" in message) == (1, True)


@pytest.mark.parametrize(
    "url", ["ftp://x", "http://", "http://user:secret@x", "nonsense", "http://[::1"]
)
async def test_an_address_that_is_none_is_refused(forked_command: Forked, url: str) -> None:
    code, message = await ended(forked_command, url)
    assert (code, "--url must be" in message, "secret" in message) == (2, True, False)


async def judged(config: AuthConfig | None, *, strict: bool, **headers: str) -> int:
    """The status code behind the middleware in this process."""
    async with listening(config) as url, connection_pool() as pool:
        app = create_app(
            CallerClients(pool, lambda: url, {}),
            HttpOptions("0.0.0.0" if strict else "127.0.0.1", 0),
        )
        assert isinstance(app, AccessMiddleware)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost"
        ) as client:
            return (await client.get("/nothing", headers=headers)).status_code


async def test_a_service_that_stops_asking_for_credentials_refuses_everybody_beyond_this_machine() -> (  # noqa: E501
    None
):
    assert await judged(None, strict=True, **{"X-API-Key": READER}) == 403
    assert await judged(None, strict=False) == 404
    assert (
        await judged(behind(lightstream_api_keys=SEVERAL), strict=True, **{"X-API-Key": READER})
        == 404
    )
    assert await judged(behind(lightstream_api_keys=SEVERAL), strict=True) == 403


async def test_no_more_callers_are_remembered_than_there_is_room() -> None:
    async with listening() as url, connection_pool() as pool:
        app = create_app(CallerClients(pool, lambda: url, {}), HttpOptions("127.0.0.1", 0))
        assert isinstance(app, AccessMiddleware)
        app._admitted |= {str(number): 0.0 for number in range(CACHE_SIZE)}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost"
        ) as client:
            await client.get("/nothing", headers={"X-API-Key": "anything"})
        assert len(app._admitted) == CACHE_SIZE
