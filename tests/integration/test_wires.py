"""Each provider's own wire, on a server that its official client has read first."""

import math
import traceback
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from runtime.errors import (
    ModelRefused,
    RateLimited,
    ServiceError,
    TextFailure,
    Unavailable,
)
from runtime.models.call_scope import billed_calls, calls_for
from runtime.models.chat import EndpointChat
from runtime.models.embedder import EndpointEmbedder
from runtime.models.endpoint import Endpoint
from runtime.models.limits import Limits
from runtime.models.port import Message, Picture, Tool
from runtime.models.rate_limiter import RateLimiter
from runtime.models.wires.open import open_wire
from tests.support import model_servers as servers
from tests.support.model_servers import (
    ModelServer,
    entra,
    ollama,
)
from tests.support.model_servers.judges.port import SCHEMA, Judge, Reading
from tests.support.model_servers.kinds import (
    EMBEDDING,
    FIELDS,
    KINDS,
    Kind,
    endpoint,
    question,
    stream_answer,
)


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture
async def server(kind: Kind) -> AsyncIterator[ModelServer]:
    async with servers.serving(kind.answer) as server:
        yield server


@pytest.fixture
async def chat(server: ModelServer, kind: Kind) -> AsyncIterator[EndpointChat]:
    fields = {**FIELDS, "options": {"num_ctx": 64}} if kind.binding == "ollama" else FIELDS
    chat = EndpointChat(endpoint(server, kind), kind.model, fields)
    yield chat
    await chat.close()


@pytest.fixture
async def judge(server: ModelServer, kind: Kind) -> AsyncIterator[Judge]:
    judge = kind.judge(server.url)
    yield judge
    await judge.close()


async def test_the_official_client_reads_the_server(judge: Judge, kind: Kind) -> None:
    for reading in (await judge.whole("Who leads?"), await judge.streamed("Who leads?")):
        reasoning = servers.REASONING if kind.reasons else ""
        usage = kind.usage
        assert reading == Reading(
            servers.ANSWER, reasoning, usage.prompt, usage.completion, usage.cached, reading.reason
        )
    full_reason, cut_reason = (
        (await judge.whole("Who leads?")).reason,
        (await judge.whole(servers.CUT)).reason,
    )
    assert full_reason != cut_reason
    assert await judge.status(servers.BUSY) == 429
    assert await judge.status(servers.OVERLOADED) in (503, 529)


async def test_a_whole_answer_has_text_reasoning_and_usage(kind: Kind, chat: EndpointChat) -> None:
    completion = await chat.complete(question())
    assert completion.text == servers.ANSWER
    assert completion.reasoning == (servers.REASONING if kind.reasons else "")
    assert (completion.usage, completion.cut, completion.narrow) == (kind.usage, False, False)
    assert (await chat.complete(question(servers.CUT))).cut


async def test_a_streamed_answer_is_the_same_and_is_billed(kind: Kind, chat: EndpointChat) -> None:
    with billed_calls() as bill, calls_for("harbour"):
        answer = await stream_answer(chat)
    assert (answer.text, answer.cut) == (servers.ANSWER, False)
    assert answer.reasoning == (servers.REASONING if kind.reasons else "")
    assert [(call.workspace, call.model, call.usage) for call in bill] == [
        ("harbour", kind.model, kind.usage)
    ]
    assert (await stream_answer(chat, servers.CUT)).cut


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_a_wait_that_the_provider_names_is_kept(
    kind: Kind, chat: EndpointChat, is_streamed: bool
) -> None:
    with pytest.raises(RateLimited) as caught:
        if is_streamed:
            await stream_answer(chat, servers.BUSY)
        else:
            await chat.complete(question(servers.BUSY))
    assert caught.value.retry_after == kind.wait


async def test_failures_have_the_same_words_and_show_no_key(
    server: ModelServer, kind: Kind
) -> None:
    async def failure(word: str = "", model: str = "", key: str = servers.KEY) -> ServiceError:
        chat = EndpointChat(endpoint(server, kind, key), model or kind.model)
        try:
            with pytest.raises(ServiceError) as caught:
                await chat.complete(question(word))
        finally:
            await chat.close()
        assert key not in "".join(traceback.format_exception(caught.value))
        return caught.value

    assert "LLM_MODEL" in str(await failure(model="nothing-of-that-name"))
    assert isinstance(await failure(servers.OVERLOADED), Unavailable | TextFailure)
    if kind.binding != "ollama":
        assert kind.key_name in str(await failure(key="mk-another-key-9876543210"))
    if kind.filters:
        refusal = await failure(servers.REFUSED)
        assert isinstance(refusal, ModelRefused)
        assert refusal.reason == "content"


async def test_a_stream_that_ends_with_an_error_fails(chat: EndpointChat) -> None:
    with pytest.raises((Unavailable, TextFailure, RateLimited)):
        await stream_answer(chat, servers.BROKEN)


async def test_json_is_asked_for_and_fields_have_the_provider_s_names(
    server: ModelServer, kind: Kind, chat: EndpointChat
) -> None:
    await chat.complete(question(), json=True)
    request = server.requests[-1]
    common_fields = {"temperature": 0.5}
    bodies_by_binding: dict[str, dict[str, Any]] = {
        "azure_openai": {**FIELDS, "response_format": {"type": "json_object"}},
        "ollama": {
            "format": "json",
            "options": {**common_fields, "num_predict": 900, "stop": ["###"], "num_ctx": 64},
            "stream": False,
        },
        "anthropic": {
            **common_fields,
            "max_tokens": 900,
            "stop_sequences": ["###"],
            "system": "You answer from a knowledge base.",
        },
        "gemini": {
            "generationConfig": {
                **common_fields,
                "maxOutputTokens": 900,
                "stopSequences": ["###"],
                "responseMimeType": "application/json",
            },
            "systemInstruction": {"parts": [{"text": "You answer from a knowledge base."}]},
        },
        "bedrock": {
            "inferenceConfig": {**common_fields, "maxTokens": 900, "stopSequences": ["###"]},
            "system": [{"text": "You answer from a knowledge base."}],
        },
    }
    turns = request.body.pop("contents" if kind.binding == "gemini" else "messages")
    request.body.pop("model", None)
    assert request.body == bodies_by_binding[kind.binding]
    roles = [turn["role"] for turn in turns]
    assert roles[-3:] == ["user", "model" if kind.binding == "gemini" else "assistant", "user"]


async def test_one_token_serves_many_calls_and_that_of_a_workload_is_read_when_it_is_fetched(
    tmp_path: Path,
) -> None:
    kind = KINDS["entra"]
    file = tmp_path / "token"
    file.write_text("the token of yesterday", "utf-8")
    async with servers.serving(kind.answer) as server:
        wire = open_wire(kind.binding, entra.connection(server.url, "", str(file)))
        endpoint = Endpoint(wire, RateLimiter("m", Limits(calls=4)), 10.0, "LLM")
        chat = EndpointChat(endpoint, kind.model)
        with pytest.raises(Unavailable, match=r"AADSTS7000215.*AZURE_CLIENT_SECRET"):
            await chat.complete(question())
        file.write_text(servers.KEY, "utf-8")
        assert [(await chat.complete(question())).text for _ in range(3)] == [servers.ANSWER] * 3
        await chat.close()
    assert len(server.token_requests) == 2
    assert len(server.requests) == 3


TOOL = Tool(servers.TOOL, "Find words.", SCHEMA)


async def test_a_tool_is_called_as_the_official_client_calls_it(
    judge: Judge, chat: EndpointChat
) -> None:
    expected_call = (servers.TOOL, servers.ARGUMENTS)
    assert await judge.with_tool("Who leads?") == (*expected_call, servers.ANSWER)
    completion = await chat.call_tools(question(), [TOOL])
    (call,) = completion.calls
    assert ((call.name, call.arguments), completion.usage.calls) == (expected_call, 1)
    turns = [
        *question(),
        Message("assistant", completion.text, calls=completion.calls, native=completion.native),
        Message("tool", servers.RESULT, result_of=call),
    ]
    answer = await chat.call_tools(turns, [TOOL])
    assert (answer.text, answer.calls) == (servers.ANSWER, ())


async def test_a_model_without_tools_is_told_of_them_in_the_text() -> None:
    kind = KINDS["ollama"]
    async with servers.serving(kind.answer) as server:
        chat = EndpointChat(endpoint(server, kind), kind.model)
        answer = await chat.call_tools(question(ollama.TOOLLESS), [TOOL])
        await chat.close()
    assert (answer.text, answer.calls) == (servers.ANSWER, ())
    refused, taken = (request.body for request in server.requests)
    assert "tools" in refused and "tools" not in taken
    assert servers.TOOL in taken["messages"][0]["content"]


async def test_a_picture_goes_where_the_official_client_puts_it(
    server: ModelServer, judge: Judge, kind: Kind, chat: EndpointChat
) -> None:
    picture = Picture(b"\x89PNG of a chart", "image/png")
    assert (await judge.seeing("Who leads?", picture.data)).text == servers.ANSWER
    message = Message("user", "Who leads?", pictures=(picture,))
    assert (await chat.complete([message])).text == servers.ANSWER
    official_turn, turn = [
        request.body["contents" if kind.binding == "gemini" else "messages"][-1]
        for request in server.requests
    ]
    assert turn == official_turn


@pytest.mark.parametrize("kind", EMBEDDING, ids=lambda kind: kind.name or kind.binding)
async def test_vectors_are_those_that_the_official_client_reads(
    server: ModelServer, judge: Judge, kind: Kind
) -> None:
    texts = ["Ada", "Ben"]
    assert await judge.vectors(texts) == servers.VECTORS
    embedder = EndpointEmbedder(endpoint(server, kind), kind.model, 3)
    vectors = await embedder.embed(texts)
    await embedder.close()
    assert [[round(number * 5) for number in vector] for vector in vectors] == servers.VECTORS
    assert all(math.isclose(math.hypot(*vector), 1.0) for vector in vectors)
