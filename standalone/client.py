"""The query service over HTTP, as the command line uses it."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from runtime.errors import ConfigurationError, InvalidInput, Unavailable
from standalone.settings import of_environment

WORKSPACE_HEADER = "LIGHTRAG-WORKSPACE"
PAGE = 200

REFUSED, TOO_OFTEN = (401, 403), 429
KEY = "set LIGHTSTREAM_API_KEY (or LIGHTRAG_API_KEY) to a key that may do this in this workspace"

PATIENCE = 300.0
"""Seconds an answer may take: a language model may be slow."""


WAITS, LONGEST_WAIT = 10, 60.0
"""How often, and at most how many seconds each time, a command waits when it is told that it asks too often."""


@asynccontextmanager
async def api(base: str, workspace: str) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of one workspace, with the key of the environment. It uses no proxy, whatever the environment names.

    Raises ConfigurationError for variables that cannot be used.
    """
    key = of_environment().lightstream_api_key.get_secret_value()
    headers = {WORKSPACE_HEADER: workspace, **({"X-API-Key": key} if key else {})}
    async with httpx.AsyncClient(base_url=base, headers=headers, timeout=PATIENCE, trust_env=False) as client:
        yield client


async def call(
    client: httpx.AsyncClient, method: str, path: str, body: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The JSON answer.

    Raises ConfigurationError when the key is missing, wrong or not for this, InvalidInput for any other 4xx, and
    `Unavailable` for anything else that is no answer.
    """
    answer, found = await _asked(client, method, path, body)
    for _ in range(WAITS):
        if answer.status_code != TOO_OFTEN:
            break
        wait = answer.headers.get("Retry-After", "")
        await asyncio.sleep(min(float(wait) if wait.isdigit() else 1.0, LONGEST_WAIT))
        answer, found = await _asked(client, method, path, body)
    if answer.status_code in REFUSED:
        raise ConfigurationError(f"the query service refuses {path}: {_detail(found)}; {KEY}")
    if answer.status_code == TOO_OFTEN:
        raise Unavailable(f"{path}: {_detail(found)}")
    if answer.is_client_error:
        raise InvalidInput(f"{path}: {_detail(found)}")
    if answer.is_error:
        raise Unavailable(f"{path} failed with {answer.status_code}: {_detail(found)}")
    return found


async def _asked(client: httpx.AsyncClient, method: str, path: str, body: Any) -> tuple[httpx.Response, Any]:
    try:
        answer = await client.request(method, path, json=body)
        return answer, answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise Unavailable(f"the query service does not answer {path} ({type(error).__name__})") from None


async def query(client: httpx.AsyncClient, question: str, mode: str) -> dict[str, Any]:
    """{response, references: [{reference_id, file_path}], llm_generated, …}."""
    return await call(client, "POST", "/query", {"query": question, "mode": mode})


async def counts(client: httpx.AsyncClient) -> dict[str, int]:
    """Documents by status, and `all`."""
    return (await call(client, "GET", "/documents/status_counts"))["status_counts"]


async def documents(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    """The status of every document of the workspace, sorted by id."""
    found: dict[str, dict[str, Any]] = {}
    page, more = 1, True
    while more:
        body = {"page": page, "page_size": PAGE, "sort_field": "id", "sort_direction": "asc"}
        answer = await call(client, "POST", "/documents/paginated", body)
        found |= {document["id"]: document for document in answer["documents"]}
        page, more = page + 1, bool(answer["pagination"]["has_next"])
    return [found[id] for id in sorted(found)]


def _detail(found: Any) -> str:
    """What an error says: FastAPI's `detail` is a sentence, or a list of faults."""
    detail = found.get("detail", found) if isinstance(found, dict) else found  # pyright: ignore
    if isinstance(detail, list):
        return "; ".join(str(fault.get("msg", fault)) for fault in detail[:5])  # pyright: ignore
    return str(detail)  # pyright: ignore
