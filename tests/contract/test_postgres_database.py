"""deploy/postgres/database.sh, by which Compose makes the database: on the real server."""

import os
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import asyncpg
import pytest

from runtime.settings import Settings
from runtime.stores.open import open_documents, open_graph, open_vectors
from runtime.stores.postgres.database import Connection
from tests.architecture.sources import REPOSITORY
from tests.support.postgres_server import programs, shared_postgres
from tests.support.shared_servers import SharedServers

SCRIPT = REPOSITORY / "deploy/postgres/database.sh"
DATABASE = "compose_rag"
USER = "compose_services"


def run_script(server: SplitResult, password: Path) -> None:
    """Prepare the database as the image does when its volume is new."""
    password.write_text("k0123\n")
    variables = {
        "PATH": f"{programs()}:{os.environ['PATH']}",
        "PGHOST": str(server.hostname),
        "PGPORT": str(server.port),
        "PGPASSWORD": str(server.password),
        "POSTGRES_USER": str(server.username),
        "POSTGRES_DB": DATABASE,
        "POSTGRES_SERVICES_USER": USER,
        "POSTGRES_SERVICES_PASSWORD_FILE": str(password),
    }
    subprocess.run(["bash", str(SCRIPT)], env=variables, check=True, capture_output=True)


@pytest.fixture
async def database(shared_servers: SharedServers, tmp_path: Path) -> AsyncGenerator[str]:
    """The URL of a new database that the script has prepared, for the services' user."""
    url = shared_postgres(shared_servers)
    server = urlsplit(url)
    administrator: Connection = await asyncpg.connect(url)
    try:
        await administrator.execute(f"CREATE DATABASE {DATABASE}")
        run_script(server, tmp_path / "password")
        yield f"postgresql://{USER}:k0123@{server.hostname}:{server.port}/{DATABASE}"
    finally:
        await administrator.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        await administrator.execute(f"DROP ROLE IF EXISTS {USER}")
        await administrator.close()


async def test_the_services_user_makes_all_stores_and_nothing_outside_of_its_schema(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORES_URL", database)
    settings = Settings()
    vectors = open_vectors(settings, model="lexical", dimension=8)
    for store in (open_documents(settings), open_graph(settings)):
        await store.prepare()
        await store.close()
    await vectors.prepare(1)
    await vectors.close()
    connection: Connection = await asyncpg.connect(database)
    try:
        schemas = await connection.fetch("SELECT DISTINCT schemaname FROM pg_tables")
        assert {"lightstream"} == {row[0] for row in schemas} - {"pg_catalog", "information_schema"}
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("CREATE TABLE public.strange (id int)")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("CREATE SCHEMA strange")
    finally:
        await connection.close()
