"""The mock model: OpenAI's routes for chat and embeddings, computed at once and the same for the
same request.

    python -m benchmarks.yardstick.model [--port 0] [--chat-latency MS] [--embedding-latency MS]
    [--dimension 384]

Prints its address and serves until it is stopped. `GET /stats` counts calls and texts since the
last `POST /reset`; `POST /config` changes the latencies (milliseconds). Answers are remembered, so
that it costs little CPU itself.
"""

import argparse
import asyncio
import base64
import socket
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.yardstick.embedding import DIMENSION, embed
from benchmarks.yardstick.extraction import stable_hash
from benchmarks.yardstick.prompts import kind_of, read
from benchmarks.yardstick.replies import reply

MODEL, EMBEDDING_MODEL = "mock-chat", "mock-embed"


@dataclass
class Config:
    """Latency of a call in milliseconds, and how many numbers a vector has."""

    chat_latency: float = 0.0
    embedding_latency: float = 0.0
    dimension: int = DIMENSION


@dataclass
class Counts:
    """What was asked since the last reset."""

    chat: Counter[str] = field(default_factory=Counter[str])
    """Calls by kind."""
    embedding_calls: int = 0
    texts: int = 0
    """Texts embedded."""
    prompts: set[int] = field(default_factory=set[int])
    repeated_prompts: int = 0
    distinct_texts: set[int] = field(default_factory=set[int])
    most_chat_calls: int = 0
    """Highest number of chat calls at once."""
    cpu_before: float = field(default_factory=time.process_time)


@dataclass
class MockModel:
    """The routes and what they remember."""

    config: Config
    counts: Counts = field(default_factory=Counts)
    answers: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])
    """Kind and answer by hash of the request."""
    vectors: dict[tuple[int, str], bytes] = field(default_factory=dict[tuple[int, str], bytes])
    chat_calls_now: int = 0

    async def chat(self, http: HttpRequest) -> Response:
        """`POST /v1/chat/completions`, not streamed."""
        body = orjson.loads(await http.body())
        request = read(body)
        key = stable_hash(*request.messages, request.json)
        if key not in self.answers:
            kind = kind_of(request)
            self.answers[key] = kind, reply(kind, request)
        kind, text = self.answers[key]
        counts = self.counts
        counts.chat[kind] += 1
        counts.repeated_prompts += key in counts.prompts
        counts.prompts.add(key)
        self.chat_calls_now += 1
        counts.most_chat_calls = max(counts.most_chat_calls, self.chat_calls_now)
        try:
            await asyncio.sleep(self.config.chat_latency / 1000)
        finally:
            self.chat_calls_now -= 1
        message = {"role": "assistant", "content": text}
        asked, said = sum(map(len, request.messages)) // 4 + 1, len(text) // 4 + 1
        return _json(
            {
                "id": f"chatcmpl-{key:016x}",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": body.get("model", MODEL),
                "choices": [
                    {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
                ],
                "usage": {
                    "prompt_tokens": asked,
                    "completion_tokens": said,
                    "total_tokens": asked + said,
                },
            }
        )

    async def embeddings(self, http: HttpRequest) -> Response:
        """`POST /v1/embeddings`, as numbers or as base64."""
        body = orjson.loads(await http.body())
        given = body["input"]
        texts = (
            [given]
            if isinstance(given, str)
            else [t if isinstance(t, str) else " ".join(map(str, t)) for t in given]
        )
        result = [
            self._vector(text, int(body.get("dimensions") or self.config.dimension))
            for text in texts
        ]
        self.counts.embedding_calls += 1
        self.counts.texts += len(texts)
        self.counts.distinct_texts.update(map(hash, texts))
        await asyncio.sleep(self.config.embedding_latency / 1000)
        packed = body.get("encoding_format") == "base64"
        data = [
            base64.b64encode(v).decode() if packed else np.frombuffer(v, np.float32).tolist()
            for v in result
        ]
        tokens = sum(map(len, texts)) // 4 + 1
        return _json(
            {
                "object": "list",
                "model": body.get("model", EMBEDDING_MODEL),
                "data": [
                    {"object": "embedding", "index": i, "embedding": vector}
                    for i, vector in enumerate(data)
                ],
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            }
        )

    def _vector(self, text: str, dimension: int) -> bytes:
        if (dimension, text) not in self.vectors:
            self.vectors[dimension, text] = embed(text, dimension).tobytes()
        return self.vectors[dimension, text]

    async def stats(self, _: HttpRequest) -> Response:
        """`GET /stats`."""
        return _json(self._counted())

    async def reset(self, _: HttpRequest) -> Response:
        """`POST /reset`: the counts until now; they begin anew."""
        before = self._counted()
        self.counts = Counts()
        return _json(before)

    async def configure(self, http: HttpRequest) -> Response:
        """`POST /config`. Raises TypeError for an option that does not exist."""
        self.config = Config(**{**asdict(self.config), **orjson.loads(await http.body())})
        return _json(asdict(self.config))

    def _counted(self) -> dict[str, Any]:
        counts = self.counts
        return {
            "chat_calls": counts.chat.total(),
            "kinds": dict(counts.chat),
            "repeated_prompts": counts.repeated_prompts,
            "embedding_calls": counts.embedding_calls,
            "texts": counts.texts,
            "distinct_texts": len(counts.distinct_texts),
            "most_chat_calls": counts.most_chat_calls,
            "cpu": time.process_time() - counts.cpu_before,
        }

    def app(self) -> Starlette:
        """All routes."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
                Route("/v1/embeddings", self.embeddings, methods=["POST"]),
                Route("/stats", self.stats),
                Route("/reset", self.reset, methods=["POST"]),
                Route("/config", self.configure, methods=["POST"]),
            ]
        )


def _json(value: Any) -> Response:
    return Response(orjson.dumps(value), media_type="application/json")


def main() -> None:
    """Serve until it is stopped."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--port", type=int, default=0, help="0: a free one")
    arguments.add_argument("--chat-latency", type=float, default=0.0, help="milliseconds")
    arguments.add_argument("--embedding-latency", type=float, default=0.0, help="milliseconds")
    arguments.add_argument("--dimension", type=int, default=DIMENSION)
    given = arguments.parse_args()
    model = MockModel(Config(given.chat_latency, given.embedding_latency, given.dimension))
    listening = socket.create_server(("127.0.0.1", given.port), backlog=1024)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        model.app(), log_level="warning", access_log=False, timeout_keep_alive=3600
    )
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
