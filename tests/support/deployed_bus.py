"""The bus as docker-compose.yml runs it: the same configuration file, on a free port and a folder of the test's own."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from runtime.bus.nats import connected
from runtime.errors import ConfigurationError, Unavailable
from standalone.processes import Process, free_port, listening
from standalone.servers.nats import executable
from tests.support.servers import missing

FILE = Path(__file__).resolve().parents[2] / "deploy" / "nats" / "nats-server.conf"


@dataclass(frozen=True)
class DeployedBus:
    """A running server and its addresses with the two users' passwords."""

    process: Process
    port: int
    monitor_port: int
    operator: str
    services: str


@asynccontextmanager
async def deployed_bus(folder: Path) -> AsyncGenerator[DeployedBus]:
    """The server over `folder`, stopped in the end. Skips where there is none."""
    port, monitor_port = free_port(), free_port()
    passwords = {user: f"k{secrets.token_hex(24)}" for user in ("operator", "services")}
    operator, services = (f"nats://{user}:{password}@127.0.0.1:{port}" for user, password in passwords.items())
    try:
        program = str(executable())
    except ConfigurationError as error:
        missing(str(error))

    async def probe() -> None:
        if not listening(port):
            raise Unavailable(f"nobody listens on port {port} yet")
        async with connected(operator, name="test") as client:
            await client.jetstream().account_info()

    place = ["--addr", "127.0.0.1", "--port", str(port), "--http_port", str(monitor_port)]
    argv = [program, "--config", str(_configuration(folder)), *place]
    env = {f"NATS_{user.upper()}_PASSWORD": password for user, password in passwords.items()}
    process = Process("nats-server", argv, folder, probe, env)
    await process.start()
    try:
        yield DeployedBus(process, port, monitor_port, operator, services)
    finally:
        await process.stop()


def _configuration(folder: Path) -> Path:
    """A copy of the file with another folder for the store: the only thing that no option of the server changes."""
    text, place = FILE.read_text("utf-8"), 'store_dir: "/data"'
    assert place in text
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / FILE.name
    copy.write_text(text.replace(place, f'store_dir: "{folder / "jetstream"}"'), "utf-8")
    return copy
