"""The query service, as the tools ask it: the one file of the MCP server that knows its routes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

import httpx

from runtime.errors import ConfigurationError, InvalidInput, ServiceError, Unavailable

WORKSPACE, KEY, TOKEN = "LIGHTRAG-WORKSPACE", "X-API-Key", "Authorization"
CARRIED = (KEY, TOKEN, WORKSPACE, "X-Workspace")
"""Headers that say who asks and for which workspace; what a client sends of them goes on to the query service."""

PATIENCE = 300.0
"""Seconds an answer may take: a language model may be slow."""

Json = dict[str, Any]


def http() -> httpx.AsyncClient:
    """The connections. No proxy is used, whatever the environment names."""
    return httpx.AsyncClient(timeout=PATIENCE, trust_env=False)


@dataclass(frozen=True)
class Service:
    """The query service for one caller. `base` is looked up for each call: a stack may be started again elsewhere."""

    connections: httpx.AsyncClient
    base: Callable[[], str]
    headers: Mapping[str, str]

    async def found(self, question: str, mode: str, passages: int, entities: int) -> Json:
        """What an answer would rest on: entities, relationships, chunks, references; empty when nothing is found."""
        body = {"query": question, "mode": mode, "chunk_top_k": passages, "top_k": entities}
        return (await self._call("POST", "/query/data", body=body))["data"]

    async def answered(self, question: str, mode: str, instructions: str) -> Json:
        """An answer with the files it rests on and the places in them."""
        body = {"query": question, "mode": mode, "include_chunk_locations": True, "user_prompt": instructions or None}
        return await self._call("POST", "/query", body=body)

    async def added(self, text: str, name: str) -> Json:
        """`track_id`, and `documents` with the id and the place in the log."""
        return await self._call("POST", "/documents/text", body={"text": text, "file_source": name})

    async def state(self, document: str) -> Json | None:
        """The state of one document, None for an id that nobody knows."""
        return await self._call("GET", "/documents/by_id", params={"doc_id": document}, absent=True)

    async def tracked(self, track: str) -> list[Json]:
        """The states of the documents that came in one request."""
        # A path of several parts, or one that leads up, would be another route.
        if "/" in track or not track.strip("."):
            return []
        return (await self._call("GET", f"/documents/track_status/{quote(track, safe='')}"))["documents"]

    async def listed(self, page: int, size: int, status: str | None) -> Json:
        """A page of the list of documents, the newest change first."""
        return await self._call(
            "POST", "/documents/paginated", body={"page": page, "page_size": size, "status_filter": status}
        )

    async def names(self, text: str, limit: int) -> list[str]:
        """Names of entities: those that hold a text, or without one those with the most relations."""
        if text.strip():
            return await self._call("GET", "/graph/label/search", params={"q": text, "limit": limit})
        return await self._call("GET", "/graph/label/popular", params={"limit": limit})

    async def around(self, name: str, depth: int, nodes: int) -> Json:
        """`nodes` and `edges` around an entity, and `is_truncated`."""
        return await self._call("GET", "/graphs", params={"label": name, "max_depth": depth, "max_nodes": nodes})

    async def lets_in(self) -> tuple[int, str]:
        """The status code this caller gets, and why it is no 200. Raises `Unavailable` when nobody answers."""
        answer = await self._asked("GET", "/documents/status_counts", None, None)
        return answer.status_code, "" if answer.is_success else _detail(answer)

    async def _call(
        self,
        method: str,
        path: str,
        *,
        body: Json | None = None,
        params: Mapping[str, str | int] | None = None,
        absent: bool = False,
    ) -> Any:
        """The JSON answer; with `absent` None for a 404. Raises `ServiceError` with what the caller can do."""
        answer = await self._asked(method, path, body, params)
        if absent and answer.status_code == 404:
            return None
        if not answer.is_success:
            raise _failure(answer, path)
        try:
            return answer.json()
        except ValueError:
            raise Unavailable(f"what answers {path} is not the query service of Lightstream") from None

    async def _asked(
        self, method: str, path: str, body: Json | None, params: Mapping[str, str | int] | None
    ) -> httpx.Response:
        url = self.base().rstrip("/") + path
        try:
            return await self.connections.request(method, url, json=body, params=params, headers=self.headers)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(
                f"the query service of Lightstream does not answer ({type(error).__name__}): is the stack running? "
                "`lightstream up --detach` starts it"
            ) from None


def _failure(answer: httpx.Response, path: str) -> ServiceError:
    """What went wrong, and what the caller can do about it."""
    status, detail = answer.status_code, _detail(answer)
    wait = answer.headers.get("Retry-After", "")
    later = f"; try again in {wait} seconds" if wait.isdigit() else "; try again later"
    if status in (401, 403):
        return ConfigurationError(
            f"the query service refuses: {detail}. Repeating the call will not help: the user must configure a key "
            "that may do this in this workspace"
        )
    if status in (429, 503):
        return Unavailable(detail + later)
    if answer.is_client_error:
        return InvalidInput(detail)
    return Unavailable(f"{path} failed with {status}: {detail}")


def _detail(answer: httpx.Response) -> str:
    """What an error says: a sentence, a list of faults, or LightRAG's `message`."""
    try:
        found = answer.json()
    except ValueError:
        return f"status {answer.status_code}"
    fields = cast("Json", found) if isinstance(found, dict) else {}
    detail: object = fields.get("detail") or fields.get("message") or f"status {answer.status_code}"
    if isinstance(detail, list):
        faults = [cast("Json", fault) for fault in cast("list[object]", detail)[:5] if isinstance(fault, dict)]
        return "; ".join(f"{'.'.join(str(p) for p in f.get('loc', ())[1:])}: {f.get('msg', '')}" for f in faults)
    return str(detail)[:1000]
