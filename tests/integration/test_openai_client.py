"""The `openai` package, unchanged, against a query service that listens: models, chats, streams,
history, errors.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from offline.answers.extractive_answer import NO_MODEL
from runtime.errors import Unavailable
from runtime.models.limits import Limits
from runtime.models.port import Message
from runtime.models.rate_limiter import RateLimiter
from runtime.models.scripted import ScriptedChat
from services.gateway.settings import GatewaySettings
from services.query.adapters.models import ModelAnswerGenerator
from tests.support.access import KEY, READER, SEVERAL, WRITER, behind
from tests.support.openai_provider import serving
from tests.support.querying import QueryHarness, library_of_two
from tests.support.served import served

MODEL = "lightstream:mix"
QUESTION: Any = {"role": "user", "content": "Who discovered radium?"}
BELOW = "\n\n### References\n\n- [1] curie.txt\n"
REFERENCES = [{"reference_id": "1", "file_path": "curie.txt"}]
MODES = ["local", "global", "hybrid", "mix", "naive", "walk", "auto", "bypass"]
PRIVATE = "k-private-0123456789abc"
DEADLINE = 60.0


@asynccontextmanager
async def openai_client(
    chat: Any = None,
    key: str = KEY,
    harness: QueryHarness | None = None,
    headers: Any = None,
    **settings: Any,
) -> AsyncIterator[AsyncOpenAI]:
    """A client, with that key, of a service that knows the key `KEY`, those of `SEVERAL` and
    `PRIVATE`.
    """
    harness = harness or await library_of_two()
    changes: dict[str, Any] = (
        {"answering": harness.deps(answer_generator=ModelAnswerGenerator(chat))} if chat else {}
    )
    changes |= {"settings": GatewaySettings(workspace="w", **settings)}
    keys = f"{SEVERAL},private:{PRIVATE}:a+b:read"
    app = harness.app(behind(lightrag_api_key=KEY, lightstream_api_keys=keys), **changes)
    async with (
        served(app) as base,
        AsyncOpenAI(
            base_url=f"{base}/v1", api_key=key, max_retries=0, default_headers=headers
        ) as client,
    ):
        yield client


async def said(client: AsyncOpenAI, *messages: Any, model: str = MODEL) -> str:
    answer = await client.chat.completions.create(model=model, messages=messages or [QUESTION])
    return answer.choices[0].message.content or ""


def texts(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages]


async def test_every_mode_is_a_model() -> None:
    async with openai_client() as client:
        result = [model async for model in client.models.list()]
        assert [model.id for model in result] == [f"lightstream:{mode}" for mode in MODES]
        assert {(model.object, model.owned_by) for model in result} == {("model", "lightstream")}
        for id in ("lightstream:walk", "lightstream", "lightstream:walk@w"):
            assert (await client.models.retrieve(id)).id == id


async def test_a_chat_is_answered_from_the_documents_with_its_references_below() -> None:
    chat = ScriptedChat(["Marie Curie did [1], and [9]."])
    async with openai_client(chat) as client:
        answer = await client.chat.completions.create(
            model=MODEL, messages=[QUESTION], temperature=0.1, max_tokens=9
        )
        (choice,) = answer.choices
        assert choice.message.content == f"Marie Curie did [1], and.{BELOW}"
        assert (choice.message.role, choice.finish_reason, answer.object) == (
            "assistant",
            "stop",
            "chat.completion",
        )
        assert answer.model == MODEL
        assert answer.id.startswith("chatcmpl-")
        assert answer.usage is not None
        assert answer.usage.prompt_tokens == 5
        assert answer.usage.total_tokens == 5 + answer.usage.completion_tokens > 15
        assert (answer.model_extra or {})["references"] == REFERENCES
        assert "Marie Curie discovered radium" in chat.calls[0].text


async def test_without_a_language_model_quotations_answer_and_say_so() -> None:
    async with openai_client() as client:
        answer = await said(client)
        assert "Marie Curie discovered radium" in answer
        assert NO_MODEL in answer
        assert answer.endswith(BELOW)


@pytest.mark.parametrize("with_usage", [False, True])
async def test_a_stream_comes_in_chunks_and_ends_with_its_usage_where_that_is_asked_for(
    with_usage: bool,
) -> None:
    options: Any = {"stream_options": {"include_usage": True}} if with_usage else {}
    async with openai_client(ScriptedChat(["Marie Curie did [1]."])) as client:
        stream = await client.chat.completions.create(
            model=MODEL, messages=[QUESTION], stream=True, **options
        )
        chunks = [chunk async for chunk in stream]
    parts = [chunk for chunk in chunks if chunk.choices]
    assert parts[0].choices[0].delta.role == "assistant"
    assert (
        "".join(part.choices[0].delta.content or "" for part in parts)
        == f"Marie Curie did [1].{BELOW}"
    )
    assert [part.choices[0].finish_reason for part in parts] == [None] * (len(parts) - 1) + ["stop"]
    assert (parts[-1].model_extra or {})["references"] == REFERENCES
    assert len({chunk.id for chunk in chunks}) == 1
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    usages = [chunk.usage for chunk in chunks if chunk.usage]
    assert len(usages) == len(chunks) - len(parts) == int(with_usage)
    assert all(usage.completion_tokens > 5 for usage in usages)


async def test_the_stream_is_one_of_events_and_says_when_it_is_done() -> None:
    harness = await library_of_two()
    async with (
        served(harness.app()) as base,
        httpx.AsyncClient(base_url=base, trust_env=False) as client,
    ):
        body = {"model": MODEL, "messages": [QUESTION], "stream": True}
        answer = await client.post("/v1/chat/completions", json=body)
    assert answer.headers["content-type"] == "text/event-stream"
    assert int(answer.headers["x-log-position"]) >= 0
    *events, end = answer.text.split("\n\n")
    assert (events[-1], end) == ("data: [DONE]", "")
    assert all(event.startswith("data: {") for event in events[:-1])


async def test_the_synchronous_client_gets_the_same() -> None:
    harness = await library_of_two()
    app = harness.app(
        answering=harness.deps(
            answer_generator=ModelAnswerGenerator(ScriptedChat(["Yes.", "Yes."]))
        )
    )
    async with served(app) as base:

        def ask() -> tuple[str, str]:
            with OpenAI(base_url=f"{base}/v1", api_key="none is needed") as client:
                completion = client.chat.completions.create(model=MODEL, messages=[QUESTION])
                parts = client.chat.completions.create(
                    model=MODEL, messages=[QUESTION], stream=True
                )
                streamed_answer = "".join(part.choices[0].delta.content or "" for part in parts)
                return completion.choices[0].message.content or "", streamed_answer

        full_answer, streamed_answer = await asyncio.to_thread(ask)
    assert full_answer == streamed_answer == f"Yes.{BELOW}"


async def test_what_was_said_before_goes_to_the_model_and_what_the_developer_says_is_its_instruction() -> (  # noqa: E501
    None
):
    chat = ScriptedChat(["In Paris."])
    before = [
        {"role": "developer", "content": "Answer like a pirate."},
        {"role": "user", "content": [{"type": "text", "text": "Who was she?"}]},
        {"role": "assistant", "content": f"A scientist [1].{BELOW}"},
        {"role": "assistant", "content": None},
    ]
    async with openai_client(chat) as client:
        await said(client, *before, {"role": "user", "content": "Where did she find radium?"})
    system, *turns = texts(chat.calls[0].messages)
    assert "Answer like a pirate." in system[1]
    assert turns == [
        ("user", "Who was she?"),
        ("assistant", "A scientist [1]."),
        ("user", "Where did she find radium?"),
    ]


async def test_a_conversation_may_be_longer_than_what_a_model_gets_to_read() -> None:
    chat = ScriptedChat(["Yes."])
    before = [
        {"role": ("user", "assistant")[n % 2], "content": f"{n} " + "x" * 4000} for n in range(200)
    ]
    async with openai_client(chat) as client:
        await said(client, *before, QUESTION)
    history = chat.calls[0].messages[1:-1]
    assert history[-1].content.startswith("199 ")
    assert 30 <= len(history) <= 32


async def test_the_model_chooses_how_to_answer() -> None:
    chat = ScriptedChat(["Hello.", "A title"])
    async with openai_client(chat) as client:
        system: Any = {"role": "system", "content": "Be brief."}
        assert await said(client, system, QUESTION, model="lightstream:bypass") == "Hello."
        assert texts(chat.calls[0].messages) == [
            ("system", "Be brief."),
            ("user", "Who discovered radium?"),
        ]
        task: Any = {
            "role": "user",
            "content": "Make a title.\n<chat_history>\nUSER: radium\n</chat_history>",
        }
        assert await said(client, task) == "A title"


async def test_the_model_chooses_the_workspace() -> None:
    harness = await library_of_two()
    await harness.index(
        "mine", "The silver mine of Elm was closed in the year 1931.", workspace="v", version=9000
    )
    mine: Any = {"role": "user", "content": "When was the silver mine closed?"}
    async with openai_client(key=WRITER, harness=harness) as client:
        ids = [model.id async for model in client.models.list()]
        assert [id for id in ids if "walk" in id] == [
            "lightstream:walk",
            "lightstream:walk@v",
            "lightstream:walk@w",
        ]
        assert "1931" in await said(client, mine, model="lightstream@v")
        assert "1931" not in await said(client, mine, model="lightstream:naive")
        assert "1931" in await said(client.with_options(default_headers={"X-Workspace": "v"}), mine)
        with pytest.raises(openai.BadRequestError, match="names two workspaces"):
            await said(
                client.with_options(default_headers={"X-Workspace": "v"}),
                mine,
                model="lightstream@w",
            )


async def test_a_foreign_workspace_is_refused_whether_it_is_there_or_not() -> None:
    harness = await library_of_two()
    await harness.index("theirs", "A silver mine.", workspace="v", version=9000)
    async with openai_client(key=READER, harness=harness) as client:
        assert [model.id async for model in client.models.list()] == [
            f"lightstream:{mode}" for mode in MODES
        ]
        for name in ("v", "nowhere", "V", "*", "w+v", " v"):
            for call in (
                said(client, model=f"lightstream@{name}"),
                client.models.retrieve(f"lightstream@{name}"),
            ):
                with pytest.raises(
                    openai.PermissionDeniedError, match="not for this workspace"
                ) as error:
                    await call
                assert error.value.code == "not_permitted"


async def test_a_key_of_several_workspaces_names_one_of_them_in_the_model() -> None:
    async with openai_client(key=PRIVATE) as client:
        ids = [model.id async for model in client.models.list()]
        assert ids == [f"lightstream:{mode}@{workspace}" for workspace in "ab" for mode in MODES]
        assert "[no-context]" in await said(client, model="lightstream@a")
        for model in (MODEL, "lightstream@w"):
            with pytest.raises(openai.PermissionDeniedError, match="not for this workspace"):
                await said(client, model=model)


@pytest.mark.parametrize(
    "model",
    ["gpt-4o", "lightstream:fast", "lightstream:", "lightstream@", "lightstream:mix:x", "x"],
)
async def test_a_model_that_there_is_not_is_not_found(model: str) -> None:
    async with openai_client() as client:
        for call in (said(client, model=model), client.models.retrieve(model)):
            with pytest.raises(openai.NotFoundError, match="does not exist") as error:
                await call
            assert (error.value.type, error.value.code) == ("invalid_request_error", "not_found")


async def test_a_wrong_key_is_refused() -> None:
    async with openai_client(key="wrong-key-0123456789") as client:
        for call in (said(client), client.models.retrieve(MODEL)):
            with pytest.raises(openai.AuthenticationError, match="Invalid token") as error:
                await call
            assert error.value.code == "invalid_api_key"


async def test_a_key_that_may_only_read_may_chat() -> None:
    async with openai_client(key=READER) as client:
        assert "Marie Curie" in await said(client)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            {"messages": [QUESTION, {"role": "assistant", "content": "She."}]},
            "the last message must be the user's",
        ),
        ({"messages": []}, "messages: List should have at least 1 item"),
        ({"messages": [{"role": "user", "content": "a"}]}, "the query is too short"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role: Input should be"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
                ]
            },
            "has no text",
        ),
        ({"messages": [QUESTION], "n": 2}, "n: Input should be less than or equal to 1"),
        ({"messages": [QUESTION], "model": "lightstream@x-1"}, "workspace: 1 to 64 letters"),
        ({"messages": [{"role": "user", "content": "x" * 70_000}]}, "at most 65536 characters"),
    ],
)
async def test_what_makes_no_sense_is_refused_in_openais_words(
    body: dict[str, Any], message: str
) -> None:
    async with openai_client() as client:
        with pytest.raises(openai.BadRequestError, match=message) as error:
            await client.chat.completions.create(**{"model": MODEL, **body})
        assert error.value.type == "invalid_request_error"


async def test_a_model_that_breaks_off_is_told_in_the_stream_and_before_it_by_the_status() -> None:
    async with openai_client(ScriptedChat([Unavailable("secret host is down")] * 2)) as client:
        with pytest.raises(openai.InternalServerError, match="does not answer now") as error:
            await said(client)
        assert (error.value.status_code, error.value.type) == (503, "server_error")
        with pytest.raises(openai.APIError, match="does not answer now"):
            async for _ in await client.chat.completions.create(
                model=MODEL, messages=[QUESTION], stream=True
            ):
                pass


async def test_too_many_questions_are_told_when_to_come_again() -> None:
    harness = await library_of_two()
    app = harness.app(behind(lightrag_api_key=KEY, rate_limit_queries_per_minute=1))
    async with (
        served(app) as base,
        AsyncOpenAI(base_url=f"{base}/v1", api_key=KEY, max_retries=0) as client,
    ):
        await said(client)
        with pytest.raises(openai.RateLimitError, match="too many requests") as error:
            await said(client)
        assert int(error.value.response.headers["retry-after"]) > 0


async def test_the_language_model_stops_when_the_client_goes_away() -> None:
    async with serving() as provider:
        chat = provider.chat("endless", limiter=RateLimiter("m", Limits(calls=1)))
        async with openai_client(chat) as client, asyncio.timeout(DEADLINE):
            stream = await client.chat.completions.create(
                model=MODEL, messages=[QUESTION], stream=True
            )
            await anext(stream)
            await anext(stream)
            assert not provider.disconnected.is_set()
            await stream.close()
            await provider.disconnected.wait()
        await chat.close()
