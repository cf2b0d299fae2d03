"""What LightRAG keeps in PostgreSQL comes over as what it keeps in files does, and answers."""

import asyncio
import os
import subprocess
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from operations.importing import export_lightrag
from operations.importing.lightrag_files import read_folder
from operations.importing.plan import plan_import
from runtime.models.tokens import CACHE_VARIABLE, install
from tests.peer.test_lightrag_folder import FOLDER, PYTHON, TESTS, content, edits
from tests.support.postgres_server import shared_postgres
from tests.support.shared_servers import SharedServers
from tests.support.stack import Stack, running

DATABASE = "lightrag"
SETTINGS = """
LIGHTRAG_KV_STORAGE=PGKVStorage
LIGHTRAG_DOC_STATUS_STORAGE=PGDocStatusStorage
LIGHTRAG_VECTOR_STORAGE=PGVectorStorage
LIGHTRAG_GRAPH_STORAGE=NetworkXStorage
POSTGRES_HOST={server.hostname}
POSTGRES_PORT={server.port}
POSTGRES_USER={server.username}
POSTGRES_PASSWORD='{server.password}'
POSTGRES_DATABASE=lightrag
WORKING_DIR=./rag_storage
"""
"""The `.env` of a LightRAG on PostgreSQL. Its graph is a file: Apache AGE comes in no package."""


async def run_statement(url: str, statement: str) -> None:
    """Run a statement that no transaction may hold."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@pytest.fixture(scope="module")
def lightrag(
    shared_servers: SharedServers, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Path]:
    """The folder of a LightRAG, whose `.env` names the stores that it has filled."""
    url = shared_postgres(shared_servers)
    asyncio.run(run_statement(url, f"CREATE DATABASE {DATABASE}"))
    folder = tmp_path_factory.mktemp("lightrag")
    install("o200k_base", folder / "tokens")
    (folder / ".env").write_text(SETTINGS.format(server=urlsplit(url)), "utf-8")
    run(TESTS / "peer" / "lightrag_folder.py", folder, "rag_storage")
    yield folder
    asyncio.run(run_statement(url, f"DROP DATABASE {DATABASE} WITH (FORCE)"))


def run(script: str | Path, folder: Path, target: str) -> None:
    """Run a script in LightRAG's environment, in the folder of its `.env`."""
    environment = {**os.environ, CACHE_VARIABLE: str(folder / "tokens")}
    command = [str(PYTHON), str(script), target]
    done = subprocess.run(
        command, env=environment, cwd=folder, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """A stack without a language model."""
    with running(tmp_path_factory.mktemp("importing") / "data") as stack:
        yield stack


def test_what_postgresql_holds_is_planned_as_what_files_hold(lightrag: Path) -> None:
    assert not list((lightrag / "rag_storage").glob("kv_store_*")), "its rows are in the database"
    run(export_lightrag.__file__, lightrag, "exported")
    plan = plan_import(read_folder(lightrag / "exported"))
    of_files = plan_import(read_folder(FOLDER))
    assert content(plan) == content(of_files) and edits(of_files) <= edits(plan)


def test_an_exported_lightrag_answers_without_a_call_of_a_model(
    lightrag: Path, stack: Stack
) -> None:
    for target in ("first", "second"):
        run(export_lightrag.__file__, lightrag, target)
    result = stack.json("import", "lightrag", str(lightrag / "first"), "--wait")
    assert [status["status"] for status in result["statuses"]] == ["processed"] * 4
    again = stack.json("import", "lightrag", str(lightrag / "second"))
    assert (len(again["documents"]["unchanged"]), again["edits"]) == (4, 0)
    assert stack.json("cost")["total"]["calls"] == 0
    with stack.service("default") as service:
        assert "Tide Mill" in service.query("Who has run the Tide Mill?").response
    with stack.client("default") as client:
        answer = client.get("/graphs", params={"label": "*", "max_depth": 3}).json()
    entities = {node["labels"][0]: node["properties"] for node in answer["nodes"]}
    assert entities["Jonas Kell"]["description"] == "The miller, and a poet."
    assert entities["Night Watch"]["entity_type"] == "organization"
    assert {"Feast of Lamps", "Bell Tower"} <= entities.keys()
