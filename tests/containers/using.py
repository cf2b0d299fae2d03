"""What a client of the deployment does: adds documents, waits for them, asks; and what an attacker
does.
"""

import json
from pathlib import Path

import httpx

from tests.containers.deployment import Deployment
from tests.support.nats_server import until

SCRIPTS = [Path(__file__).parent / name for name in ("attacks.py", "attempts.py")]
"""The attacks, and what they try, mounted side by side."""


def client(installation: Deployment, key: str = "") -> httpx.AsyncClient:
    headers = {"X-API-Key": key or installation.secret("api_key")}
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{installation.port}",
        headers=headers,
        timeout=60,
        trust_env=False,
    )


async def add(installation: Deployment, text: str, name: str) -> None:
    """Add a document by the API, again until it is taken: a server of the deployment may just have
    been killed.
    """

    async def taken() -> bool:
        async with client(installation) as api:
            try:
                response = await api.post(
                    "/documents/text", json={"text": text, "file_source": name}
                )
            except httpx.HTTPError:
                return False
        assert response.status_code in (200, 503), response.text
        return response.status_code == 200

    await until(taken, f"{name} is taken", seconds=400)


async def all_processed(installation: Deployment, count: int) -> None:
    """Wait until at least so many documents are processed."""

    async def done() -> bool:
        async with client(installation) as api:
            try:
                counts = (await api.get("/documents/status_counts")).json()["status_counts"]
            except (httpx.HTTPError, KeyError):
                return False
        return counts.get("processed", 0) >= count

    await until(done, f"{count} documents processed", seconds=600)


async def answer(installation: Deployment) -> str:
    async with client(installation) as api:
        body = {"query": "Who leads the Harbour Office?", "mode": "mix"}
        response = await api.post("/query", json=body)
    assert response.status_code == 200, response.text
    return response.json()["response"]


def attack(installation: Deployment, network: str, kind: str, credentials: str = "") -> set[str]:
    """Run the attacks of one kind in a container of one of the deployment's networks; what
    succeeded.
    """
    file = installation.folder / f"credentials-{kind}"
    file.write_text(credentials)
    files = [*(f"{script}:/{script.name}" for script in SCRIPTS), f"{file}:/credentials"]
    attempts = json.loads(
        installation.beside(network, "python", "/attacks.py", kind, files=files).splitlines()[-1]
    )
    successes_allowed = {
        attempt["attempt"]: attempt
        for attempt in attempts
        if attempt["attempt"].startswith("allowed: ")
    }
    assert successes_allowed, attempts
    assert all(attempt["succeeded"] for attempt in successes_allowed.values()), successes_allowed
    return {attempt["attempt"] for attempt in attempts if attempt["succeeded"]} - set(
        successes_allowed
    )
