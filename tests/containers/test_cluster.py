"""docker-compose.cluster.yml: the bus as three servers; one after the other is killed while
documents go in.
"""

import json

import pytest

from tests.containers.buses import leader, lose
from tests.containers.deployment import Deployment
from tests.containers.using import answer

FILES = ("docker-compose.cluster.yml",)

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize(
        "installation", [FILES], indirect=True, ids=["three buses"], scope="module"
    ),
]


async def test_each_server_may_be_lost_while_documents_go_in(installation: Deployment) -> None:
    first = leader(installation)
    await lose(installation, [first, *(name for name in installation.buses if name != first)])
    assert "Ada Marlow" in await answer(installation)


async def test_nobody_becomes_a_server_of_the_cluster_without_its_password(
    installation: Deployment,
) -> None:
    """A stranger who connects as a route is told what every route is told first, and then
    refused.
    """
    connect_options = json.dumps(
        {
            "user": "routes",
            "pass": "routes",
            "server_id": "X",
            "name": "x",
            "cluster": "lightstream",
        }
    )
    script = (
        "import socket, sys; route = socket.create_connection(('nats', 6222), 10); "
        "route.settimeout(20)\n"
        "route.recv(65536); route.sendall(f'CONNECT {sys.argv[1]}\\r\\nPING\\r\\n'.encode()); "
        "print(route.recv(65536))"
    )
    assert "Authorization Violation" in installation.beside(
        "inside", "python", "-c", script, connect_options
    )
