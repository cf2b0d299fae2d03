"""The bus as docker-compose.yml runs it: the same files, on a free port and in a folder of the
test's; TLS too.
"""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from embedded.processes import Process, free_port, listening
from embedded.servers.nats import executable
from operations import bus_accounts
from runtime.bus.nats.connection import connected
from runtime.errors import ConfigurationError, Unavailable
from tests.support.servers import missing

Probe = Callable[[], Awaitable[None]]
"""Raises `Unavailable` while the server does not answer."""

FILES = Path(__file__).resolve().parents[2] / "deploy" / "nats"


@dataclass(frozen=True)
class DeployedBus:
    """A running server, and the passwords of its users by their names."""

    process: Process
    port: int
    monitor_port: int
    passwords: dict[str, str]
    certificates: Path | None = None
    """The folder of `deploy/make-certificates`, when it speaks TLS."""

    @property
    def operator(self) -> str:
        """The address with the operator's password."""
        return self.url("operator")

    def url(self, user: str) -> str:
        """The address with this user's password."""
        return _url(user, self.passwords[user], self.port, self.certificates)

    def variables(self, service: str) -> dict[str, str]:
        """What a service is told of the bus, as docker-compose.yml tells it."""
        return {"NATS_URL": self.url(service), "NATS_API_PREFIX": bus_accounts.IMPORTED_API}


@asynccontextmanager
async def deployed_bus(
    folder: Path,
    *publishers: bus_accounts.User,
    certificates: Path | None = None,
    partitions: int = 1,
) -> AsyncGenerator[DeployedBus]:
    """The server over `folder`, stopped in the end. Skips where there is none. `publishers`: users
    beside its own; `partitions`: those of the log that it is for.

    `certificates`: the folder of those with which it speaks TLS.
    """
    users = (*bus_accounts.USERS, *publishers)
    port = free_port()
    monitor_port = free_port()
    passwords = made_up_passwords(users)
    copy_files(folder, {'"/tls/': f'"{certificates}/'} if certificates else {}, publishers)
    if partitions > 1:
        text = bus_accounts.configuration(publishers, partitions)
        (folder / "users.conf").write_text(text, "utf-8")

    async def probe() -> None:
        if not listening(port):
            raise Unavailable(f"nobody listens on port {port} yet")
        async with connected(
            _url("operator", passwords["operator"], port, certificates), name="test"
        ) as client:
            await client.jetstream().account_info()

    env = {user.password_variable: passwords[user.name] for user in users}
    file = "nats-server-tls.conf" if certificates else "nats-server.conf"
    process = server_process(folder / file, (port, monitor_port), env, probe)
    await process.start()
    try:
        yield DeployedBus(process, port, monitor_port, passwords, certificates)
    finally:
        await process.stop()


def _url(user: str, password: str, port: int, certificates: Path | None) -> str:
    address = f"{user}:{password}@127.0.0.1:{port}"
    if certificates is None:
        return f"nats://{address}"
    return f"tls://{address}?ca={certificates}/ca.pem&cert={certificates}/client.pem&key={certificates}/client.key"


def new_password() -> str:
    """A random password. The letter in front keeps nats-server from reading a number."""
    return f"k{secrets.token_hex(24)}"


def made_up_passwords(users: Iterable[bus_accounts.User]) -> dict[str, str]:
    """A password for each of these users, by name."""
    return {user.name: new_password() for user in users}


def copy_files(
    folder: Path,
    places: Mapping[str, str] | None = None,
    publishers: Sequence[bus_accounts.User] = (),
) -> None:
    """Copy the files with what is a test's own in them: the data below `folder`, and other
    `places`.

    They are the only things that no option of the server changes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES.glob("*.conf"):
        text = file.read_text("utf-8").replace('store_dir: "/data"', f'store_dir: "{folder}"')
        for place, own in (places or {}).items():
            text = text.replace(place, own)
        (folder / file.name).write_text(text, "utf-8")
    if publishers:
        (folder / "users.conf").write_text(bus_accounts.configuration(publishers), "utf-8")
    assert f'store_dir: "{folder}"' in (folder / "nats-server.conf").read_text("utf-8")


def server_process(
    configuration: Path, ports: tuple[int, int], env: dict[str, str], probe: Probe
) -> Process:
    """The server on this machine, not started yet, with ports for clients and monitoring. Skips
    where there is none.
    """
    try:
        program = str(executable())
    except ConfigurationError as error:
        missing(str(error))
    place = ["--addr", "127.0.0.1", "--port", str(ports[0]), "--http_port", str(ports[1])]
    return Process(
        "nats-server",
        [program, "--config", str(configuration), *place],
        configuration.parent,
        probe,
        env,
    )
