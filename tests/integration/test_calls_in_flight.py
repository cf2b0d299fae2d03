"""While passages wait, the extractor has as many calls of the model under way as LLM_MAX_ASYNC
allows, and no fewer.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from nats.js import JetStreamContext
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from runtime.bus.nats.log import NatsLog
from tests.support.events import chunked, document, sealed
from tests.support.nats_server import BusServer, until
from tests.support.served import served
from tests.support.services import service

CALLS = 3
DOCUMENTS = 15
ANSWER = {
    "choices": [
        {"message": {"role": "assistant", "content": "<|COMPLETE|>"}, "finish_reason": "stop"}
    ]
}


@dataclass
class HeldModel:
    """A model that answers one call for each one that is let go."""

    url: str = ""
    running: int = 0
    begun: int = 0
    most_running: int = 0
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def complete(self, _: Request) -> Response:
        self.begun += 1
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await self.gate.acquire()
        self.running -= 1
        return JSONResponse(ANSWER)


@pytest.fixture
async def model() -> AsyncIterator[HeldModel]:
    async with held_model() as model:
        yield model


@asynccontextmanager
async def held_model() -> AsyncIterator[HeldModel]:
    model = HeldModel()
    app = Starlette(routes=[Route("/v1/chat/completions", model.complete, methods=["POST"])])
    async with served(app) as address:
        model.url = f"{address}/v1"
        yield model


@pytest.mark.parametrize("replicas", [1, 2])
async def test_a_slot_is_free_only_when_no_passage_waits(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path, model: HeldModel, replicas: int
) -> None:
    log = NatsLog(jetstream)
    for number in range(DOCUMENTS):
        name = f"doc-{number}"
        await log.publish(sealed(chunked(document(name), f"passage {number}"), id=name))
    env = {
        "NATS_URL": server.url,
        "LLM_BASE_URL": model.url,
        "LLM_MODEL": "m",
        "LLM_API_KEY": "k",
        "LLM_MAX_ASYNC": str(CALLS),
        "MAX_GLEANING": "0",
    }

    async def full() -> bool:
        return model.running == CALLS

    async def at_hand() -> bool:
        info = await jetstream.consumer_info("KB_EVENTS", "extractor")
        return info.num_ack_pending == 2 * CALLS * replicas

    async def all_done() -> bool:
        info = await jetstream.consumer_info("KB_EVENTS", "extractor")
        return (info.num_pending, info.num_ack_pending) == (0, 0)

    async with AsyncExitStack() as stack:
        for number in range(replicas):
            await stack.enter_async_context(service("extractor", tmp_path / str(number), **env))
        await until(full, "as many calls as are allowed")
        await until(at_hand, "as many passages again that wait at the model")
        for answer_number in range(1, DOCUMENTS - CALLS + 1):
            model.gate.release()

            async def refilled(begin_count: int = CALLS + answer_number) -> bool:
                return model.begun >= begin_count and model.running == CALLS

            await until(refilled, f"the next call after answer {answer_number}")
        for _ in range(CALLS):
            model.gate.release()
        await until(all_done, "the rest")
    assert (model.begun, model.most_running) == (DOCUMENTS, CALLS)
