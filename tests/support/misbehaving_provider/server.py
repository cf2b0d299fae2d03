"""The HTTP server of the misbehaving provider, in threads of the test that uses it."""

import json
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.misbehaving_provider.chat import MODEL, answered, delay_of
from tests.support.misbehaving_provider.embedding import DIMENSION, embedded
from tests.support.misbehaving_provider.prompts import prompt_of, text_of
from tests.support.misbehaving_provider.refusals import Refusal
from tests.support.misbehaving_provider.reranking import reranked
from tests.support.misbehaving_provider.streams import BrokenOff

KEY = "sk-of-a-misbehaving-provider"
_EXCERPT = 80


@dataclass
class MisbehavingProvider:
    """The provider and what it was asked. `log` has an entry for each request."""

    url: str = ""
    """Its address, up to `/v1`."""
    modes: dict[str, str] = field(
        default_factory=lambda: {"chat": "", "embeddings": "", "rerank": ""}
    )
    log: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    taken: set[str] = field(default_factory=set[str])
    """Marker words that are answered well from now on."""

    def environment(self) -> dict[str, str]:
        """What a stack needs to use it for chat and embeddings."""
        return {
            "LLM_BASE_URL": self.url,
            "LLM_MODEL": MODEL,
            "LLM_API_KEY": KEY,
            "EMBEDDING_BASE_URL": self.url,
            "EMBEDDING_MODEL": "words-1",
            "EMBEDDING_DIM": str(DIMENSION),
            "EMBEDDING_API_KEY": KEY,
        }

    def reranker(self) -> dict[str, str]:
        """What a stack needs to rerank by it."""
        host = self.url.removesuffix("/v1") + "/rerank"
        return {
            "RERANK_BINDING": "jina",
            "RERANK_BINDING_HOST": host,
            "RERANK_BINDING_API_KEY": KEY,
        }

    def set_mode(self, **modes: str) -> None:
        """Set the modes that are named; an empty one is the good one."""
        unknown_modes = modes.keys() - self.modes.keys()
        if unknown_modes:
            raise ValueError(
                f"there are no modes of {sorted(unknown_modes)}: chat, embeddings, rerank"
            )
        self.modes.update(modes)

    def asked(self, task: str, marker: str = "") -> list[dict[str, Any]]:
        """Return the log's entries of a task, and of a marker if it is given.

        Tasks are `embeddings`, `rerank` and those of chat.
        """
        return [
            entry
            for entry in list(self.log)
            if entry["task"] == task and (not marker or marker in entry["markers"])
        ]

    def answer(self, path: str, body: dict[str, Any]) -> Refusal | Iterator[bytes]:
        """Return the answer to a POST: JSON with its status, or the pieces of a stream."""
        if path == "/mode":
            self.set_mode(**body)
            return Refusal(200, self.modes)
        if path == "/reset":
            self.log.clear()
            return Refusal(200, {})
        self.log.append(_entry(path, body))
        body = _without(body, self.taken)
        if path.endswith("/embeddings"):
            return embedded(body, self.modes["embeddings"])
        if path.endswith("/rerank"):
            return reranked(body, self.modes["rerank"])
        if not path.endswith("/chat/completions"):
            return Refusal(404, {"error": {"message": f"no such route: {path}"}})
        time.sleep(delay_of(prompt_of(body["messages"])))
        answer = answered(body, self.modes["chat"])
        return answer.stream or answer.whole or Refusal(500, "no answer")


def _entry(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return what the log says of a request, without long texts."""
    entry: dict[str, Any] = {
        "fields": sorted(body.keys() - {"messages", "input", "documents", "texts"})
    }
    entry |= {
        name: body[name]
        for name in entry["fields"]
        if isinstance(body[name], str | int | float | dict)
    }
    if "messages" in body:
        prompt = prompt_of(body["messages"])
        entry |= {"task": prompt.task, "markers": sorted(prompt.markers)}
        entry["text"] = text_of(body["messages"][-1].get("content"))[-_EXCERPT:]
    elif "input" in body:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        entry |= {
            "task": "embeddings",
            "markers": [],
            "texts": len(texts),
            "text": texts[0][:_EXCERPT],
        }
        entry["longest"] = max(len(text) for text in texts)
    else:
        entry |= {"task": path.rpartition("/")[2], "markers": []}
    return entry


def _without(body: dict[str, Any], markers: set[str]) -> dict[str, Any]:
    """Return the request as if these marker words were not in it."""
    text = json.dumps(body)
    for marker in markers:
        text = text.replace(marker, "")
    return json.loads(text)


class _Handler(BaseHTTPRequestHandler):
    """One connection. `provider` is set by `serving`."""

    provider: MisbehavingProvider
    protocol_version = "HTTP/1.1"
    # Headers and body are two writes: the second must not wait for the first to be acknowledged.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer the log, and the list of models that some clients ask for."""
        self._send(Refusal(200, list(self.provider.log) if self.path == "/log" else {"data": []}))

    def do_POST(self) -> None:
        """Answer a request of a client."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        answer = self.provider.answer(self.path, body)
        if isinstance(answer, Refusal):
            self._send(answer)
        else:
            self._stream(answer)

    def _send(self, answer: Refusal) -> None:
        is_text = isinstance(answer.body, str)
        data = (answer.body if is_text else json.dumps(answer.body)).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "text/html" if is_text else "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        # A chunked body that ends without its last chunk is what a broken connection looks like.
        with suppress(BrokenOff):
            for event in events:
                data = event + b"\n\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is killed in the middle is part of the tests."""


@contextmanager
def serving(port: int = 0) -> Generator[MisbehavingProvider]:
    """Serve on a free port, or on this one, until the block ends."""
    provider = MisbehavingProvider()
    handler = type("Handler", (_Handler,), {"provider": provider})
    with _Server(("127.0.0.1", port), handler) as server:
        provider.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
