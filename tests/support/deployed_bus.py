"""The bus as docker-compose.yml runs it: the same files, on a free port and a folder of the test's own."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts import permissions
from runtime.bus.nats.log import connected
from runtime.errors import ConfigurationError, Unavailable
from standalone.embedded.processes import Process, free_port, listening
from standalone.embedded.servers.nats import executable
from tests.support.servers import missing

FILES = Path(__file__).resolve().parents[2] / "deploy" / "nats"


@dataclass(frozen=True)
class DeployedBus:
    """A running server, and the passwords of its users by their names."""

    process: Process
    port: int
    monitor_port: int
    passwords: dict[str, str]

    @property
    def operator(self) -> str:
        """The address with the operator's password."""
        return self.url("operator")

    def url(self, user: str) -> str:
        """The address with this user's password."""
        return f"nats://{user}:{self.passwords[user]}@127.0.0.1:{self.port}"

    def variables(self, service: str) -> dict[str, str]:
        """What a service is told of the bus, as docker-compose.yml tells it."""
        return {"NATS_URL": self.url(service), "NATS_API_PREFIX": permissions.IMPORTED_API}


@asynccontextmanager
async def deployed_bus(folder: Path) -> AsyncGenerator[DeployedBus]:
    """The server over `folder`, stopped in the end. Skips where there is none."""
    port, monitor_port = free_port(), free_port()
    passwords = {user.name: f"k{secrets.token_hex(24)}" for user in permissions.USERS}
    try:
        program = str(executable())
    except ConfigurationError as error:
        missing(str(error))

    async def probe() -> None:
        if not listening(port):
            raise Unavailable(f"nobody listens on port {port} yet")
        async with connected(f"nats://operator:{passwords['operator']}@127.0.0.1:{port}", name="test") as client:
            await client.jetstream().account_info()

    place = ["--addr", "127.0.0.1", "--port", str(port), "--http_port", str(monitor_port)]
    argv = [program, "--config", str(_configuration(folder)), *place]
    env = {user.password_variable: passwords[user.name] for user in permissions.USERS}
    process = Process("nats-server", argv, folder, probe, env)
    await process.start()
    try:
        yield DeployedBus(process, port, monitor_port, passwords)
    finally:
        await process.stop()


def _configuration(folder: Path) -> Path:
    """A copy of the files with another folder for the store: the only thing that no option of the server changes."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES.glob("*.conf"):
        text = file.read_text("utf-8").replace('store_dir: "/data"', f'store_dir: "{folder}"')
        (folder / file.name).write_text(text, "utf-8")
    copy = folder / "nats-server.conf"
    assert f'store_dir: "{folder}"' in copy.read_text("utf-8")
    return copy
