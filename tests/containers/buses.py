"""The three buses of a deployment: who leads, who has everything, and what becomes of documents
while one is away.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tests.containers.deployment import Deployment, container
from tests.containers.using import add, all_processed
from tests.support.nats_server import until

COPIES = """
import asyncio, json
from lightstream_rag.runtime.bus.nats.connection import connected
async def main():
    async with connected(open("/run/secrets/nats_url").read().strip(), name="copies") as client:
        infos = await client.jetstream().streams_info()
    print(json.dumps({info.config.name: [info.config.num_replicas, info.cluster.leader,
        sum(peer.current and not peer.offline for peer in info.cluster.replicas or [])] for info in infos}))
asyncio.run(main())
"""  # noqa: E501


def copies(installation: Deployment) -> dict[str, Any]:
    """Of each stream: how many copies it is to have, who leads it, and how many others have
    everything.
    """
    return json.loads(
        installation.beside("inside", "python", "-c", COPIES, secrets=["nats_url_operator"])
    )


async def whole(installation: Deployment) -> None:
    """Wait until every stream has three copies of everything."""

    async def all_current() -> bool:
        with suppress(AssertionError):  # no leader, or a server that still starts
            copies_by_stream = copies(installation)
            return bool(copies_by_stream) and all(
                (size, current_peers) == (3, 2) and leader
                for size, leader, current_peers in copies_by_stream.values()
            )
        return False

    await until(all_current, "three copies of every stream", seconds=400)


def leader(installation: Deployment) -> str:
    """The container of the bus that leads the log."""
    name = copies(installation)["KB_EVENTS"][1]
    return "nats" if name == "nats-1" else name


async def lose(installation: Deployment, names: Sequence[str]) -> None:
    """Kill these buses, one after the other; the document of each is processed while it is away."""
    await whole(installation)
    await add(installation, "Ada Marlow leads the Harbour Office in Port Elm.", "first.txt")
    await all_processed(installation, 1)
    for number, name in enumerate(names, 2):
        installation.kill(name)
        await add(installation, f"Tom Reed repaired the lighthouse {number} times.", f"{name}.txt")
        await all_processed(installation, number)
        installation.engine.run("start", container(name))
        await installation.healthy(name)
        await whole(installation)
