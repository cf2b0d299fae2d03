"""Questions over the wire: who may ask, in whose name, and what holds while a side is slow, silent,
of another version or gone.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette

from contracts.values import TokenUsage
from embedded.processes import free_port
from runtime import telemetry
from runtime.bus.actor import acting_as, current_actor
from runtime.bus.memory import MemoryLog
from runtime.errors import ConfigurationError, InvalidInput, NotServing, StoreBehind, Unavailable
from runtime.models.call_scope import call_scope, note_paid
from runtime.models.port import AnswerPiece, Message
from runtime.models.scripted import ScriptedChat
from services.query.adapters.models import ModelAnswerGenerator
from services.query.charges import Charges
from services.query.questions import server as server_module
from services.query.questions import wire
from services.query.questions.remote import RemoteQuestions
from services.query.questions.server import QuestionServer
from services.query.questions.settings import QuestionClientSettings
from services.query.questions.wire import QuestionFailed
from tests.support.querying import library_of_two
from tests.support.questions import (
    KEY,
    asked_over_the_wire,
    local_questions,
    place,
    question,
    question_server,
)
from tests.support.served import served
from tests.support.waiting import PATIENCE


async def server_of(**changes: Any) -> QuestionServer:
    harness = await library_of_two()
    return question_server(local_questions(harness, **changes))


async def test_nobody_is_answered_without_the_key() -> None:
    async with asked_over_the_wire(await server_of(), key="another key of these") as remote:
        with pytest.raises(NotServing, match="QUESTIONS_KEY: give both the same"):
            await remote.ask(question())


async def test_a_service_that_starts_is_asked_again_later() -> None:
    async with asked_over_the_wire(question_server(None)) as remote:
        with pytest.raises(Unavailable) as error:
            await remote.configuration(1)
    assert error.value.retry_after == 2


async def test_nothing_is_answered_from_a_store_that_has_lost_data() -> None:
    server = await server_of()

    def require(*projections: str) -> None:
        if "vectors" in projections or not projections:
            raise StoreBehind("the vector store has lost data")

    server.require = require
    async with asked_over_the_wire(server) as remote:
        for sequence in (None, 0):
            with pytest.raises(StoreBehind, match="lost data"):
                await remote.ask(question(place=place(sequence=sequence)))


async def test_models_are_paid_for_the_workspace_and_in_the_name_of_who_asks() -> None:
    scopes: set[tuple[str, str | None]] = set()
    harness = await library_of_two()

    async def embed(texts: Sequence[str]) -> Any:
        scopes.add((call_scope().workspace, current_actor()))
        note_paid("embeddings", "vectors", TokenUsage(prompt=5, calls=1), 0.5)
        return await harness.embedder.embed(texts)

    server = question_server(local_questions(harness, embed=embed))
    log = MemoryLog()
    server.charges = Charges(log)
    async with asked_over_the_wire(server) as remote:
        with acting_as("key:reader"):
            await remote.ask(question(mode="naive"))
    assert scopes == {("w", "key:reader")}
    await server.charges.publish()
    (message,) = log.messages
    assert message.subject.endswith(".QuestionsCharged") and b"key:reader" in message.data


async def test_the_trace_of_a_request_goes_on_behind_the_wire() -> None:
    traceparents: list[str | None] = []
    harness = await library_of_two()

    async def embed(texts: Sequence[str]) -> Any:
        traceparents.append(telemetry.traceparent_for())
        return await harness.embedder.embed(texts)

    server = question_server(local_questions(harness, embed=embed))
    async with asked_over_the_wire(server) as remote:
        with telemetry.server_span("POST /query", None) as trace:
            await remote.retrieve(question(mode="naive"))
    assert traceparents and {(parent or "")[3:35] for parent in traceparents} == {trace}


async def test_a_fault_tells_its_id_and_nothing_of_what_happened() -> None:
    async def fail(_: Any) -> Any:
        raise RuntimeError("password=hunter2")

    async with asked_over_the_wire(await server_of(embed=fail)) as remote:
        with pytest.raises(QuestionFailed, match=r"the query service failed \(error_id: \w{32}\)"):
            await remote.ask(question())


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"request": {"query": "x"}}', b'{"request": {"mode": "magic"}}'],
)
async def test_what_cannot_be_read_is_refused_with_its_fields(body: bytes) -> None:
    server = await server_of()
    async with served(Starlette(routes=[server.mount()])) as url, httpx.AsyncClient() as client:
        headers = {"Authorization": f"Bearer {KEY}"}
        answer = await client.post(f"{url}/questions/ask", content=body, headers=headers)
    name, value = wire.read_line(answer.content.splitlines()[0])
    assert name == "error"
    with pytest.raises(InvalidInput, match="is the gateway of another version"):
        raise wire.read_value(value, wire.WIRE_ERROR).error()


async def test_a_question_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "MAX_BODY", 1000)
    async with asked_over_the_wire(await server_of()) as remote:
        with pytest.raises(InvalidInput, match="more than 1,000 bytes"):
            await remote.ask(question("radium " * 200))


def test_errors_and_fields_of_a_newer_version_are_read_as_what_is_known() -> None:
    body = b'{"message":"x","kinds":["VectorsAway","StoreBehind","Unavailable"],"since":3}'
    error = wire.read_value(body, wire.WIRE_ERROR).error()
    assert type(error) is StoreBehind and str(error) == "x"


async def test_a_long_answer_is_waited_for_while_the_service_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wire, "HEARTBEAT", 0.05)

    async def slowly(_: Sequence[Message]) -> str:
        await asyncio.sleep(1.5)
        return "Marie Curie [1]."

    generator = ModelAnswerGenerator(ScriptedChat(slowly))
    server = await server_of(answer_generator=generator)
    async with asked_over_the_wire(server, silence=0.5) as remote:
        assert (await remote.ask(question())).text == "Marie Curie [1]."


async def test_a_service_that_is_silent_is_given_up() -> None:
    never = asyncio.Event()

    async def held(_: Any) -> Any:
        await never.wait()

    server = await server_of(embed=held)
    async with asked_over_the_wire(server, silence=0.3) as remote:
        with pytest.raises(Unavailable, match="does not answer"):
            await remote.ask(question(mode="naive"))


async def test_what_is_not_read_holds_the_model_back() -> None:
    calls = 0

    class Fast(ScriptedChat):
        async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
            nonlocal calls
            for _ in range(4000):
                calls += 1
                yield AnswerPiece("word " * 2000)
                await asyncio.sleep(0)

    server = await server_of(answer_generator=ModelAnswerGenerator(Fast([])))
    async with asked_over_the_wire(server) as remote:
        answer = await remote.ask(question(is_streamed=True))
        assert answer.pieces is not None
        async with aclosing(answer.pieces):
            await anext(answer.pieces)
            before = -1
            while before != calls:
                before = calls
                await asyncio.sleep(0.3)
            assert calls < 3000, "what two sockets hold, of 40 MB"


class Restarting:
    """A server that can be killed and started again at one address."""

    def __init__(self, server: QuestionServer) -> None:
        self.app = Starlette(routes=[server.mount()])
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        config = uvicorn.Config(self.app, port=self.port, log_level="error", lifespan="off")
        self.server = uvicorn.Server(config)
        self.running = asyncio.create_task(self.server.serve())
        async with asyncio.timeout(PATIENCE):
            while not self.server.started:
                await asyncio.sleep(0.01)

    async def stop(self) -> None:
        self.server.should_exit = True
        self.server.force_exit = True
        for connection in list(self.server.server_state.connections):
            connection.transport.abort()
        await self.running


async def test_a_service_that_starts_again_breaks_what_it_said_and_answers_the_next() -> None:
    class Held(ScriptedChat):
        async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
            yield AnswerPiece("Marie Curie did it. " * 20)
            await asyncio.Event().wait()

    restarting = Restarting(await server_of(answer_generator=ModelAnswerGenerator(Held(["x"]))))
    await restarting.start()
    remote = RemoteQuestions(restarting.url, KEY)
    try:
        await remote.configuration(1)
        answer = await remote.ask(question(is_streamed=True))
        assert answer.pieces is not None
        await anext(answer.pieces)
        await restarting.stop()
        with pytest.raises(Unavailable, match="the query service"):
            await anext(answer.pieces)
        with pytest.raises(Unavailable, match=r"does not answer \(ConnectError\)"):
            await remote.configuration(1)
        await restarting.start()
        assert (await remote.ask(question())).text == "x"
    finally:
        await remote.close()
        await restarting.stop()


@pytest.mark.parametrize("key", ["", "short", "fifteen letters"])
def test_a_short_key_is_refused_before_anything_starts(key: str) -> None:
    settings = QuestionClientSettings(questions_url="http://query:9626", questions_key=key)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigurationError, match="16 characters or more"):
        settings.required_key()


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="QUESTIONS_URL is no address"):
        RemoteQuestions("query:9626", KEY)
