"""The collections of one embedding model on a Qdrant server: found, made and used, over one
connection.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from json import JSONDecodeError
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from contracts.graph import VectorKind
from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.vectors.model_collections import ModelCollections
from runtime.stores.vectors.qdrant.points import INDEXES

T = TypeVar("T")
Call = Callable[[AsyncQdrantClient, str], Awaitable[T]]
"""One exchange: given the client and the collection's name."""

SCHEMES = {"qdrant": "http", "qdrant+https": "https"}
URL_FORM = "the URL of Qdrant must look like qdrant://host:6333 or qdrant+https://host:6333"

MODEL = "embedding_model"
"""The key of a collection's metadata that names its model."""

GRAPH = models.HnswConfigDiff(m=0, payload_m=16)
"""An index of vectors for each workspace that is large, none for all together: every search names
its workspace.
"""

_MADE_MEANWHILE = 409
_NOT_THERE = 404
_REFUSED = {401, 403}
_NOT_WORKING = {408, 429, 502, 503, 504, 507}


class NotServed(Unavailable):
    """The collection is not there: opening it again may help."""


class Lost(Unavailable):
    """The connection ended before an answer: a server that was started again gives another."""


class Collections:
    """One connection, and the collections that were opened over it.

    A collection is looked for once and then taken as given; a call that finds it gone opens it
    again and repeats itself once. `timeout` is in seconds and bounds each exchange. Raises
    ConfigurationError for a URL that is none, or one with a key in it.
    """

    def __init__(
        self, url: str, *, model: str, dimension: int, api_key: str, timeout: float
    ) -> None:
        self.of_model = ModelCollections(self, model, dimension)
        self._server, address = _address(url)
        self._timeout = timeout
        self._client = AsyncQdrantClient(
            url=address,
            # Without a port the client would take its own default, also for https.
            port=urlsplit(address).port or (443 if address.startswith("https:") else 6333),
            headers={"api-key": api_key} if api_key else None,
            timeout=max(1, round(timeout)),
            # It asks from a thread of its own and only warns; what is too old fails by itself.
            check_compatibility=False,
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=20),
        )
        self._open: set[str] = set()
        self._opening: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._has_answered = False

    async def names(self) -> list[str]:
        """Return all collections of the server. Raises Unavailable."""
        answer = await self._ask(self._client.get_collections())
        return [collection.name for collection in answer.collections]

    async def model_of_collection(self, name: str) -> str:
        """Return the model that a collection names; empty for one of another program."""
        info = await self._ask(self._client.get_collection(name))
        return str((info.config.metadata or {}).get(MODEL, ""))

    async def use(
        self,
        generation: int,
        kind: VectorKind,
        call: Call[T],
        *,
        create: bool = False,
        write: bool = False,
    ) -> T | None:
        """Return the result of the call. A missing collection is created, or the result is None.

        Raises ModelChanged, OutdatedVectors for a write, and Unavailable.
        """
        for is_last in (False, True):
            name = await self.open(generation, kind, create=create, write=write)
            if name is None:
                return None
            try:
                return await self._ask(call(self._client, name))
            except NotServed:
                self._open.discard(name)
                self.of_model.forget(generation)
            except Lost:  # every exchange may be repeated
                if is_last:
                    raise
        if create:
            raise NotServed(f"the {kind} of generation {generation} are dropped while written")
        return None

    async def open(
        self, generation: int, kind: VectorKind, *, create: bool, write: bool = False
    ) -> str | None:
        """Return the name of the collection, None when there is none and none is to be made."""
        if (name := self._known(generation, kind, write=write)) is not None:
            return name
        async with self._opening[f"{generation} {kind}"]:
            if (name := self._known(generation, kind, write=write)) is not None:
                return name
            names = await self.of_model.look(generation, write=create or write)
            name = self.of_model.name(generation, kind)
            if name not in names and not create:
                return None
            if name not in names:
                await self._make(name)
            await self._index(name)
            self._open.add(name)
            return name

    async def make(self, generation: int, kind: VectorKind) -> None:
        """Make the collection unless the server, not only our memory, has it.

        Raises ModelChanged, OutdatedVectors and Unavailable.
        """
        self._open.discard(self.of_model.name(generation, kind))
        await self.open(generation, kind, create=True, write=True)

    async def drop(self, name: str) -> None:
        """Remove a collection. Repeats change nothing."""
        self._open.discard(name)
        await self._ask(self._client.delete_collection(name))

    async def close(self) -> None:
        """Close the connection."""
        await self._client.close()

    def _known(self, generation: int, kind: VectorKind, *, write: bool) -> str | None:
        """Return the collection that is open already, and may be written where that is wanted."""
        name = self.of_model.name(generation, kind)
        is_writable = not self.of_model.is_older(generation)
        return name if name in self._open and (is_writable or not write) else None

    async def _make(self, name: str) -> None:
        # Whether vectors stand in memory or on disk is the operator's choice for the whole server.
        vectors = models.VectorParams(size=self.of_model.dimension, distance=models.Distance.COSINE)
        try:
            await self._ask(
                self._client.create_collection(
                    name,
                    vectors_config=vectors,
                    hnsw_config=GRAPH,
                    metadata={MODEL: self.of_model.model_text},
                )
            )
        except _Refusal as refusal:
            if refusal.status != _MADE_MEANWHILE:
                raise

    async def _index(self, name: str) -> None:
        """Make the indexes of payloads that are missing: their maker may have died halfway."""
        info = await self._ask(self._client.get_collection(name))
        for field, schema in INDEXES.items():
            if field not in info.payload_schema:
                await self._ask(
                    self._client.create_payload_index(name, field, field_schema=schema, wait=True)
                )

    async def _ask(self, exchange: Awaitable[T]) -> T:
        """Return the answer. Raises Unavailable without one, NotServed when opening the collection
        may bring one.
        """
        try:
            async with asyncio.timeout(self._timeout):
                answer = await exchange
        except TimeoutError:
            raise Unavailable(
                f"Qdrant at {self._server} did not answer within {self._timeout:.0f} s"
            ) from None
        except ResponseHandlingException as error:
            raise self._lost(error.source) from None
        except JSONDecodeError as error:  # the client lets it through
            raise self._lost(error) from None
        except QdrantException as error:  # 429; where its Retry-After is no number, without one
            seconds = getattr(error, "retry_after_s", None)
            raise Unavailable(
                f"Qdrant at {self._server} asks to wait", retry_after=seconds
            ) from None
        except UnexpectedResponse as error:
            raise self._translated(error.status_code or 0) from None
        self._has_answered = True
        return answer

    def _lost(self, cause: object) -> Exception:
        """Return the error for an exchange that brought no answer to read."""
        if isinstance(cause, httpx.HTTPError | OSError):
            kind = Unavailable if isinstance(cause, httpx.TimeoutException) else Lost
            reason = type(cause).__name__
            return kind(f"Qdrant at {self._server} does not answer ({reason})")
        return Unavailable(f"what answers at {self._server} is no Qdrant that we know")

    def _translated(self, status: int) -> Exception:
        """Return the error for a status. What the server says of it may quote texts, which must not
        reach a log.
        """
        if status == _NOT_THERE:
            return NotServed(f"Qdrant at {self._server} does not have the collection")
        if status in _REFUSED:
            reason = (
                f"Qdrant at {self._server} refuses the API key ({status}): correct VECTORS_TOKEN"
            )
            return Unavailable(reason) if self._has_answered else ConfigurationError(reason)
        if status in _NOT_WORKING or status >= 500:
            return Unavailable(f"Qdrant at {self._server} does not serve ({status})")
        return _Refusal(f"Qdrant at {self._server} refuses a request ({status})", status)


class _Refusal(RuntimeError):
    """The server takes no such request: only a bug explains it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def _address(url: str) -> tuple[str, str]:
    """Return host and port as messages name them, and the URL that the client takes."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise ConfigurationError(URL_FORM)
    if "@" in parts.netloc:
        raise ConfigurationError("the key of Qdrant stands in VECTORS_TOKEN, not in its URL")
    address = urlunsplit((SCHEMES[parts.scheme], parts.netloc, parts.path.rstrip("/"), "", ""))
    return parts.netloc, address
