"""What a client of the deployment does: adds documents, waits for them, asks; and what an attacker
does.
"""

import json
from pathlib import Path

import httpx

from tests.containers.deployment import Deployment
from tests.support.nats_server import until

ATTACKS = Path(__file__).parent / "attacks.py"


def client(deployed: Deployment, key: str = "") -> httpx.AsyncClient:
    headers = {"X-API-Key": key or deployed.secret("api_key")}
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{deployed.port}", headers=headers, timeout=60, trust_env=False
    )


async def add(deployed: Deployment, text: str, name: str) -> None:
    """Add a document by the API, again until it is taken: a server of the deployment may just have
    been killed.
    """

    async def taken() -> bool:
        async with client(deployed) as api:
            try:
                said = await api.post("/documents/text", json={"text": text, "file_source": name})
            except httpx.HTTPError:
                return False
        assert said.status_code in (200, 503), said.text
        return said.status_code == 200

    await until(taken, f"{name} is taken", seconds=400)


async def all_processed(deployed: Deployment, count: int) -> None:
    """Wait until at least so many documents are processed."""

    async def done() -> bool:
        async with client(deployed) as api:
            try:
                counts = (await api.get("/documents/status_counts")).json()["status_counts"]
            except (httpx.HTTPError, KeyError):
                return False
        return counts.get("processed", 0) >= count

    await until(done, f"{count} documents processed", seconds=600)


async def answer(deployed: Deployment) -> str:
    async with client(deployed) as api:
        body = {"query": "Who leads the Harbour Office?", "mode": "mix"}
        said = await api.post("/query", json=body)
    assert said.status_code == 200, said.text
    return said.json()["response"]


def attack(deployed: Deployment, network: str, kind: str, credentials: str = "") -> set[str]:
    """Run the attacks of one kind in a container of one of the deployment's networks; what
    succeeded.
    """
    file = deployed.folder / f"credentials-{kind}"
    file.write_text(credentials)
    files = [f"{ATTACKS}:/attacks.py", f"{file}:/credentials"]
    tried = json.loads(
        deployed.beside(network, "python", "/attacks.py", kind, files=files).splitlines()[-1]
    )
    allowed = {one["attempt"]: one for one in tried if one["attempt"].startswith("allowed: ")}
    assert allowed, tried
    assert all(one["succeeded"] for one in allowed.values()), allowed
    return {one["attempt"] for one in tried if one["succeeded"]} - set(allowed)
