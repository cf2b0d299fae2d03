"""A deployment for tests: real servers and the five services as processes, told where everything is
by variables only.

The servers are NATS as docker-compose.yml has it, one of MongoDB's protocol, Neo4j and Milvus.
Nothing of the embedded stack runs here.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contracts.events import Stage
from embedded.processes import Process, free_port
from embedded.stack import SERVICES
from runtime.bus.nats.connection import connected
from tests.support import commands, neo4j_server
from tests.support.deployed_bus import DeployedBus, deployed_bus
from tests.support.milvus_server import ROOT, milvus_server
from tests.support.mongo import mongo_server, mongo_uri
from tests.support.services import service
from tests.support.stack import environment

SERVICES_OF_MILVUS = "lightstream:k0123456789"
"""The account that `stores apply` makes for the services."""


NO_CHANGES: Mapping[str, str] = {}


@dataclass
class Deployment:
    """Running servers, their addresses as variables, and the services that were started on them."""

    folder: Path
    env: dict[str, str]
    bus: DeployedBus
    servers: dict[str, Process]
    services: dict[Stage, Process] = field(default_factory=dict)

    async def run(self, *arguments: str) -> tuple[int, str, str]:
        """A command of the command line, which finds the deployment by its variables: code, output,
        errors.
        """
        outcome = await asyncio.to_thread(
            commands.give, arguments, environment(self.env), self.folder
        )
        return outcome.returncode, outcome.stdout, outcome.stderr

    async def json(self, *arguments: str) -> Any:
        """What a command answers with --json. It must succeed."""
        code, output, errors = await self.run(*arguments, "--json")
        assert code == 0, f"{arguments}: {output}\n{errors}\n{self.logs()}"
        return json.loads(output)

    def variables(self, name: Stage) -> dict[str, str]:
        """What a process of this service is told."""
        return {
            "EMBEDDING_MODEL": "lexical",
            "COSINE_THRESHOLD": "0.05",
            **self.env,
            **self.bus.variables(name),
            "MILVUS_TOKEN": SERVICES_OF_MILVUS,
            "MILVUS_SERVICES_TOKEN": "",
        }

    async def kill(self, name: Stage) -> None:
        """kill -9, and start again, as the restart policy of a deployment does."""
        await self.services[name].kill()
        await self.services[name].start()

    async def stop_services(self) -> None:
        """As an operator does it: the servers stay."""
        await asyncio.gather(*(process.stop() for process in self.services.values()))

    async def start_services(self, stores: Mapping[str, str] = NO_CHANGES) -> None:
        """Start the services and give every command from now on these variables of stores."""
        self.env |= stores
        for process in self.services.values():
            process.env = {**process.env, **stores}
            await process.spawn()
        await asyncio.gather(*(process.ready() for process in self.services.values()))

    async def events(self) -> int:
        """How many events the log has."""
        async with connected(self.env["NATS_URL"], name="test") as client:
            return (await client.jetstream().stream_info("KB_EVENTS")).state.messages

    def logs(self) -> str:
        """The end of every service's log."""
        return "\n".join(
            f"== {process.name}\n{process.tail(6)}" for process in self.services.values()
        )


@asynccontextmanager
async def deployment(folder: Path, **env: str) -> AsyncGenerator[Deployment]:
    """A deployment with its bus declared, its stores prepared and its services ready; nothing is
    left in the end.
    """
    async with AsyncExitStack() as exit_stack:
        result = await _servers(folder, exit_stack)
        result.env.update(env)
        for command in ("topology", "stores"):
            code, output, errors = await result.run(command, "apply")
            assert code == 0, f"{command} apply: {output}\n{errors}"
        for name in SERVICES:
            variables = result.variables(name) | (
                {"PORT": result.env["API_PORT"]} if name == "query" else {}
            )
            process = service(name, folder / "services", wait=False, **variables)
            result.services[name] = await exit_stack.enter_async_context(process)
        await asyncio.gather(*(process.ready() for process in result.services.values()))
        yield result


async def _servers(folder: Path, exit_stack: AsyncExitStack) -> Deployment:
    """The servers, started side by side: what is missing on this machine is found before any of
    them is.
    """
    ports = {name: free_port() for name in ("mongo", "neo4j", "api")}
    mongo = mongo_server(folder / "mongo", ports["mongo"])
    neo4j = neo4j_server.neo4j_server(folder / "neo4j", ports["neo4j"])
    milvus, milvus_uri = milvus_server(folder / "milvus", passwords=True)
    # Their folders go with the run: Neo4j would take seconds of CPU to end in good order.
    for process in (milvus, mongo, neo4j):
        exit_stack.push_async_callback(process.kill)
    bus = await exit_stack.enter_async_context(deployed_bus(folder / "bus"))
    await asyncio.gather(*(process.start() for process in (mongo, neo4j, milvus)))
    env = {
        "NATS_URL": bus.operator,
        "DOCUMENTS_URL": mongo_uri(ports["mongo"]),
        "MONGO_DATABASE": f"lightstream_{os.getpid()}",
        "NEO4J_URI": neo4j_server.bolt_uri(ports["neo4j"]),
        "NEO4J_USERNAME": neo4j_server.USER,
        "NEO4J_PASSWORD": neo4j_server.PASSWORD,
        "MILVUS_URI": milvus_uri,
        "MILVUS_TOKEN": ROOT,
        "MILVUS_SERVICES_TOKEN": SERVICES_OF_MILVUS,
        "LIGHTSTREAM_API_URL": f"http://127.0.0.1:{ports['api']}",
        "API_PORT": str(ports["api"]),
    }
    return Deployment(
        folder, env, bus, {"bus": bus.process, "mongo": mongo, "neo4j": neo4j, "milvus": milvus}
    )
