"""A new stack on the PostgreSQL that LightRAG's variables name: the server and services are killed
while documents go through, and everything ends as if nothing had happened.
"""

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.corpus import documents
from tests.support.postgres_server import data_folder, postgres_server
from tests.support.stack import Stack, at_rest, running, until

pytestmark = pytest.mark.nightly  # on the stores of the folder: test_kills.py

COUNT = 40


def lightrags_file(folder: Path, url: str) -> str:
    """A settings file of LightRAG for the database, by name."""
    server = urlsplit(url)
    file = folder / "lightrag.env"
    file.write_text(
        "LIGHTRAG_KV_STORAGE=PGKVStorage\nLIGHTRAG_GRAPH_STORAGE=PGGraphStorage\n"
        "LIGHTRAG_VECTOR_STORAGE=PGVectorStorage\n"
        f"POSTGRES_HOST={server.hostname}\nPOSTGRES_PORT={server.port}\n"
        f"POSTGRES_USER={server.username}\nPOSTGRES_PASSWORD={server.password}\n"
        f"POSTGRES_DATABASE={server.path.strip('/')}\n"
    )
    return str(file)


async def test_a_killed_server_and_killed_services_change_nothing(tmp_path: Path) -> None:
    with data_folder() as files:
        server, url = postgres_server(tmp_path, files)
        await server.start()
        try:
            file = lightrags_file(tmp_path, url)
            with running(tmp_path / "data", "--stores", file) as stack:
                calm = await asyncio.to_thread(indexed, stack, "calm")
                storm = asyncio.create_task(asyncio.to_thread(indexed, stack, "storm"))
                for victim in ("merger", "indexer", "query"):
                    # Not for luck: the kills are to fall into different moments of the work.
                    await asyncio.sleep(1.5)
                    assert not storm.done(), "the kill came too late to disturb anything"
                    await server.kill()
                    stack.kill(victim)
                    await asyncio.sleep(0.7)
                    await server.start()
                assert await storm == calm
                await asyncio.to_thread(until, lambda: at_rest(stack))
                refusal = Stack(tmp_path / "other", {}).run("up", "--detach", "--stores", file)
                assert refusal.returncode == 2
                assert "already holds data" in refusal.stderr
        finally:
            await server.stop()


def indexed(stack: Stack, workspace: str) -> dict[str, Any]:
    """Index the documents in a workspace of their own, and return its digest."""
    stack.add(documents(COUNT), workspace)
    assert stack.settled(COUNT, workspace)["processed"] == COUNT
    return stack.digest(workspace)
