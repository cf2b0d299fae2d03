"""Three buses with the files of the deployment, or one alone, in a folder of a test's own; any can
be killed.
"""

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import nats
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError

from embedded.processes import Process, free_port, listening
from operations import bus_accounts
from runtime.bus import topology
from runtime.bus.nats.connection import connected
from runtime.errors import Unavailable
from tests.support.deployed_bus import copy_files, made_up_passwords, new_password, server_process
from tests.support.nats_server import until

SIZE = 3


@dataclass
class NatsCluster:
    """A running cluster. Server `number` is called `n<number>`, as its answers name it."""

    folder: Path
    ports: list[int]
    servers: list[Process]
    passwords: dict[str, str]

    def url(self, user: str, *numbers: int) -> str:
        """The address of these servers, or of all, for this user, as NATS_URL names it."""
        addresses = (
            f"127.0.0.1:{self.ports[number]}" for number in numbers or range(len(self.ports))
        )
        return ",".join(f"nats://{user}:{self.passwords[user]}@{address}" for address in addresses)

    async def leader(self, jetstream: JetStreamContext, stream: str = "KB_EVENTS") -> int:
        """The number of the server that leads the stream; waits while there is none."""
        if len(self.servers) == 1:
            return 0
        result = ""

        async def elected() -> bool:
            nonlocal result
            with suppress(APIError, NatsError):
                cluster = (await jetstream.stream_info(stream)).cluster
                result = (cluster.leader if cluster else None) or ""
            return bool(result)

        await until(elected, f"{stream} has a leader")
        return int(result.removeprefix("n"))

    async def kill(self, number: int) -> None:
        """SIGKILL, and wait until the process is gone."""
        await self.servers[number].kill()

    async def restart(self, number: int, *, emptied: bool = False) -> None:
        """Start a server that was killed, on the same ports; `emptied`: as on a new disk."""
        if emptied:
            shutil.rmtree(self.folder / f"n{number}" / "jetstream")
        await self.servers[number].start()

    async def whole(self, jetstream: JetStreamContext) -> None:
        """Wait until every replica of every stream is there and has everything. One alone is whole
        when it answers.
        """
        others = len(self.servers) - 1

        async def current() -> bool:
            with suppress(APIError, NatsError):
                infos = await jetstream.streams_info()
                if not others:
                    return True
                groups = [info.cluster for info in infos if info.cluster]
                replicas = [group.replicas or [] for group in groups]
                return (
                    len(groups) == len(infos)
                    and all(group.leader for group in groups)
                    and all(len(each) == others for each in replicas)
                    and all(peer.current and not peer.offline for each in replicas for peer in each)
                )
            return False

        await until(current, "every replica is current")


@asynccontextmanager
async def nats_cluster(folder: Path, size: int = SIZE) -> AsyncGenerator[NatsCluster]:
    """A cluster that answers calls of JetStream, with stores below `folder`; nothing of it is left
    in the end.
    """
    ports = [free_port() for _ in range(size)]
    passwords = made_up_passwords(bus_accounts.USERS)
    env = {user.password_variable: passwords[user.name] for user in bus_accounts.USERS}
    routes = _routes(env, size)
    servers = [
        _server(folder / f"n{n}", f"n{n}", ports[n], routes[n], env, alone=size == 1)
        for n in range(size)
    ]
    cluster = NatsCluster(folder, ports, servers, passwords)
    async with AsyncExitStack() as exit_stack:
        for server in servers:
            exit_stack.push_async_callback(server.stop)
        await asyncio.gather(*(server.start() for server in servers))
        async with connected(cluster.url("operator"), name="test") as client:
            await until(lambda: _answers(client.jetstream(timeout=2)), "the cluster has a leader")
        yield cluster


async def declare(jetstream: JetStreamContext, size: int) -> None:
    """Wait until every stream is there with so many copies: it takes a leader, and servers that
    know each other.
    """

    async def declared() -> bool:
        with suppress(APIError, NatsError):
            await topology.apply(jetstream, size)
            return True
        return False

    await until(declared, f"every stream has {size} copies")


async def _answers(jetstream: JetStreamContext) -> bool:
    with suppress(APIError, NatsError):
        try:
            await jetstream.stream_info("KB_EVENTS")
        except NotFoundError:
            return True
    return False


def _routes(env: dict[str, str], size: int) -> list[int]:
    """Return a port for each server's routes, and add to `env` what `deploy/nats/start` makes of
    the servers' names.
    """
    env["NATS_ROUTES_PASSWORD"] = secret = new_password()
    routes = [free_port() for _ in range(size)]
    env |= {
        f"NATS_ROUTE_{n}": f"nats://routes:{secret}@127.0.0.1:{port}"
        for n, port in enumerate(routes, start=1)
    }
    return routes


def _server(
    folder: Path, name: str, port: int, route: int, env: dict[str, str], *, alone: bool
) -> Process:
    copy_files(folder, {'"0.0.0.0:6222"': f'"127.0.0.1:{route}"'})

    async def probe() -> None:
        """It answers as itself; whether the cluster has a leader is another question."""
        if not listening(port):
            raise Unavailable(f"nobody listens on port {port} yet")
        address = f"nats://operator:{env['NATS_OPERATOR_PASSWORD']}@127.0.0.1:{port}"
        try:
            client = await nats.connect(address, connect_timeout=2, allow_reconnect=False)
            try:
                answered = json.loads((await client.request("$SYS.REQ.USER.INFO", timeout=2)).data)[
                    "server"
                ]["name"]
            finally:
                await client.close()
        except (NatsError, OSError, TimeoutError) as error:
            raise Unavailable(f"{type(error).__name__}") from error
        assert alone or answered == name

    file = "nats-server.conf" if alone else "cluster.conf"
    return server_process(
        folder / file, (port, free_port()), {**env, "NATS_SERVER_NAME": name}, probe
    )
