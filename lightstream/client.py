"""Lightstream from Python: one client that waits (`Lightstream`), one for asyncio (`AsyncLightstream`).

Both have the same methods. What a method asks and answers stands once, in `questions`, `documents`, `graph` and
`access`; here is only how it is sent.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    aclosing,
    asynccontextmanager,
    closing,
    contextmanager,
)
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack, get_args

import httpx

from lightstream import access, documents, graph, questions
from lightstream.connection import Connection, Options, adopt, bearer, check, reaching, read, request_of
from lightstream.flows import Call, Flow, Pause
from lightstream.models import Piece
from lightstream.publishing import publish_document

__all__ = ["AsyncLightstream", "Lightstream", "publish_document"]

P = ParamSpec("P")
T = TypeVar("T")


def _method(send: Callable[..., Any], build: Callable[..., Any]) -> Any:
    """`send` under the name and the words of `build`, and with its parameters, for `help` and editors."""
    method = wraps(build)(send)
    known = signature(build)
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    gives = get_args(known.return_annotation)[-1]
    method.__signature__ = known.replace(  # pyright: ignore[reportAttributeAccessIssue]
        parameters=[own, *known.parameters.values()], return_annotation=gives
    )
    return method


def _waiting(build: Callable[P, Flow[T]]) -> "Callable[Concatenate[Lightstream, P], T]":
    def send(self: "Lightstream", *args: P.args, **options: P.kwargs) -> T:
        return self.run(build(*args, **options))

    return _method(send, build)


def _awaited(build: Callable[P, Flow[T]]) -> "Callable[Concatenate[AsyncLightstream, P], Coroutine[Any, Any, T]]":
    async def send(self: "AsyncLightstream", *args: P.args, **options: P.kwargs) -> T:
        return await self.run(build(*args, **options))

    return _method(send, build)


def _streaming(
    build: Callable[P, Call[Piece]],
) -> "Callable[Concatenate[Lightstream, P], AbstractContextManager[Iterator[Piece]]]":
    @contextmanager
    def send(self: "Lightstream", *args: P.args, **options: P.kwargs) -> Generator[Iterator[Piece]]:
        with closing(self.pieces(build(*args, **options))) as pieces:
            yield pieces

    return _method(send, build)


def _streaming_awaited(
    build: Callable[P, Call[Piece]],
) -> "Callable[Concatenate[AsyncLightstream, P], AbstractAsyncContextManager[AsyncIterator[Piece]]]":
    @asynccontextmanager
    async def send(
        self: "AsyncLightstream", *args: P.args, **options: P.kwargs
    ) -> AsyncGenerator[AsyncIterator[Piece]]:
        async with aclosing(self.pieces(build(*args, **options))) as pieces:
            yield pieces

    return _method(send, build)


class Lightstream:
    """A client that waits. It keeps connections, so use it as a context manager, or `close` it.

    Without an address it is that of LIGHTSTREAM_API_URL, or this machine's port 9621. `transport` is for proxies,
    certificates and tests: see httpx. Raises `Misconfigured` for what cannot be used.
    """

    def __init__(
        self, url: str = "", *, transport: httpx.BaseTransport | None = None, **options: Unpack[Options]
    ) -> None:
        self._connection = Connection.of(url, **options)
        self._http = httpx.Client(transport=transport, **self._connection.settings())

    def __repr__(self) -> str:
        return f"Lightstream(workspace={self._connection.workspace!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def run(self, flow: Flow[T]) -> T:
        """Do what a flow asks for, and give its result. Raises errors of `lightstream.errors`."""
        said: Any = None
        while True:
            try:
                step = flow.send(said)
            except StopIteration as end:
                return end.value
            said = None
            if isinstance(step, Call):
                said = read(step, self._answer(step, streamed=False))
            elif isinstance(step, Pause):
                time.sleep(step.seconds)
            else:
                self._http.headers.update(bearer(step.token))

    def pieces(self, call: Call[Piece]) -> Generator[Piece]:
        """The pieces of an answer as they come."""
        lines = questions.Lines()
        response = self._answer(call, streamed=True)
        with closing(response), reaching(call.path):
            for data in response.iter_bytes():
                yield from lines.of(data)
            yield from lines.end()

    def _answer(self, call: Call[Any], *, streamed: bool) -> httpx.Response:
        for attempt in self._connection.trials(call):
            with attempt, reaching(call.path), request_of(call) as request:
                response = self._http.send(self._http.build_request(**request), stream=streamed)
                adopt(self._http.headers, response)
                if not response.is_success:
                    response.read()
                check(call, response)
                return response
        raise AssertionError("an attempt returns or raises")

    health = _waiting(access.health)
    login = _waiting(access.login)
    query = _waiting(questions.query)
    query_stream = _streaming(questions.query_stream)
    query_data = _waiting(questions.query_data)
    add_text = _waiting(documents.add_text)
    add_texts = _waiting(documents.add_texts)
    upload = _waiting(documents.upload)
    wait = _waiting(documents.wait)
    track_status = _waiting(documents.track_status)
    status_counts = _waiting(documents.status_counts)
    list_documents = _waiting(documents.list_documents)
    all_documents = _waiting(documents.all_documents)
    delete_documents = _waiting(documents.delete_documents)
    entity_names = _waiting(graph.entity_names)
    popular_entities = _waiting(graph.popular_entities)
    search_entities = _waiting(graph.search_entities)
    entity_exists = _waiting(graph.entity_exists)
    subgraph = _waiting(graph.subgraph)
    create_entity = _waiting(graph.create_entity)
    edit_entity = _waiting(graph.edit_entity)
    merge_entities = _waiting(graph.merge_entities)
    delete_entity = _waiting(graph.delete_entity)
    create_relation = _waiting(graph.create_relation)
    edit_relation = _waiting(graph.edit_relation)
    delete_relation = _waiting(graph.delete_relation)


class AsyncLightstream:
    """A client for asyncio: like `Lightstream`, with methods to await, in an `async with` block."""

    def __init__(
        self, url: str = "", *, transport: httpx.AsyncBaseTransport | None = None, **options: Unpack[Options]
    ) -> None:
        self._connection = Connection.of(url, **options)
        self._http = httpx.AsyncClient(transport=transport, **self._connection.settings())

    def __repr__(self) -> str:
        return f"AsyncLightstream(workspace={self._connection.workspace!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def run(self, flow: Flow[T]) -> T:
        """Do what a flow asks for, and give its result. Raises errors of `lightstream.errors`."""
        said: Any = None
        while True:
            try:
                step = flow.send(said)
            except StopIteration as end:
                return end.value
            said = None
            if isinstance(step, Call):
                said = read(step, await self._answer(step, streamed=False))
            elif isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
            else:
                self._http.headers.update(bearer(step.token))

    async def pieces(self, call: Call[Piece]) -> AsyncGenerator[Piece]:
        """The pieces of an answer as they come."""
        lines = questions.Lines()
        response = await self._answer(call, streamed=True)
        try:
            with reaching(call.path):
                async for data in response.aiter_bytes():
                    for piece in lines.of(data):
                        yield piece
                for piece in lines.end():
                    yield piece
        finally:
            await response.aclose()

    async def _answer(self, call: Call[Any], *, streamed: bool) -> httpx.Response:
        async for attempt in self._connection.trials(call):
            with attempt, reaching(call.path), request_of(call) as request:
                response = await self._http.send(self._http.build_request(**request), stream=streamed)
                adopt(self._http.headers, response)
                if not response.is_success:
                    await response.aread()
                check(call, response)
                return response
        raise AssertionError("an attempt returns or raises")

    health = _awaited(access.health)
    login = _awaited(access.login)
    query = _awaited(questions.query)
    query_stream = _streaming_awaited(questions.query_stream)
    query_data = _awaited(questions.query_data)
    add_text = _awaited(documents.add_text)
    add_texts = _awaited(documents.add_texts)
    upload = _awaited(documents.upload)
    wait = _awaited(documents.wait)
    track_status = _awaited(documents.track_status)
    status_counts = _awaited(documents.status_counts)
    list_documents = _awaited(documents.list_documents)
    all_documents = _awaited(documents.all_documents)
    delete_documents = _awaited(documents.delete_documents)
    entity_names = _awaited(graph.entity_names)
    popular_entities = _awaited(graph.popular_entities)
    search_entities = _awaited(graph.search_entities)
    entity_exists = _awaited(graph.entity_exists)
    subgraph = _awaited(graph.subgraph)
    create_entity = _awaited(graph.create_entity)
    edit_entity = _awaited(graph.edit_entity)
    merge_entities = _awaited(graph.merge_entities)
    delete_entity = _awaited(graph.delete_entity)
    create_relation = _awaited(graph.create_relation)
    edit_relation = _awaited(graph.edit_relation)
    delete_relation = _awaited(graph.delete_relation)
