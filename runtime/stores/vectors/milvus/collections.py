"""The collections of one embedding model on a Milvus server: found, made, loaded and used, over one
connection.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection
from typing import Any, TypeVar
from urllib.parse import urlsplit

import grpc

from contracts.graph import VectorKind
from runtime.clock import SETTLING, SetBack
from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.vectors import fields
from runtime.stores.vectors.model_collections import ModelCollections
from runtime.workarounds.pymilvus import (
    AsyncMilvusClient,
    DataType,
    MilvusClient,
    MilvusException,
)

T = TypeVar("T")
Call = Callable[[Any, str], Awaitable[T]]
"""One exchange: given the client and the collection's name."""

INDEXES: dict[str, dict[str, int]] = {
    "FLAT": {},
    "AUTOINDEX": {},
    "HNSW": {"M": 16, "efConstruction": 200},
}
"""The index types to choose from, with their parameters. FLAT for Milvus Lite: its AUTOINDEX misses
most rows.
"""

_CHANNEL = {
    # Milvus Lite hangs up on a client that pings more often than every 5 minutes.
    "grpc.keepalive_time_ms": 330_000,
    "grpc.keepalive_timeout_ms": 10_000,
    "grpc.keepalive_permit_without_calls": False,
    # A server that came back is found within a second, not two minutes.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
}

_NOT_SERVED = {100, 101, 103, 106, 700}
"""Error codes: the collection is missing, not loaded, loading, recovering, or has no index."""
_NOT_WORKING = {2, 3, 4, 7, 8, 9, 11, 400, 401, 500, 501, 502, 503, 901, 902, 903}
"""Error codes: the server, or a node, channel or quota of it, is not there now."""
_NOT_WORKING_TEXTS = (
    "service not ready",
    "rpc error: code = Unavailable",
    "context deadline exceeded",
    "(code=5, message=internal error)",  # Milvus Lite: its file is locked, full or damaged
)
"""The same where the code is shared with other errors."""

# The client logs each failed call with a traceback; the error that we raise says it all.
logging.getLogger("pymilvus").setLevel(logging.CRITICAL)


LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Hosts of a server that has the clock of this process."""


class NotServed(Unavailable):
    """The collection is not there or not loaded: opening it again may help."""


class Collections:
    """One connection, and the collections that were opened over it.

    A collection is looked for once and then taken as given; a call that finds it gone, or the
    server restarted, opens it again and repeats itself once. `timeout` is in seconds and bounds
    each exchange. `token` is `user:password` or an API key. Raises ConfigurationError for a URI
    that is not http(s), or an unknown index type.
    """

    def __init__(
        self, uri: str, *, model: str, dimension: int, index_type: str, token: str, timeout: float
    ) -> None:
        if urlsplit(uri).scheme not in ("http", "https"):
            raise ConfigurationError("the URI of Milvus must begin with http:// or https://")
        if index_type not in INDEXES:
            raise ConfigurationError(
                f"Milvus index type {index_type!r} is not one of {', '.join(INDEXES)}"
            )
        self.index_type = index_type
        self.timeout = timeout
        self.of_model = ModelCollections(self, model, dimension)
        # A connection of our own: a shared one outlives `close`, and the event loop that it belongs
        # to.
        self._connection: dict[str, Any] = {
            "uri": uri,
            "token": token,
            "timeout": min(timeout, 10.0),
            "dedicated": True,
            "grpc_options": _CHANNEL,
        }
        self._client: Any = AsyncMilvusClient(**self._connection)
        self._open: set[str] = set()
        self._opening: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        # Milvus Lite goes by this machine's clock: it hides what it wrote before that was set back.
        self._clock = SetBack() if urlsplit(uri).hostname in LOOPBACK else None

    async def names(self) -> list[str]:
        """Return all collections of the server. Raises Unavailable."""
        return await self._ask(self._client.list_collections(timeout=self.timeout))

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
        self._refuse_what_is_hidden()
        name = await self.open(generation, kind, create=create, write=write)
        if name is None:
            return None
        try:
            return await self._ask(call(self._client, name))
        except NotServed:
            self._open.discard(name)
            self.of_model.forget(generation)
        if (name := await self.open(generation, kind, create=create, write=write)) is None:
            return None
        return await self._ask(call(self._client, name))

    async def open(
        self, generation: int, kind: VectorKind, *, create: bool, write: bool = False
    ) -> str | None:
        """Return the name of the loaded collection, None when there is none and none is to be
        made.
        """
        if (name := self._known(generation, kind, write=write)) is not None:
            return name
        try:
            async with asyncio.timeout(self.timeout), self._opening[f"{generation} {kind}"]:
                if (name := self._known(generation, kind, write=write)) is not None:
                    return name
                names = await self.of_model.look(generation, write=create or write)
                name = self.of_model.name(generation, kind)
                if name in self._open or await self._opened(name, names, create=create):
                    self._open.add(name)
                    return name
        except TimeoutError as error:
            raise Unavailable(
                f"Milvus did not open its {kind} within {self.timeout:.0f} s"
            ) from error
        return None

    async def make(self, generation: int, kind: VectorKind) -> None:
        """Make the collection unless the server, not only our memory, has it.

        Raises ModelChanged, OutdatedVectors and Unavailable.
        """
        self._open.discard(self.of_model.name(generation, kind))
        await self.open(generation, kind, create=True, write=True)

    async def model_of_collection(self, name: str) -> str:
        """Return the model that a collection names."""
        return (await self._ask(self._client.describe_collection(name, timeout=self.timeout)))[
            "description"
        ]

    async def drop(self, name: str) -> None:
        """Remove a collection. Repeats change nothing."""
        self._open.discard(name)
        await self._ask(self._client.drop_collection(name, timeout=self.timeout))

    async def close(self) -> None:
        """Close the connection."""
        await self._client.close()

    def _known(self, generation: int, kind: VectorKind, *, write: bool) -> str | None:
        """The name of the collection that is open already, and may be written where that is
        wanted.
        """
        name = self.of_model.name(generation, kind)
        is_writable = not self.of_model.is_older(generation)
        return name if name in self._open and (is_writable or not write) else None

    async def _opened(self, name: str, names: Collection[str], *, create: bool) -> bool:
        """Make the collection, or complete an interrupted creation, and load it. Returns whether it
        is there.
        """
        there = name in names
        if not there and not create:
            return False
        if not there or not await self._ask(self._client.list_indexes(name, timeout=self.timeout)):
            await self._ask(asyncio.to_thread(self._make, name, there=there))
        await self._ask(self._client.load_collection(name, timeout=self.timeout))
        return True

    def _make(self, name: str, *, there: bool) -> None:
        """Make the collection, unless it is there, and its index. Repeats change nothing. Blocks:
        for a thread.

        By the synchronous client: the other one waits for each index with a call that Milvus Lite
        may not know.
        """
        client: Any = MilvusClient(**self._connection)
        try:
            if not there:
                client.create_collection(name, schema=self._schema(), timeout=self.timeout)
            index: Any = client.prepare_index_params()
            parameters = INDEXES[self.index_type]
            index.add_index(
                "vector", index_type=self.index_type, metric_type="COSINE", params=parameters
            )
            client.create_index(name, index, sync=False, timeout=self.timeout)
        finally:
            client.close()

    def _schema(self) -> Any:
        schema: Any = MilvusClient.create_schema(description=self.of_model.model_text)
        schema.add_field("key", DataType.VARCHAR, is_primary=True, max_length=fields.KEY_BYTES)
        for field, max_length in fields.STRINGS.items():
            schema.add_field(field, DataType.VARCHAR, max_length=max_length)
        for field in fields.NUMBERS:
            schema.add_field(field, DataType.INT64)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=self.of_model.dimension)
        return schema

    def _refuse_what_is_hidden(self) -> None:
        """Raise Unavailable until a server on this machine has been started again after the clock
        was set back.
        """
        if self._clock and (seconds := self._clock.seconds()):
            raise Unavailable(
                (
                    f"this machine's clock was set back by {seconds:.0f} s: the vector store is "
                    "started again"
                ),
                retry_after=SETTLING,
            )

    async def _ask(self, exchange: Awaitable[T]) -> T:
        """Return the answer. Raises Unavailable without one, NotServed when opening the collection
        may bring one.
        """
        try:
            async with asyncio.timeout(self.timeout):
                answer = await exchange
            self._refuse_what_is_hidden()
            return answer
        except TimeoutError as error:
            raise Unavailable(f"Milvus did not answer within {self.timeout:.0f} s") from error
        except grpc.RpcError as error:
            raise Unavailable(f"Milvus does not answer: {error!s:.300}") from error
        except MilvusException as error:
            raise translated(error) from error


def translated(error: MilvusException) -> Exception:
    """Return the error as one of ours, or itself when only a bug explains it."""
    code: Any = error.code
    if code in _NOT_SERVED:
        return NotServed(f"Milvus does not serve the collection: {error!s:.300}")
    is_lost = isinstance(code, grpc.StatusCode) or isinstance(
        error.__context__, TimeoutError | grpc.RpcError
    )
    if is_lost or code in _NOT_WORKING or any(text in str(error) for text in _NOT_WORKING_TEXTS):
        return Unavailable(f"Milvus does not answer: {error!s:.300}")
    return error
