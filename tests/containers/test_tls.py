"""docker-compose.tls.yml: everything on the bus over TLS, with certificates of both sides."""

import pytest

from tests.containers.deployment import SERVICES, Deployment, container
from tests.containers.using import add, all_processed, answer, attack

FILES = ("docker-compose.tls.yml",)

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("installation", [FILES], indirect=True, ids=["TLS"], scope="module"),
]


async def test_documents_go_in_and_a_question_is_answered(installation: Deployment) -> None:
    await add(installation, "Ada Marlow leads the Harbour Office in Port Elm.", "first.txt")
    await all_processed(installation, 1)
    assert "Ada Marlow" in await answer(installation)
    assert all(
        installation.secret(f"nats_url_{service}").startswith("tls://") for service in SERVICES
    )
    installation.command("topology", "check")


async def test_who_has_no_certificate_or_speaks_no_tls_is_refused(installation: Deployment) -> None:
    assert (
        attack(installation, "inside", "encrypted", installation.secret("nats_url_operator"))
        == set()
    )


async def test_the_bus_is_killed_and_documents_go_on(installation: Deployment) -> None:
    installation.kill("nats")
    installation.engine.run("start", container("nats"))
    await add(installation, "Tom Reed repairs the lighthouse of Port Elm.", "second.txt")
    await all_processed(installation, 2)
