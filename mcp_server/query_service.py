"""The query service as a caller of the MCP server reaches it: by `lightstream_rag.client`, with the
caller's headers.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from lightstream_rag.client import AsyncLightstream
from lightstream_rag.errors import AccessDenied, LightstreamError, NotFound
from lightstream_rag.flows import get, parse_as
from lightstream_rag.models import Document
from runtime.errors import ConfigurationError, InvalidInput, ServiceError, Unavailable
from runtime.workarounds.httpx import httpx

WORKSPACE = "LIGHTRAG-WORKSPACE"
OTHER_WORKSPACE = "X-Workspace"
KEY = "X-API-Key"
ON_BEHALF = "X-On-Behalf-Of"
CALLER_HEADERS = (KEY, "Authorization", WORKSPACE, OTHER_WORKSPACE, ON_BEHALF)
"""Headers that name the caller, for whom it asks, and the workspace; they are passed on to the
query service as they are.
"""

LONGEST_DETAIL = 1000
"""Characters of an error of the query service that a tool repeats."""


def connection_pool() -> httpx.AsyncHTTPTransport:
    """Return the connections that all callers share. No proxy is used, whatever the environment
    names.
    """
    return httpx.AsyncHTTPTransport(trust_env=False)


class _CallerTransport(httpx.AsyncBaseTransport):
    """Sends requests over the shared connections with one caller's headers; closing it leaves them
    open.
    """

    def __init__(self, pool: httpx.AsyncBaseTransport, headers: Mapping[str, str]) -> None:
        self._pool = pool
        self._headers = headers

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.headers.update(self._headers)
        return await self._pool.handle_async_request(request)


@dataclass(frozen=True)
class CallerClient:
    """The query service for one caller. `url` is asked for each call: a stack may be started again
    at another port.
    """

    pool: httpx.AsyncBaseTransport
    url: Callable[[], str]
    headers: Mapping[str, str]

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[AsyncLightstream]:
        """Give a client whose errors say what the user can do. Nothing is sent twice: the caller
        decides that.
        """
        try:
            async with self._client() as client:
                yield client
        except LightstreamError as error:
            raise _explained(error) from None

    async def access(self) -> tuple[int, str]:
        """Return the HTTP status that this caller gets, and why if it is none of success.

        Raises Unavailable when the query service does not answer.
        """
        try:
            async with self._client() as client:
                await client.status_counts()
        except LightstreamError as error:
            if not error.status:
                raise _explained(error) from None
            return error.status, error.detail
        return 200, ""

    def _client(self) -> AsyncLightstream:
        transport = _CallerTransport(self.pool, self.headers)
        # Empty, for else the client takes those of the environment, which are not the caller's.
        return AsyncLightstream(
            self.url(), transport=transport, api_key="", token="", workspace="", attempts=1
        )


@dataclass(frozen=True)
class CallerClients:
    """Makes the clients of all callers. `headers` hold for a caller that sends none of its own, as
    over stdio.
    """

    pool: httpx.AsyncBaseTransport
    url: Callable[[], str]
    headers: Mapping[str, str]

    def for_caller(self, caller_headers: Mapping[str, str] | None) -> CallerClient:
        """Return the client of the caller who sent these headers; None: of the one who started this
        process.
        """
        sent_headers = {
            name: value for name in CALLER_HEADERS if (value := (caller_headers or {}).get(name))
        }
        workspace_headers = sent_headers.keys() & {WORKSPACE, OTHER_WORKSPACE}
        own_headers = {
            name: value
            for name, value in self.headers.items()
            if not (workspace_headers and name == WORKSPACE)
        }
        return CallerClient(self.pool, self.url, {**own_headers, **sent_headers})


async def document_by_id(client: AsyncLightstream, id: str) -> Document | None:
    """Return the state of one document, None for an unknown id."""
    try:
        return await client.run(get("/documents/by_id", parse_as(Document), doc_id=id))
    except NotFound:
        return None


async def documents_of_track(client: AsyncLightstream, track_id: str) -> list[Document]:
    """Return the states of the documents that were added by one request; none for an unknown track
    id.
    """
    # A path of several parts, or one that leads up, would be another route.
    if "/" in track_id or not track_id.strip("."):
        return []
    return (await client.track_status(track_id)).documents


def _explained(error: LightstreamError) -> ServiceError:
    """Return the error with what the user can do about it."""
    status = error.status
    detail = error.detail[:LONGEST_DETAIL]
    if isinstance(error, AccessDenied):
        return ConfigurationError(
            f"the query service refuses: {detail}. Repeating the call will not help: "
            "the user must configure a key that may do this in this workspace"
        )
    if status in (429, 503):
        wait = error.retry_after
        return Unavailable(
            f"{detail}; try again {'later' if wait is None else f'in {wait:.0f} seconds'}"
        )
    if 400 <= status < 500:
        return InvalidInput(detail)
    if not status and isinstance(error, Unavailable):
        return Unavailable(f"{error}: is the stack running? `lightstream up --detach` starts it")
    return (
        error if isinstance(error, ConfigurationError) else Unavailable(str(error)[:LONGEST_DETAIL])
    )
