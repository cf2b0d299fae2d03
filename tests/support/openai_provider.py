"""A local server that speaks the OpenAI routes, well or badly, as the model's name in the request
asks.
"""

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

from embedded.processes import free_port
from runtime.models.bindings import Connection
from runtime.models.chat import CONTROL as CHAT_CONTROL
from runtime.models.chat import EndpointChat
from runtime.models.embedder import CONTROL, EndpointEmbedder
from runtime.models.endpoint import Endpoint
from runtime.models.limits import Limits
from runtime.models.rate_limiter import RateLimiter
from runtime.models.wires.openai import OpenAiWire

KEY = "sk-very-secret-0123456789"
FEW = 10
"""Texts a call of the mode `few`."""
DIMENSION = 4
WARM = "warm"
"""The model of a process's first call, which no limit holds: it does not count among those that run
at once.
"""


def chat_at(
    url: str,
    model: str,
    key: str = KEY,
    limiter: RateLimiter | None = None,
    *,
    timeout: float = 240.0,
    retries: int = 0,
) -> EndpointChat:
    """A language model there; without a limiter four calls at once."""
    limiter = limiter or RateLimiter(model, Limits(calls=4))
    return EndpointChat(
        Endpoint(OpenAiWire(Connection(url, key)), limiter, timeout, "LLM", retries), model
    )


ONLY_TEXTS = "only:"
"""Before a mode: the control is answered well, and other texts, or those that hold `Provider.bad`,
as the mode says.
"""


def is_control(body: dict[str, Any]) -> bool:
    """Whether a request asks the harmless thing that shows whether the provider works."""
    if "input" in body:
        return body["input"] == [CONTROL]
    return body["messages"][-1]["content"] == CHAT_CONTROL


@dataclass
class Provider:
    """A local server that speaks the OpenAI routes, and what it saw."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    times: list[float] = field(default_factory=list)
    """When each request came, in seconds of `time.time`."""
    busy_until: float = 0.0
    """Time of `time.time` before which every request is answered with 429 and Retry-After."""
    busy_after: int = 0
    """Requests after which it is busy for a second, 0 for never."""
    down: bool = False
    """Whether every request is answered with 500."""
    bad: str = "\0"
    """Texts that hold this are embedded as the modes `picky:…` say, and answered as the modes
    `only:…` do.
    """
    pieces_sent: int = 0
    """Pieces of streamed answers that the client's side has taken."""
    text: str = ""
    """What every answer says, where it is given; streamed a few characters at a time."""
    running: int = 0
    most_running: int = 0
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)

    def chat(self, mode: str, **options: Any) -> EndpointChat:
        return chat_at(self.url, mode, **{"timeout": 10.0, **options})

    def embedder(
        self, mode: str, limiter: RateLimiter | None = None, **options: Any
    ) -> EndpointEmbedder:
        limiter = limiter or RateLimiter(mode, Limits(calls=8))
        return EndpointEmbedder(
            Endpoint(OpenAiWire(Connection(self.url, KEY)), limiter, 10.0, "EMBEDDING"),
            mode,
            DIMENSION,
            **options,
        )

    async def handle(self, request: Request) -> Response:
        body = json.loads(await request.body())
        self.requests.append(body)
        if body["model"].startswith(ONLY_TEXTS):
            mode = body["model"].removeprefix(ONLY_TEXTS)
            spared = is_control(body) or (self.bad != "\0" and self.bad not in str(body))
            body["model"] = "good" if spared else mode
        self.times.append(time.time())
        self.keys.add(request.headers.get("authorization"))
        held = body["model"] != WARM
        self.running += held
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep({"hang": 5.0, "slow": 0.1}.get(body["model"], 0.0))
            if self.busy_after and len(self.requests) == self.busy_after + 1:
                self.busy_until = time.time() + 1.0
            if (wait := self.busy_until - time.time()) > 0:
                return JSONResponse(
                    {"error": {"message": "slow down"}}, 429, {"Retry-After": f"{wait:.2f}"}
                )
            if self.down:
                return JSONResponse({"error": {"message": "down"}}, 500)
            failure = self.failure(body["model"]) or self.nonsense(body["model"])
            if failure is not None:
                return failure
            return (
                self.embeddings(body) if "input" in body else await self.completion(body, request)
            )
        finally:
            self.running -= held

    async def models(self, request: Request) -> Response:
        """List one model, to whoever has a key that is not wrong."""
        if "wrong" in request.headers.get("authorization", ""):
            return JSONResponse({"error": {"message": "Incorrect API key provided"}}, 401)
        return JSONResponse({"object": "list", "data": [{"id": "good", "object": "model"}]})

    def failure(self, mode: str) -> Response | None:
        match mode.split(":"):
            case ["status", code]:
                return JSONResponse(
                    {"error": {"message": f"bad, with {KEY}", "code": "some_code"}}, int(code)
                )
            case ["code", code, name]:
                return JSONResponse(
                    {"error": {"message": f"bad, with {KEY}", "code": name}}, int(code)
                )
            case ["azure"]:
                inner = {"code": "ResponsibleAIPolicyViolation"}
                return JSONResponse(
                    {"error": {"message": "no", "code": "other", "innererror": inner}}, 400
                )
            case ["wait", header]:
                return JSONResponse(
                    {"error": {"message": "slow down"}}, 429, {"Retry-After": header}
                )
            case ["date"]:
                return JSONResponse(
                    {}, 429, {"Retry-After": formatdate(time.time() + 60, usegmt=True)}
                )
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
            case "refused200":
                return JSONResponse({"error": {"message": "too long for me", "code": 400}})
            case "no-choices":
                return JSONResponse({"id": "1", "choices": [], "usage": {"prompt_tokens": 7}})
        return None

    async def completion(self, body: dict[str, Any], request: Request) -> Response:
        if body.get("stream"):
            if body["model"] == "no-options" and "stream_options" in body:
                return JSONResponse(
                    {"error": {"message": "stream_options: extra fields not permitted"}}, 400
                )
            return StreamingResponse(self.pieces(body["model"]), media_type="text/event-stream")
        mode = body["model"]
        message = {
            "role": "assistant",
            "content": {"empty": " ", "null": None, "used-up": ""}.get(
                mode, self.text or "the answer"
            ),
        }
        if mode == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I will not"}
        reason = {"cut": "length", "used-up": "length", "filter": "content_filter"}.get(
            mode, "stop"
        )
        usage: dict[str, Any] = {
            "prompt_tokens": 7,
            "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 5},
        }
        answer: dict[str, Any] = {
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": usage,
        }
        if mode.startswith("costs:"):
            usage["completion_tokens"] = int(mode.removeprefix("costs:")) - 7
        if mode == "bare":
            del answer["usage"]
        return JSONResponse(
            {"id": "1", "object": "chat.completion", "created": 1, "model": mode, **answer}
        )

    async def pieces(self, mode: str) -> AsyncIterator[str]:
        def event(delta: dict[str, Any], reason: str | None = None) -> str:
            choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
            return (
                "data: "
                f"{json.dumps({'id': '1', 'object': 'chat.completion.chunk', 'choices': choices})}\n\n"  # noqa: E501
            )

        try:
            yield event({"role": "assistant"})
            if mode == "broken":
                yield 'data: {"error": {"message": "overloaded"}}\n\n'
            if mode != "silent":
                parts = [self.text[at : at + 7] for at in range(0, len(self.text), 7)]
                for word in parts or ("the ", "whole ", "answer"):
                    yield event({"content": word})
            while mode == "flood":
                yield event({"content": "more " * 2000})
                self.pieces_sent += 1
                await asyncio.sleep(0)
            while mode == "endless":
                yield event({"content": "more "})
                await asyncio.sleep(0.01)
            yield event({}, "content_filter" if mode == "filter" else "stop")
            if mode == "counted":
                usage = {
                    "prompt_tokens": 7,
                    "completion_tokens": 3,
                    "prompt_tokens_details": {"cached_tokens": 5},
                }
                last = {"id": "1", "object": "chat.completion.chunk", "choices": [], "usage": usage}
                yield f"data: {json.dumps(last)}\n\n"
            yield "data: [DONE]\n\n"
        except (asyncio.CancelledError, GeneratorExit):
            self.disconnected.set()
            raise

    def spoil(self, mode: str, data: list[dict[str, Any]]) -> None:
        """Do to a good answer what a bad provider does."""
        first = {
            "nan": [1.0, math.nan, 0.0, 0.0],
            "infinite": [1e400, 0.0, 0.0, 0.0],
            "zeros": [0.0] * DIMENSION,
            "words": ["x"] * DIMENSION,
            "missing": None,
        }
        if mode in first:
            data[0]["embedding"] = first[mode]
        for number, item in enumerate(data):
            odd = {"same-index": 0, "odd-index": 2 * number, "no-index": None}
            item["index"] = odd.get(mode, number)
        match mode:
            case "shuffled":
                data.reverse()
            case "short":
                data.pop()
            case "long":
                data.append(data[0])
            case "none":
                data.clear()

    def spoil_some(self, how: str, texts: list[str], data: list[dict[str, Any]]) -> None:
        """The same for the bad texts only, as a good provider may."""
        for text, item in zip(texts, list(data), strict=True):
            if self.bad not in text:
                continue
            match how:
                case "short":
                    data.remove(item)
                case "long":
                    data.append(item)
                case _:
                    self.spoil(how, [item])

    def embeddings(self, body: dict[str, Any]) -> Response:
        mode = body["model"]
        texts = body["input"]
        mode, _, how = mode.partition(":")
        if how == "not-json" and (mode != "picky" or any(self.bad in text for text in texts)):
            return JSONResponse(
                {"error": {"message": "failed to encode: json: unsupported value: NaN"}}, 500
            )
        if mode == "few" and len(texts) > FEW:
            return JSONResponse({"error": {"message": f"batch size must not exceed {FEW}"}}, 400)
        if mode == "batches" and len(texts) > 1:
            texts = texts[:1]  # a provider that takes one text a call
        rows = [[float(len(text)), 1.0, 0.0, 0.0] for text in texts]
        if mode == "wrong-dimension":
            rows = [row[:-1] for row in rows]
        data = [
            {"object": "embedding", "index": number, "embedding": row}
            for number, row in enumerate(rows)
        ]
        if mode == "picky":
            self.spoil_some(how, texts, data)
        else:
            self.spoil(mode, data)
        return Response(
            json.dumps(
                {"object": "list", "model": mode, "data": data, "usage": {"total_tokens": 7}}
            ),
            media_type="application/json",
        )


@asynccontextmanager
async def serving() -> AsyncIterator[Provider]:
    """A provider on a free port, until the block ends."""
    provider = Provider()
    routes = [
        Route(f"/v1/{path}", provider.handle, methods=["POST"])
        for path in ("chat/completions", "embeddings")
    ]
    routes.append(Route("/v1/models", provider.models))
    port = free_port()
    config = uvicorn.Config(
        Starlette(routes=routes), port=port, log_level="error", timeout_graceful_shutdown=1
    )
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
