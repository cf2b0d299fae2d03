"""A local server that speaks the OpenAI routes, well or badly, as the model's name in the request asks."""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from runtime.models.openai import OpenAiChat, OpenAiEmbedder
from standalone.processes import free_port

KEY = "sk-very-secret-0123456789"
DIMENSION = 4


@dataclass
class Provider:
    """A local server that speaks the OpenAI routes, and what it saw."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    running: int = 0
    most_running: int = 0
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)

    def chat(self, mode: str, **options: Any) -> OpenAiChat:
        return OpenAiChat(self.url, mode, KEY, **{"retries": 0, "timeout": 10.0, **options})

    def embedder(self, mode: str, **options: Any) -> OpenAiEmbedder:
        return OpenAiEmbedder(self.url, mode, DIMENSION, KEY, **{"timeout": 10.0, **options})

    async def handle(self, request: Request) -> Response:
        body = json.loads(await request.body())
        self.requests.append(body)
        self.keys.add(request.headers.get("authorization"))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep({"hang": 5.0, "slow": 0.1}.get(body["model"], 0.0))
            failure = self.failure(body["model"]) or self.nonsense(body["model"])
            if failure is not None:
                return failure
            return self.embeddings(body) if "input" in body else await self.completion(body, request)
        finally:
            self.running -= 1

    def failure(self, mode: str) -> Response | None:
        match mode.split(":"):
            case ["status", code]:
                return JSONResponse({"error": {"message": f"bad, with {KEY}", "code": "some_code"}}, int(code))
            case ["wait", header]:
                return JSONResponse({"error": {"message": "slow down"}}, 429, {"Retry-After": header})
            case ["date"]:
                return JSONResponse({}, 429, {"Retry-After": formatdate(time.time() + 60, usegmt=True)})
            case ["once", code] if len(self.requests) == 1:
                return JSONResponse({"error": {"message": "blip"}}, int(code))
        return None

    def nonsense(self, mode: str) -> Response | None:
        match mode:
            case "html":
                return PlainTextResponse("<html>hello</html>", media_type="text/html")
            case "garbage":
                return Response(b'{"choices": [', media_type="application/json")
            case "huge":
                return Response(b" " * 200_000 + b"{}", media_type="application/json")
            case "error200":
                return JSONResponse({"error": {"message": "no"}})
        return None

    async def completion(self, body: dict[str, Any], request: Request) -> Response:
        if body.get("stream"):
            return StreamingResponse(self.pieces(body["model"]), media_type="text/event-stream")
        mode = body["model"]
        message = {"role": "assistant", "content": {"empty": " ", "null": None}.get(mode, "the answer")}
        if mode == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I will not"}
        reason = {"cut": "length", "filter": "content_filter"}.get(mode, "stop")
        usage = {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 5}}
        answer: dict[str, Any] = {
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": usage,
        }
        if mode == "bare":
            del answer["usage"]
        return JSONResponse({"id": "1", "object": "chat.completion", "created": 1, "model": mode, **answer})

    async def pieces(self, mode: str) -> AsyncIterator[str]:
        def event(delta: dict[str, Any], reason: str | None = None) -> str:
            choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
            return f"data: {json.dumps({'id': '1', 'object': 'chat.completion.chunk', 'choices': choices})}\n\n"

        try:
            yield event({"role": "assistant"})
            if mode == "broken":
                yield 'data: {"error": {"message": "overloaded"}}\n\n'
            if mode != "silent":
                for word in ("the ", "whole ", "answer"):
                    yield event({"content": word})
            while mode == "endless":
                yield event({"content": "more "})
                await asyncio.sleep(0.01)
            yield event({}, "content_filter" if mode == "filter" else "stop")
            yield "data: [DONE]\n\n"
        except (asyncio.CancelledError, GeneratorExit):
            self.disconnected.set()
            raise

    def embeddings(self, body: dict[str, Any]) -> Response:
        mode, texts = body["model"], body["input"]
        rows = [[float(len(text)), 1.0, 0.0, 0.0] for text in texts]
        if mode == "wrong-dimension":
            rows = [row[:-1] for row in rows]
        data = [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
        match mode:
            case "shuffled":
                data.reverse()
            case "short":
                data.pop()
            case "none":
                data.clear()
            case "nan":
                data[0]["embedding"] = [1.0, math.nan, 0.0, 0.0]
            case "infinite":
                data[0]["embedding"] = [1e400, 0.0, 0.0, 0.0]
            case "zeros":
                data[0]["embedding"] = [0.0] * DIMENSION
            case "words":
                data[0]["embedding"] = ["x"] * DIMENSION
            case "missing":
                data[0]["embedding"] = None
        return Response(json.dumps({"object": "list", "model": mode, "data": data}), media_type="application/json")


@asynccontextmanager
async def serving() -> AsyncIterator[Provider]:
    """A provider on a free port, until the block ends."""
    provider = Provider()
    routes = [Route(f"/v1/{path}", provider.handle, methods=["POST"]) for path in ("chat/completions", "embeddings")]
    port = free_port()
    config = uvicorn.Config(Starlette(routes=routes), port=port, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        while not server.started:
            await asyncio.sleep(0.01)
    provider.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield provider
    finally:
        server.should_exit = True
        await running
