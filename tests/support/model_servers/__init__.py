"""Servers on loopback that answer in the forms of single providers, each after its documentation.

The official client of each provider reads them in `tests/integration/test_wires.py`, so that they
are no fancy of ours. What stands in the last turn makes them answer badly.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from embedded.processes import free_port

KEY = "mk-very-secret-0123456789"
ANSWER = "Ada leads the Harbour Office."
REASONING = "The second passage names her."
PROMPT = 30
CACHED = 16
COMPLETION = 5
VECTORS = [[3.0, 4.0, 0.0], [0.0, 3.0, 4.0]]
TOOL = "find_text"
ARGUMENTS = {"keywords": ["Harbour Office"]}
"""The call that is answered to whoever offers this tool; with its result comes `ANSWER`."""
RESULT = "Ada keeps the Harbour Office."
BUSY = "BUSY"
OVERLOADED = "OVERLOADED"
CUT = "CUT"
REFUSED = "REFUSED"
BROKEN = "BROKEN"
"""Words in a prompt: 429 with seconds to wait; an overload; an answer at its limit; one that a
filter stopped; a stream that ends with an error.
"""
WAIT = 7


@dataclass(frozen=True)
class SeenRequest:
    """A request that a server had."""

    path: str
    query: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass
class ModelServer:
    """A server and what it saw."""

    url: str = ""
    requests: list[SeenRequest] = field(default_factory=list[SeenRequest])
    token_requests: list[SeenRequest] = field(default_factory=list[SeenRequest])
    """Those for a token, which are forms, or ask for it by their address."""


Answer = Callable[[SeenRequest], Awaitable[Response]]


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[ModelServer]:
    """A server on a free port, until the block ends."""
    result = ModelServer()

    async def handle(http_request: Request) -> Response:
        path = http_request.scope["raw_path"].decode()
        content = await http_request.body()
        is_form = "form" in http_request.headers.get("content-type", "")
        body = dict(parse_qsl(content.decode())) if is_form else json.loads(content or b"{}")
        request = SeenRequest(path, http_request.url.query, http_request.headers, body)
        wants_token = is_form or http_request.method == "GET"
        (result.token_requests if wants_token else result.requests).append(request)
        return await answer(request)

    port = free_port()
    app = Starlette(routes=[Route("/{path:path}", handle, methods=["GET", "POST"])])
    config = uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        while not server.started:
            await asyncio.sleep(0.01)
    result.url = f"http://127.0.0.1:{port}"
    try:
        yield result
    finally:
        server.should_exit = True
        await running


def text_of(content: Any) -> str:
    """The text of a turn, or of those of its parts that have any."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


def words(text: str, size: int = 7) -> list[str]:
    """A text in pieces, as streams bring it."""
    return [text[place : place + size] for place in range(0, len(text), size)]
