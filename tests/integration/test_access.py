"""A real query service on a real bus: it does not listen to others without credentials, and then
asks for them.
"""

import asyncio
from pathlib import Path

import httpx
import pytest
from nats.js import JetStreamContext

from embedded.processes import free_port, listening
from operations.query_service import query_client as asking
from runtime.errors import ConfigurationError, Unavailable
from tests.support.access import KEY
from tests.support.nats_server import BusServer, until
from tests.support.services import logs, page, service

SECRET = "hunter22"


@pytest.mark.parametrize(
    ("env", "names"),
    [
        ({"HOST": "0.0.0.0"}, "LIGHTRAG_API_KEY"),
        ({"HOST": "::", "LIGHTRAG_API_KEY": SECRET}, "can be guessed"),
        ({"AUTH_ACCOUNTS": f"ada:{SECRET}"}, "TOKEN_SECRET"),
        ({"AUTH_ACCOUNTS": f"ada:{SECRET}", "TOKEN_SECRET": SECRET}, "TOKEN_SECRET"),
    ],
)
async def test_a_service_that_would_let_anybody_in_never_listens(
    tmp_path: Path, env: dict[str, str], names: str
) -> None:
    port = str(free_port())
    async with service("query", tmp_path, wait=False, **{"PORT": port, **env}) as process:
        assert await asyncio.wait_for(process.wait(), 60) == 1
        (line,) = [line for line in logs(process) if line["event"] == "cannot start"]
        assert names in line["reason"]
        assert SECRET not in process.log.read_text("utf-8")
        assert not listening(int(port))


async def test_a_published_service_asks_for_its_key_and_a_command_brings_it(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {
        "NATS_URL": server.url,
        "HOST": "0.0.0.0",
        "LIGHTRAG_API_KEY": KEY,
        "MAX_TOTAL_TOKENS": "100",
    }
    async with service("query", tmp_path, wait=False, **variables) as process:

        async def answering() -> bool:
            return (await page(process, "live"))[0] == 200

        await until(answering, "a page that says it lives")
        base = f"http://127.0.0.1:{process.env['PORT']}"
        async with httpx.AsyncClient(base_url=base, trust_env=False) as stranger:
            refusal = await stranger.get("/documents/status_counts")
            assert (refusal.status_code, refusal.json()) == (403, {"detail": "API Key required"})
            assert "server" not in refusal.headers
            assert (await stranger.get("/health/ready")).status_code == 503
        async with asking(base, "default") as command:
            with pytest.raises(
                ConfigurationError, match=r"API Key required; .*LIGHTSTREAM_API_KEY"
            ):
                await command.status_counts()
        monkeypatch.setenv("LIGHTRAG_API_KEY", KEY)
        async with asking(base, "default") as command:
            with pytest.raises(
                Unavailable, match="starting"
            ):  # its stores are not there: the key was enough
                await command.status_counts()
        assert "leave nothing of MAX_TOTAL_TOKENS" in process.log.read_text("utf-8")
        assert KEY not in process.log.read_text("utf-8")
