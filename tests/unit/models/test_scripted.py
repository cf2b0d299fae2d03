"""The scripted model and the counting embedder, which other tests stand on."""

from collections.abc import Sequence

import pytest

from offline.embeddings.lexical import LexicalEmbedder
from runtime.errors import RateLimited
from runtime.models.port import Chat, Completion, Embedder, Message
from runtime.models.scripted import CountingEmbedder, ScriptedChat

QUESTION = [Message("user", "what?")]


async def test_a_list_is_answered_in_order_and_its_end_is_an_error() -> None:
    chat: Chat = ScriptedChat(["one", Completion("two", cut=True)])
    assert (await chat.complete(QUESTION)).text == "one"
    assert (await chat.complete(QUESTION)).cut
    with pytest.raises(AssertionError, match="2 answers"):
        await chat.complete(QUESTION)


async def test_errors_in_the_script_are_raised() -> None:
    with pytest.raises(RateLimited):
        await ScriptedChat([RateLimited("wait", retry_after=3)]).complete(QUESTION)


async def test_a_function_sees_the_messages_and_calls_are_recorded() -> None:
    async def script(messages: Sequence[Message]) -> str:
        return messages[-1].content.upper()

    chat = ScriptedChat(script)
    assert (await chat.complete(QUESTION, json=True)).text == "WHAT?"
    assert [(call.text, call.json, call.is_streamed) for call in chat.calls] == [
        ("what?", True, False)
    ]
    await chat.close()
    assert chat.closed


async def test_pieces_of_a_stream_make_the_answer() -> None:
    chat = ScriptedChat(lambda _: "two  words here")
    pieces = [piece.text async for piece in chat.stream(QUESTION)]
    assert len(pieces) > 2
    assert "".join(pieces) == "two  words here"
    assert chat.calls[0].is_streamed


async def test_the_counter_counts_texts_and_changes_no_vector() -> None:
    counter = CountingEmbedder(LexicalEmbedder(32))
    embedder: Embedder = counter
    assert await embedder.embed(["a", "b"]) == await LexicalEmbedder(32).embed(["a", "b"])
    assert (counter.texts, counter.count, counter.calls) == (["a", "b"], 2, 1)
    assert (embedder.model, embedder.dimension) == ("lexical-hash-v1", 32)
    await embedder.close()
