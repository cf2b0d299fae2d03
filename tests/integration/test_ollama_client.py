"""The `ollama` package, unchanged, against a query service that listens: models, chats, streams,
history, errors.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from ollama import AsyncClient, Client, ResponseError

from offline.answers.extractive_answer import NO_MODEL
from runtime.errors import Unavailable
from runtime.models.limits import Limits
from runtime.models.port import Message
from runtime.models.rate_limiter import RateLimiter
from runtime.models.scripted import ScriptedChat
from services.gateway.settings import GatewaySettings
from services.query.adapters.models import ModelAnswerGenerator
from services.query.answering.ask import NEEDS_MODEL, NO_CONTEXT
from services.query.settings import QuerySettings
from tests.support.access import KEY, READER, SEVERAL, behind
from tests.support.openai_provider import serving
from tests.support.querying import QueryHarness, library_of_two
from tests.support.served import served

MIXING = QuerySettings(default_mode="mix")
"""As LightRAG has it: questions of this page name no mode."""

MODEL = "lightrag:latest"
QUESTION = {"role": "user", "content": "Who discovered radium?"}
BELOW = "\n\n### References\n\n- [1] curie.txt\n"
DEADLINE = 60.0


@asynccontextmanager
async def ollama(
    chat: Any = None, key: str = KEY, harness: QueryHarness | None = None, **settings: Any
) -> AsyncIterator[AsyncClient]:
    """A client, with that key, of a service that knows the key `KEY` and those of `SEVERAL`."""
    harness = harness or await library_of_two()
    changes: dict[str, Any] = (
        {"answering": harness.deps(answer_generator=ModelAnswerGenerator(chat))} if chat else {}
    )
    changes |= {"settings": GatewaySettings(workspace="w", **settings)}
    access = behind(lightrag_api_key=KEY, lightstream_api_keys=SEVERAL)
    app = harness.app(access, question_settings=MIXING, **changes)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with served(app) as base, AsyncClient(base, headers=headers) as client:
        yield client


def texts(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages]


async def test_the_one_model_is_listed_and_loaded() -> None:
    async with ollama() as client:
        (result,) = (await client.list()).models
        (loaded_model,) = (await client.ps()).models
        assert (result.model, result.digest, loaded_model.model) == (
            MODEL,
            "sha256:lightrag",
            MODEL,
        )
        assert result.details is not None
        assert result.details.family == "lightrag"
        assert loaded_model.expires_at is not None


async def test_the_model_has_the_name_that_it_was_given() -> None:
    chat = ScriptedChat(["Yes.", "Yes."])
    async with ollama(
        chat, ollama_emulating_model_name="harbour", ollama_emulating_model_tag="v2"
    ) as client:
        assert [listed_model.model for listed_model in (await client.list()).models] == [
            "harbour:v2"
        ]
        for name in ("harbour:v2", "harbour"):
            assert (await client.chat(name, [QUESTION])).model == name
        with pytest.raises(ResponseError, match="model 'lightrag:latest' not found"):
            await client.chat(MODEL, [QUESTION])


async def test_a_chat_is_answered_from_the_documents_with_its_references_below() -> None:
    chat = ScriptedChat(["Marie Curie did [1], and [9]."])
    async with ollama(chat) as client:
        answer = await client.chat(MODEL, [QUESTION])
        assert answer.message.content == f"Marie Curie did [1], and.{BELOW}"
        assert (answer.done, answer.done_reason, answer.load_duration) == (True, "stop", 0)
        assert answer.prompt_eval_count == 5
        assert answer.eval_count is not None
        assert answer.eval_count > 10
        assert (answer.total_duration or 0) >= (answer.prompt_eval_duration or 0) > 0
        assert "Marie Curie discovered radium" in chat.calls[0].text


async def test_without_a_language_model_quotations_answer_and_say_so() -> None:
    async with ollama() as client:
        answer = (await client.chat(MODEL, [QUESTION])).message.content or ""
        assert "Marie Curie discovered radium" in answer
        assert NO_MODEL in answer
        assert answer.endswith(BELOW)
        assert (
            await client.chat(MODEL, [{"role": "user", "content": "/bypass Hello!"}])
        ).message.content == NEEDS_MODEL


async def test_a_stream_comes_in_pieces_and_ends_with_what_it_took() -> None:
    async with ollama(ScriptedChat(["Marie Curie did [1]."])) as client:
        parts = [part async for part in await client.chat(MODEL, [QUESTION], stream=True)]
        assert len(parts) > 4
        assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
        assert (
            "".join(part.message.content or "" for part in parts) == f"Marie Curie did [1].{BELOW}"
        )
        assert {part.message.role for part in parts} == {"assistant"}
        assert (parts[-1].message.content, parts[-1].done_reason) == ("", "stop")
        assert (parts[-1].eval_count or 0) > 5


async def test_the_synchronous_client_gets_the_same() -> None:
    harness = await library_of_two()
    app = harness.app(
        question_settings=MIXING,
        answering=harness.deps(
            answer_generator=ModelAnswerGenerator(ScriptedChat(["Yes.", "Yes."]))
        ),
    )
    async with served(app) as base:

        def ask() -> tuple[str, str]:
            with Client(base) as client:
                full_answer = client.chat(MODEL, [QUESTION]).message.content or ""
                return full_answer, "".join(
                    part.message.content or ""
                    for part in client.chat(MODEL, [QUESTION], stream=True)
                )

        full_answer, streamed_answer = await asyncio.to_thread(ask)
    assert full_answer == streamed_answer == f"Yes.{BELOW}"


async def test_what_was_said_before_goes_to_the_model_without_the_lists_that_we_made() -> None:
    chat = ScriptedChat(["In Paris."])
    before = [
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": "/local Who was she?"},
        {"role": "assistant", "content": f"A scientist [1].{BELOW}"},
    ]
    async with ollama(chat) as client:
        await client.chat(
            MODEL, [*before, {"role": "user", "content": "Where did she find radium?"}]
        )
    system, *turns = texts(chat.calls[0].messages)
    assert "Answer like a pirate." in system[1]
    assert turns == [
        ("user", "/local Who was she?"),
        ("assistant", "A scientist [1]."),
        ("user", "Where did she find radium?"),
    ]


async def test_a_prefix_chooses_the_mode_and_brings_instructions() -> None:
    chat = ScriptedChat(["One.", "Two."])
    async with ollama(chat) as client:
        context = (
            await client.chat(MODEL, [{"role": "user", "content": "/naivecontext radium dials"}])
        ).message.content
        assert "Radium glows in the dark" in (context or "")
        assert BELOW not in (context or "")
        assert "Knowledge Graph Data" not in (context or "")
        assert chat.calls == []
        await client.chat(
            MODEL, [{"role": "user", "content": "/mix[in one word] Who discovered radium?"}]
        )
        assert "in one word" in chat.calls[0].messages[0].content
        assert chat.calls[0].messages[-1].content == "Who discovered radium?"
        await client.chat(MODEL, [{"role": "user", "content": "/bypass Hello!"}])
        assert texts(chat.calls[1].messages) == [("user", "Hello!")]


async def test_the_title_of_a_conversation_is_made_without_the_documents() -> None:
    chat = ScriptedChat(["Radium", "Radium"])
    task = (
        "### Task:\nGenerate a title.\n### Chat History:\n<chat_history>\nUSER: Who discovered "
        "radium?\n</chat_history>"
    )
    async with ollama(chat, user_prompt_prefix="Always rhyme.") as client:
        answer = await client.chat(MODEL, [{"role": "user", "content": task}])
        assert answer.message.content == "Radium"
        await client.chat(
            MODEL, [{"role": "user", "content": task[task.index("\n<chat_history>") :]}]
        )
    assert texts(chat.calls[0].messages) == [("user", task)]
    assert len(chat.calls[1].messages) == 1


async def test_generate_gives_the_prompt_to_the_model_as_it_stands() -> None:
    chat = ScriptedChat(["Three.", "Three pieces here."])
    async with ollama(chat, user_prompt_prefix="Always rhyme.") as client:
        answer = await client.generate(MODEL, "/local Count.", system="Be brief.")
        assert (answer.response, answer.done, answer.context) == ("Three.", True, [])
        assert texts(chat.calls[0].messages) == [("system", "Be brief."), ("user", "/local Count.")]
        parts = [part async for part in await client.generate(MODEL, "Count.", stream=True)]
        assert "".join(part.response or "" for part in parts) == "Three pieces here."
        assert (len(parts), parts[-1].done, parts[-1].response) == (4, True, "")


async def test_what_cannot_be_answered_ends_with_the_mark_that_clients_know() -> None:
    async with ollama(harness=QueryHarness()) as client:
        answer = await client.chat(MODEL, [QUESTION])
        assert answer.message.content == NO_CONTEXT


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        (
            [QUESTION, {"role": "assistant", "content": "She did."}],
            "the last message must be the user's",
        ),
        ([], "messages: List should have at least 1 item"),
        ([{"role": "user", "content": "a"}], "the query is too short"),
        ([{"role": "user", "content": "/bypass"}], "the query is empty"),
        (
            [{"role": "robot", "content": "Who discovered radium?"}],
            "messages.0.role: Input should be 'system'",
        ),
    ],
)
async def test_what_makes_no_sense_is_refused_in_ollamas_words(
    messages: list[dict[str, Any]], sentence: str
) -> None:
    async with ollama() as client:
        with pytest.raises(ResponseError, match=sentence) as error:
            await client.chat(MODEL, messages)
        assert error.value.status_code == 400


async def test_what_there_is_not_is_not_found() -> None:
    async with ollama() as client:
        for call in (
            client.chat("mistral", [QUESTION]),
            client.generate("lightrag:7b", "Hello!"),
            client.show(MODEL),
        ):
            with pytest.raises(ResponseError, match=r"not found|no such route") as error:
                await call
            assert error.value.status_code == 404


async def test_a_wrong_key_a_missing_one_and_a_foreign_workspace_are_refused() -> None:
    async with ollama(key="wrong-key-0123456789") as client:
        with pytest.raises(ResponseError, match="Invalid token") as error:
            await client.chat(MODEL, [QUESTION])
        assert error.value.status_code == 401
    async with ollama(key="") as client:
        with pytest.raises(ResponseError, match="API Key required") as error:
            await client.list()
        assert error.value.status_code == 403
    harness = await library_of_two()
    app = harness.app(behind(lightstream_api_keys=SEVERAL), question_settings=MIXING)
    foreign = {"Authorization": f"Bearer {READER}", "X-Workspace": "v"}
    async with served(app) as base, AsyncClient(base, headers=foreign) as client:
        with pytest.raises(ResponseError, match="not for this workspace") as error:
            await client.chat(MODEL, [QUESTION])
        assert error.value.status_code == 403


async def test_a_key_that_may_only_read_may_chat() -> None:
    async with ollama(key=READER) as client:
        assert (await client.chat(MODEL, [QUESTION])).done


async def test_a_model_that_breaks_off_is_told_in_the_stream_and_before_it_by_the_status() -> None:
    async with ollama(ScriptedChat([Unavailable("secret host is down")] * 2)) as client:
        with pytest.raises(ResponseError, match="does not answer now") as error:
            await client.chat(MODEL, [QUESTION])
        assert error.value.status_code == 503
        with pytest.raises(ResponseError, match="does not answer now"):
            _ = [part async for part in await client.chat(MODEL, [QUESTION], stream=True)]


async def test_a_body_is_json_whatever_it_is_called() -> None:
    harness = await library_of_two()
    async with (
        served(harness.app(question_settings=MIXING)) as base,
        httpx.AsyncClient(base_url=base, trust_env=False) as client,
    ):
        body = (
            b'{"model": "lightrag", "messages": [{"role": "user", "content": "radium"}], '
            b'"stream": false}'
        )
        for kind in (
            "application/octet-stream",
            "application/x-www-form-urlencoded",
            "text/plain",
            None,
        ):
            answer = await client.post(
                "/api/chat", content=body, headers={"Content-Type": kind} if kind else {}
            )
            assert answer.json()["references"] == [
                {"reference_id": "1", "file_path": "curie.txt"}
            ], kind
        for content in (
            b"{",
            b"\xff",
            b"[]",
            b"",
            b'{"model": "\\ud800", "messages": []}',
            b"[" * 5000,
        ):
            answer = await client.post("/api/chat", content=content)
            assert (answer.status_code, set(answer.json())) == (400, {"error"}), content


async def test_the_language_model_stops_when_the_client_goes_away() -> None:
    async with serving() as provider:
        chat = provider.chat("endless", limiter=RateLimiter("m", Limits(calls=1)))
        async with ollama(chat) as client, asyncio.timeout(DEADLINE):
            stream = await client.chat(MODEL, [QUESTION], stream=True)
            assert not (await anext(stream)).done
            assert not provider.disconnected.is_set()
            await stream.aclose()
            await provider.disconnected.wait()
        await chat.close()
