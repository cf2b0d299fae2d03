"""The Python clients of Lightstream: a synchronous one (`Lightstream`) and one for asyncio
(`AsyncLightstream`).

Both have the same methods. `questions`, `receipts`, `search`, `documents`, `failures`, `golden`,
`graph`, `languages`, `past`, `access` and `document_access` define what a method sends and returns;
this module sends it.
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

from lightstream_rag import (
    access,
    document_access,
    documents,
    failures,
    golden,
    graph,
    languages,
    past,
    questions,
    receipts,
    search,
    validity,
)
from lightstream_rag.connection import (
    Connection,
    ConnectionOptions,
    adopt_renewed_token,
    bearer,
    parse_answer,
    raise_for_error,
    request_of,
    translating_httpx_errors,
)
from lightstream_rag.flows import Call, Flow, Pause
from lightstream_rag.publisher import publish_document
from runtime.workarounds.httpx import httpx

__all__ = ["AsyncLightstream", "Lightstream", "publish_document"]

P = ParamSpec("P")
T = TypeVar("T")


def _method(send: Callable[..., Any], build: Callable[..., Any]) -> Any:
    """Return `send` with the name, docstring and parameters of `build`, for `help` and editors."""
    method = wraps(build)(send)
    build_signature = signature(build)
    self_parameter = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    result_type = get_args(build_signature.return_annotation)[-1]
    method.__signature__ = build_signature.replace(  # pyright: ignore[reportAttributeAccessIssue]
        parameters=[self_parameter, *build_signature.parameters.values()],
        return_annotation=result_type,
    )
    return method


def _sync_method(build: Callable[P, Flow[T]]) -> "Callable[Concatenate[Lightstream, P], T]":
    def send(self: "Lightstream", *args: P.args, **options: P.kwargs) -> T:
        return self.run(build(*args, **options))

    return _method(send, build)


def _async_method(
    build: Callable[P, Flow[T]],
) -> "Callable[Concatenate[AsyncLightstream, P], Coroutine[Any, Any, T]]":
    async def send(self: "AsyncLightstream", *args: P.args, **options: P.kwargs) -> T:
        return await self.run(build(*args, **options))

    return _method(send, build)


def _sync_stream(
    build: Callable[P, Call[T]],
) -> "Callable[Concatenate[Lightstream, P], AbstractContextManager[Iterator[T]]]":
    @contextmanager
    def send(self: "Lightstream", *args: P.args, **options: P.kwargs) -> Generator[Iterator[T]]:
        with closing(self.pieces(build(*args, **options))) as pieces:
            yield pieces

    return _method(send, build)


def _async_stream(
    build: Callable[P, Call[T]],
) -> "Callable[Concatenate[AsyncLightstream, P], AbstractAsyncContextManager[AsyncIterator[T]]]":
    @asynccontextmanager
    async def send(
        self: "AsyncLightstream", *args: P.args, **options: P.kwargs
    ) -> AsyncGenerator[AsyncIterator[T]]:
        async with aclosing(self.pieces(build(*args, **options))) as pieces:
            yield pieces

    return _method(send, build)


class Lightstream:
    """A synchronous client. It keeps connections open, so use it as a context manager, or `close`
    it.

    The default of `url` is LIGHTSTREAM_API_URL, or else port 9621 of this machine. `transport` is
    for proxies, certificates and tests: see httpx. Raises `Misconfigured` for an invalid address,
    key or workspace.
    """

    def __init__(
        self,
        url: str = "",
        *,
        transport: httpx.BaseTransport | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        self._connection = Connection.of(url, **options)
        self._http = httpx.Client(transport=transport, **self._connection.httpx_arguments())

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
        """Send the requests of a flow, and return its result. Raises errors of
        `lightstream_rag.errors`.
        """
        result: Any = None
        while True:
            try:
                step = flow.send(result)
            except StopIteration as end:
                return end.value
            result = None
            if isinstance(step, Call):
                result = parse_answer(step, self._answer(step, is_streamed=False))
            elif isinstance(step, Pause):
                time.sleep(step.seconds)
            else:
                self._http.headers.update(bearer(step.token))

    def pieces(self, call: Call[T]) -> Generator[T]:
        """Yield the lines of an answer as they come."""
        lines = questions.LineParser(call)
        response = self._answer(call, is_streamed=True)
        with closing(response), translating_httpx_errors(call.path):
            for data in response.iter_bytes():
                yield from lines.feed(data)
            yield from lines.close()

    def _answer(self, call: Call[Any], *, is_streamed: bool) -> httpx.Response:
        for attempt in self._connection.retries(call):
            with attempt, translating_httpx_errors(call.path), request_of(call) as request:
                response = self._http.send(self._http.build_request(**request), stream=is_streamed)
                adopt_renewed_token(self._http.headers, response)
                if not response.is_success:
                    response.read()
                raise_for_error(call, response)
                return response
        raise AssertionError("an attempt returns or raises")

    health = _sync_method(access.health)
    login = _sync_method(access.login)
    query = _sync_method(questions.query)
    query_stream = _sync_stream(questions.query_stream)
    query_data = _sync_method(questions.query_data)
    search_passages = _sync_method(search.search_passages)
    passages_around = _sync_method(search.passages_around)
    entity_paths = _sync_method(search.entity_paths)
    add_text = _sync_method(documents.add_text)
    add_texts = _sync_method(documents.add_texts)
    upload = _sync_method(documents.upload)
    wait = _sync_method(documents.wait)
    track_status = _sync_method(documents.track_status)
    status_counts = _sync_method(documents.status_counts)
    document_languages = _sync_method(languages.document_languages)
    parked_events = _sync_method(failures.parked_events)
    change_document_access = _sync_method(document_access.change_document_access)
    explain_document_access = _sync_method(document_access.explain_document_access)
    document_access = _sync_method(document_access.document_access)
    list_documents = _sync_method(documents.list_documents)
    all_documents = _sync_method(documents.all_documents)
    documents_by_id = _sync_method(documents.documents_by_id)
    documents_named = _sync_method(documents.documents_named)
    delete_documents = _sync_method(documents.delete_documents)
    document_validity = _sync_method(validity.document_validity)
    state_validity = _sync_method(validity.state_validity)
    withdraw_validity = _sync_method(validity.withdraw_validity)
    supersession_proposals = _sync_method(validity.supersession_proposals)
    decide_supersession = _sync_method(validity.decide_supersession)
    contradictions = _sync_method(validity.contradictions)
    tag_document = _sync_method(documents.tag_document)
    entity_names = _sync_method(graph.entity_names)
    popular_entities = _sync_method(graph.popular_entities)
    search_entities = _sync_method(graph.search_entities)
    entity_exists = _sync_method(graph.entity_exists)
    subgraph = _sync_method(graph.subgraph)
    create_entity = _sync_method(graph.create_entity)
    edit_entity = _sync_method(graph.edit_entity)
    merge_entities = _sync_method(graph.merge_entities)
    delete_entity = _sync_method(graph.delete_entity)
    create_relation = _sync_method(graph.create_relation)
    edit_relation = _sync_method(graph.edit_relation)
    delete_relation = _sync_method(graph.delete_relation)
    aliases = _sync_method(graph.aliases)
    alias_proposals = _sync_method(graph.alias_proposals)
    accept_alias = _sync_method(graph.accept_alias)
    reject_alias = _sync_method(graph.reject_alias)
    propose_alias = _sync_method(graph.propose_alias)
    undo_alias = _sync_method(graph.undo_alias)
    split_entity = _sync_method(graph.split_entity)
    entity_history = _sync_method(past.entity_history)
    receipt = _sync_method(receipts.receipt)
    replay_receipt = _sync_method(receipts.replay)
    receipt_verification = _sync_method(receipts.verification)
    receipts = _sync_method(receipts.receipts)
    diff = _sync_method(past.diff)
    undo = _sync_method(past.undo)
    undo_events = _sync_method(past.undo_events)
    undo_since = _sync_method(past.undo_since)
    golden_questions = _sync_method(golden.golden_questions)
    set_golden_questions = _sync_method(golden.set_golden_questions)
    remove_golden_question = _sync_method(golden.remove_golden_question)
    run_golden_questions = _sync_stream(golden.run_golden_questions)
    compare_answers = _sync_stream(golden.compare_answers)
    golden_runs = _sync_method(golden.golden_runs)
    give_feedback = _sync_method(golden.give_feedback)
    feedback = _sync_method(golden.feedback)


class AsyncLightstream:
    """A client for asyncio: like `Lightstream`, with methods to await, in an `async with` block."""

    def __init__(
        self,
        url: str = "",
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        self._connection = Connection.of(url, **options)
        self._http = httpx.AsyncClient(transport=transport, **self._connection.httpx_arguments())

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
        """Send the requests of a flow, and return its result. Raises errors of
        `lightstream_rag.errors`.
        """
        result: Any = None
        while True:
            try:
                step = flow.send(result)
            except StopIteration as end:
                return end.value
            result = None
            if isinstance(step, Call):
                result = parse_answer(step, await self._answer(step, is_streamed=False))
            elif isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
            else:
                self._http.headers.update(bearer(step.token))

    async def pieces(self, call: Call[T]) -> AsyncGenerator[T]:
        """Yield the lines of an answer as they come."""
        lines = questions.LineParser(call)
        response = await self._answer(call, is_streamed=True)
        try:
            with translating_httpx_errors(call.path):
                async for data in response.aiter_bytes():
                    for piece in lines.feed(data):
                        yield piece
                for piece in lines.close():
                    yield piece
        finally:
            await response.aclose()

    async def _answer(self, call: Call[Any], *, is_streamed: bool) -> httpx.Response:
        async for attempt in self._connection.retries(call):
            with attempt, translating_httpx_errors(call.path), request_of(call) as request:
                response = await self._http.send(
                    self._http.build_request(**request), stream=is_streamed
                )
                adopt_renewed_token(self._http.headers, response)
                if not response.is_success:
                    await response.aread()
                raise_for_error(call, response)
                return response
        raise AssertionError("an attempt returns or raises")

    health = _async_method(access.health)
    login = _async_method(access.login)
    query = _async_method(questions.query)
    query_stream = _async_stream(questions.query_stream)
    query_data = _async_method(questions.query_data)
    search_passages = _async_method(search.search_passages)
    passages_around = _async_method(search.passages_around)
    entity_paths = _async_method(search.entity_paths)
    add_text = _async_method(documents.add_text)
    add_texts = _async_method(documents.add_texts)
    upload = _async_method(documents.upload)
    wait = _async_method(documents.wait)
    track_status = _async_method(documents.track_status)
    status_counts = _async_method(documents.status_counts)
    document_languages = _async_method(languages.document_languages)
    parked_events = _async_method(failures.parked_events)
    change_document_access = _async_method(document_access.change_document_access)
    explain_document_access = _async_method(document_access.explain_document_access)
    document_access = _async_method(document_access.document_access)
    list_documents = _async_method(documents.list_documents)
    all_documents = _async_method(documents.all_documents)
    documents_by_id = _async_method(documents.documents_by_id)
    documents_named = _async_method(documents.documents_named)
    delete_documents = _async_method(documents.delete_documents)
    document_validity = _async_method(validity.document_validity)
    state_validity = _async_method(validity.state_validity)
    withdraw_validity = _async_method(validity.withdraw_validity)
    supersession_proposals = _async_method(validity.supersession_proposals)
    decide_supersession = _async_method(validity.decide_supersession)
    contradictions = _async_method(validity.contradictions)
    tag_document = _async_method(documents.tag_document)
    entity_names = _async_method(graph.entity_names)
    popular_entities = _async_method(graph.popular_entities)
    search_entities = _async_method(graph.search_entities)
    entity_exists = _async_method(graph.entity_exists)
    subgraph = _async_method(graph.subgraph)
    create_entity = _async_method(graph.create_entity)
    edit_entity = _async_method(graph.edit_entity)
    merge_entities = _async_method(graph.merge_entities)
    delete_entity = _async_method(graph.delete_entity)
    create_relation = _async_method(graph.create_relation)
    edit_relation = _async_method(graph.edit_relation)
    delete_relation = _async_method(graph.delete_relation)
    aliases = _async_method(graph.aliases)
    alias_proposals = _async_method(graph.alias_proposals)
    accept_alias = _async_method(graph.accept_alias)
    reject_alias = _async_method(graph.reject_alias)
    propose_alias = _async_method(graph.propose_alias)
    undo_alias = _async_method(graph.undo_alias)
    split_entity = _async_method(graph.split_entity)
    entity_history = _async_method(past.entity_history)
    receipt = _async_method(receipts.receipt)
    replay_receipt = _async_method(receipts.replay)
    receipt_verification = _async_method(receipts.verification)
    receipts = _async_method(receipts.receipts)
    diff = _async_method(past.diff)
    undo = _async_method(past.undo)
    undo_events = _async_method(past.undo_events)
    undo_since = _async_method(past.undo_since)
    golden_questions = _async_method(golden.golden_questions)
    set_golden_questions = _async_method(golden.set_golden_questions)
    remove_golden_question = _async_method(golden.remove_golden_question)
    run_golden_questions = _async_stream(golden.run_golden_questions)
    compare_answers = _async_stream(golden.compare_answers)
    golden_runs = _async_method(golden.golden_runs)
    give_feedback = _async_method(golden.give_feedback)
    feedback = _async_method(golden.feedback)
