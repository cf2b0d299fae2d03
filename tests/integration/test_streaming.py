"""/query/stream over a real socket, with a provider that writes without end: nothing outlives the
client.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn

from embedded.processes import free_port
from runtime.models.limits import Limits
from runtime.models.port import Message
from runtime.models.rate_limiter import RateLimiter
from services.query.adapters.models import ModelAnswerGenerator
from services.query.context.prompt import Prompt
from tests.support.openai_provider import Provider, serving
from tests.support.querying import library_of_two
from tests.support.waiting import PATIENCE


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        yield provider


@asynccontextmanager
async def api(provider: Provider, model: str) -> AsyncIterator[int]:
    """The query service's API on a free port, answering with that model of the provider."""
    harness = await library_of_two()
    chat = provider.chat(model, limiter=RateLimiter("m", Limits(calls=1)))
    port = free_port()
    app = harness.app(answering=harness.deps(answer_generator=ModelAnswerGenerator(chat)))
    server = uvicorn.Server(
        uvicorn.Config(
            app, port=port, log_level="error", lifespan="off", timeout_graceful_shutdown=1
        )
    )
    running = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        while not server.started:
            await asyncio.sleep(0.01)
    try:
        yield port
    finally:
        server.should_exit = True
        await running
        await chat.close()


async def asked(port: int, **body: object) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A socket on which the question was put."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4096)
    data = json.dumps({"query": "Who discovered radium?", "mode": "mix", **body}).encode()
    head = (
        "POST /query/stream HTTP/1.1\r\nHost: api\r\nContent-Type: "
        f"application/json\r\nContent-Length: {len(data)}"
    )
    writer.write(head.encode() + b"\r\n\r\n" + data)
    await writer.drain()
    return reader, writer


async def hung_up(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    await asyncio.gather(writer.wait_closed(), return_exceptions=True)


@pytest.mark.parametrize("progress", [False, True])
async def test_the_providers_stream_ends_when_the_client_goes_away(
    provider: Provider, progress: bool
) -> None:
    async with api(provider, "endless") as port:
        reader, writer = await asked(port, include_progress=progress)
        head = await asyncio.wait_for(reader.readuntil(b' more"}'), PATIENCE)
        assert b"content-type: application/x-ndjson" in head
        assert not provider.disconnected.is_set()
        await hung_up(writer)
        await asyncio.wait_for(provider.disconnected.wait(), PATIENCE)
        # Its turn at the model, of which there is one, is free again.
        reader, writer = await asked(port)
        await asyncio.wait_for(reader.readuntil(b' more"}'), PATIENCE)
        await hung_up(writer)


async def test_it_ends_too_when_the_client_reads_nothing_more(provider: Provider) -> None:
    async with api(provider, "flood") as port:
        reader, writer = await asked(port)
        await asyncio.wait_for(reader.readuntil(b'{"response"'), PATIENCE)
        async with asyncio.timeout(PATIENCE):
            while provider.pieces_sent == 0 or await growing(provider):
                pass
        assert not provider.disconnected.is_set()
        await hung_up(writer)
        await asyncio.wait_for(provider.disconnected.wait(), PATIENCE)


async def growing(provider: Provider) -> bool:
    """Whether the provider can get rid of more pieces within half a second."""
    before = provider.pieces_sent
    await asyncio.sleep(0.5)
    return provider.pieces_sent > before


async def test_a_client_that_goes_away_before_the_first_piece_leaves_nothing_behind(
    provider: Provider,
) -> None:
    async with api(provider, "hang") as port:
        _, writer = await asked(port)
        async with asyncio.timeout(PATIENCE):
            while not provider.running:
                await asyncio.sleep(0.01)
        await hung_up(writer)
        # The one turn is free before the provider, which hangs for five seconds, has answered.
        _, writer = await asked(port)
        async with asyncio.timeout(3.0):
            while len(provider.requests) < 2:
                await asyncio.sleep(0.01)
        await hung_up(writer)


async def test_a_whole_stream_ends_with_its_last_piece(provider: Provider) -> None:
    async with api(provider, "good") as port:
        reader, writer = await asked(port)
        body = await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), PATIENCE)
        lines = [json.loads(line) for line in body.decode().splitlines() if line.startswith("{")]
        assert lines[0] == {"references": [{"reference_id": "1", "file_path": "curie.txt"}]}
        assert "".join(line["response"] for line in lines[1:]) == "the whole answer"
        await hung_up(writer)


async def test_a_turn_at_the_model_ends_when_the_model_has_finished_and_not_when_the_reader_has(
    provider: Provider,
) -> None:
    chat = provider.chat("fine", limiter=RateLimiter("m", Limits(calls=1)))
    pieces = ModelAnswerGenerator(chat).stream(Prompt("", "what?", ()))
    assert (await anext(pieces)).text == "the "
    async with asyncio.timeout(20):
        await chat.complete([Message("user", "and what else?")])
    assert "".join([piece.text async for piece in pieces]) == "whole answer"
    await chat.close()
