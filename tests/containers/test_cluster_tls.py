"""docker-compose.cluster-tls.yml: three buses that show certificates to clients and to each other;
one is killed.
"""

import pytest

from tests.containers.buses import leader, lose
from tests.containers.deployment import Deployment
from tests.containers.using import answer, attack

FILES = ("docker-compose.cluster.yml", "docker-compose.tls.yml", "docker-compose.cluster-tls.yml")

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize(
        "installation", [FILES], indirect=True, ids=["three buses with TLS"], scope="module"
    ),
]


async def test_the_leader_may_be_lost_while_documents_go_in(installation: Deployment) -> None:
    await lose(installation, [leader(installation)])
    assert "Ada Marlow" in await answer(installation)


async def test_who_has_no_certificate_or_speaks_no_tls_is_refused(installation: Deployment) -> None:
    assert (
        attack(installation, "inside", "encrypted", installation.secret("nats_url_operator"))
        == set()
    )


async def test_nobody_becomes_a_server_of_the_cluster_without_a_certificate(
    installation: Deployment,
) -> None:
    """The password of routes alone opens nothing."""
    password = (
        installation.secret("nats_passwords").partition("NATS_ROUTES_PASSWORD=")[2].split()[0]
    )
    assert attack(installation, "inside", "route", password) == set()
