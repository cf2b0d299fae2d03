"""What a model answers is read in one way, whole and streamed, from a provider that misbehaves."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from runtime.errors import ModelRefused, TextFailure
from runtime.models import chat as chat_module
from runtime.models.bindings import Connection
from runtime.models.chat import EndpointChat
from runtime.models.endpoint import Endpoint
from runtime.models.limits import Limits
from runtime.models.port import AnswerPiece, Completion, Message
from runtime.models.rate_limiter import RateLimiter
from runtime.models.wires.openai import OpenAiWire
from tests.support import openai_provider
from tests.support.misbehaving_provider import MisbehavingProvider, serving
from tests.support.misbehaving_provider.good_answers import ANSWER
from tests.support.misbehaving_provider.messages import SECRET
from tests.support.openai_provider import chat_at

REASONING = (
    "PARTS",
    "THINK",
    "THINKING",
    "THOUGHT",
    "REASONING",
    "SEEDTHINK",
    "THINKDRAFT",
    "THINKMIDDLE",
    "THINKTAIL",
    "REASONINGCONTENT",
    "REASONINGFIELD",
    "HARMONY",
)
CUT = ("CUT", "CUTMAXTOKENS", "CUTUPPER", "CUTMODEL", "CUTNATIVE")


@pytest.fixture(scope="module")
def provider() -> Iterator[MisbehavingProvider]:
    with serving() as provider:
        yield provider


@pytest.fixture(autouse=True)
def nothing_learnt() -> None:
    chat_module._WITHOUT_OPENING.clear()  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
async def chat(provider: MisbehavingProvider) -> AsyncIterator[EndpointChat]:
    chat = chat_at(provider.url, "rows-1", timeout=20.0)
    yield chat
    await chat.close()


def question(marker: str) -> list[Message]:
    """A question that the provider answers as its marker says."""
    return [
        Message("system", "You answer from a knowledge base."),
        Message("user", f"Who leads? ZZ{marker}"),
    ]


def words(text: str) -> list[str]:
    """The words of an answer, whose lines and sentences the provider breaks in another way."""
    return re.findall(r"\w+", text)


Answering = Callable[[EndpointChat, str], Awaitable[Completion]]


async def whole(chat: EndpointChat, marker: str) -> Completion:
    return await chat.complete(question(marker))


async def streamed(chat: EndpointChat, marker: str) -> Completion:
    """The stream's pieces as one answer."""
    answer = AnswerPiece()
    async for piece in chat.stream(question(marker)):
        text, reasoning = ("", answer.text) if piece.resets else (answer.text, answer.reasoning)
        answer = AnswerPiece(text + piece.text, reasoning + piece.reasoning, piece.cut)
    return Completion(answer.text, cut=answer.cut, reasoning=answer.reasoning)


@pytest.mark.parametrize("marker", ["NOTHING", "TEXTPARTS", "EOS", "PINGS"])
@pytest.mark.parametrize("answer", [whole, streamed])
async def test_a_plain_answer_is_whole(chat: EndpointChat, answer: Answering, marker: str) -> None:
    completion = await answer(chat, marker)
    assert (completion.text, completion.cut, completion.reasoning) == (ANSWER, False, "")


@pytest.mark.parametrize("marker", REASONING)
@pytest.mark.parametrize("answer", [whole, streamed])
async def test_reasoning_is_kept_apart(chat: EndpointChat, answer: Answering, marker: str) -> None:
    completion = await answer(chat, marker)
    assert words(completion.text) == words(ANSWER)
    assert not completion.cut
    assert SECRET in completion.reasoning


@pytest.mark.parametrize("marker", CUT)
@pytest.mark.parametrize("answer", [whole, streamed])
async def test_an_answer_that_is_cut_says_so(
    chat: EndpointChat, answer: Answering, marker: str
) -> None:
    completion = await answer(chat, marker)
    assert completion.cut
    assert completion.text == ANSWER[: len(ANSWER) // 2]


async def test_a_stream_that_ends_without_a_reason_is_cut(chat: EndpointChat) -> None:
    completion = await streamed(chat, "NODONE")
    assert completion.cut
    assert completion.text
    assert ANSWER.startswith(completion.text)


@pytest.mark.parametrize("answer", [whole, streamed])
@pytest.mark.parametrize(
    ("marker", "error"),
    [
        ("NULL", TextFailure),
        ("NULLREASONING", TextFailure),
        ("BLANK", TextFailure),
        ("THINKOPEN", ModelRefused),
        ("REFUSES", ModelRefused),
        ("PROHIBITED", ModelRefused),
        ("FILTERED", ModelRefused),
    ],
)
async def test_reasoning_alone_is_no_answer(
    chat: EndpointChat, answer: Answering, marker: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await answer(chat, marker)


async def test_a_model_that_opens_no_reasoning_is_held_back_once_it_is_known(
    chat: EndpointChat,
) -> None:
    first = [piece async for piece in chat.stream(question("THINKTAIL"))]
    assert any(piece.resets for piece in first)
    later = [piece async for piece in chat.stream(question("THINKTAIL"))]
    assert SECRET not in "".join(piece.text for piece in later)
    chat_module._WITHOUT_OPENING.clear()  # pyright: ignore[reportPrivateUsage]
    await chat.complete(question("THINKTAIL"))
    after_a_whole_one = [piece async for piece in chat.stream(question("THINKTAIL"))]
    assert SECRET not in "".join(piece.text for piece in after_a_whole_one)


async def test_a_context_window_that_is_smaller_than_the_prompt_is_noticed(
    provider: MisbehavingProvider, chat: EndpointChat, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation = [
        Message("system", "You answer from a knowledge base. " * 200),
        Message("user", "Who leads?"),
    ]
    provider.set_mode(chat="narrow")
    try:
        assert (await chat.complete(conversation)).narrow
        assert not (await whole(chat, "NOTHING")).narrow
        assert "context window is too small" in capsys.readouterr().out
    finally:
        provider.set_mode(chat="")


@pytest.mark.parametrize("answer", [whole, streamed])
async def test_further_fields_of_the_settings_are_in_every_request(answer: Answering) -> None:
    fields = {"temperature": 0.5, "chat_template_kwargs": {"enable_thinking": False}}
    async with openai_provider.serving() as provider:
        limiter = RateLimiter("good", Limits(calls=4))
        chat = EndpointChat(
            Endpoint(OpenAiWire(Connection(provider.url, "key")), limiter, 10.0, "LLM"),
            "good",
            fields,
        )
        assert (await answer(chat, "NOTHING")).text
        await chat.close()
    request = provider.requests[-1]
    assert fields.items() <= request.items()
    assert request["model"] == "good"
