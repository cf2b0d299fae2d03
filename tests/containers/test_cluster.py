"""docker-compose.cluster.yml: the bus as three servers; one after the other is killed while documents go in."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
import pytest_asyncio

from tests.containers.deployment import PROJECT, Deployment, container, deployment
from tests.containers.engine import Engine
from tests.containers.using import add, all_processed, answer
from tests.support.nats_server import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

COPIES = """
import asyncio, json, nats
async def main():
    client = await nats.connect(open("/credentials").read().strip())
    infos = await client.jetstream().streams_info()
    print(json.dumps({info.config.name: [info.config.num_replicas, info.cluster.leader,
        sum(peer.current and not peer.offline for peer in info.cluster.replicas or [])] for info in infos}))
    await client.close()
asyncio.run(main())
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployed(engine: Engine, image: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deployment]:
    """The deployment with three buses. Nothing is left of it in the end."""
    assert image
    result = deployment(engine, tmp_path_factory.mktemp("deployment"), "docker-compose.cluster.yml")
    result.down(volumes=True)
    try:
        await result.up()
        yield result
    finally:
        result.down(volumes=True)


def copies(deployed: Deployment) -> dict[str, Any]:
    """Of each stream: how many copies it is to have, who leads it, and how many others have everything."""
    done = deployed.engine.run(
        "run", "--rm", "--network", f"{PROJECT}_inside", "--read-only",
        "--volume", f"{deployed.folder}/secrets/nats_url_operator:/credentials:ro",
        "localhost/lightstream:0.1.0", "python", "-c", COPIES,
    )  # fmt: skip
    return json.loads(done.stdout)


async def whole(deployed: Deployment) -> None:
    """Wait until every stream has three copies of everything."""

    async def all_current() -> bool:
        with suppress(AssertionError):  # no leader, or a server that still starts
            found = copies(deployed)
            return bool(found) and all(
                (wanted, current) == (3, 2) and leader for wanted, leader, current in found.values()
            )
        return False

    await until(all_current, "three copies of every stream", seconds=400)


async def test_each_server_may_be_lost_while_documents_go_in(deployed: Deployment) -> None:
    await whole(deployed)
    await add(deployed, "Ada Marlow leads the Harbour Office in Port Elm.", "first.txt")
    await all_processed(deployed, 1)
    leader = copies(deployed)["KB_EVENTS"][1]
    first = "nats" if leader == "nats-1" else leader
    # The one that leads the log first.
    for number, name in enumerate((first, *(one for one in deployed.buses if one != first)), 2):
        deployed.kill(name)
        await add(deployed, f"Tom Reed repaired the lighthouse {number} times.", f"{name}.txt")
        await all_processed(deployed, number)
        deployed.engine.run("start", container(name))
        await deployed.healthy(name)
        await whole(deployed)
    assert "Ada Marlow" in await answer(deployed)


async def test_nobody_becomes_a_server_of_the_cluster_without_its_password(deployed: Deployment) -> None:
    """A stranger who connects as a route is told what every route is told first, and then refused."""
    said = json.dumps({"user": "routes", "pass": "routes", "server_id": "X", "name": "x", "cluster": "lightstream"})
    script = (
        "import socket, sys; route = socket.create_connection(('nats', 6222), 10); route.settimeout(20)\n"
        "route.recv(65536); route.sendall(f'CONNECT {sys.argv[1]}\\r\\nPING\\r\\n'.encode()); print(route.recv(65536))"
    )
    done = deployed.engine.run(
        "run", "--rm", "--network", f"{PROJECT}_inside", "localhost/lightstream:0.1.0", "python", "-c", script, said
    )
    assert "Authorization Violation" in done.stdout
