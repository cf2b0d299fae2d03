"""A language and embedding model behind the OpenAI routes, computed on the spot: for stacks that
are to have one.

It answers our own prompts: extraction in the row format from the names in the passage, keywords as
JSON, questions with a citation. Asked again for what it missed, it adds the names of one word.
Given tools, it looks for the names that it reads. It counts what it was asked, and can refuse a key
or some passages, ask to wait, or take its time. It runs in a thread of the test.
"""

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

from offline.embeddings.lexical import vector

CHAT_MODEL = "rows-1"
EMBEDDING_MODEL = "words-1"
DIMENSION = 64
KEY = "sk-the-right-key-0123456789"
ANSWER = "The documents say so [1]."
USAGE = {"prompt_tokens": 9011, "completion_tokens": 7, "total_tokens": 9018}
"""More tokens than any of our prompts has: fewer would be those of a model with a small window."""

_NAME = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)+\b")
_WORD = re.compile(r"\b[A-Z][a-z]+\b")
_FENCED = re.compile(r"```\n(.*)\n```", re.DOTALL)


@dataclass
class LanguageModel:
    """The provider and what it saw. `calls` counts answered requests: extract, glean, keywords,
    tools, answer, embed.
    """

    url: str = ""
    calls: Counter[str] = field(default_factory=Counter[str])
    passages: Counter[str] = field(default_factory=Counter[str])
    """How often each passage was extracted."""
    forbidden: str = "\0"
    """A passage that holds this is answered with HTTP 400 for its content."""
    filtered: str = "\0"
    """An answer to a passage that holds this is stopped by a content filter."""
    varied: bool = False
    """Whether each passage says something of its own about the names in it."""
    reply: str = ANSWER
    """What it answers to a question."""
    quotation: str = ""
    """A regular expression: a question is answered by what it finds in the passages, where it is
    given.
    """
    paths: Counter[str] = field(default_factory=Counter[str])
    """How often each path was asked, with its query."""
    flowing: threading.Event = field(default_factory=threading.Event)
    """A streamed answer stops behind its first word while this is clear."""
    latency: float = 0.0
    """Seconds that a chat call takes, beside other calls."""
    embedded: int = 0
    """Texts that were embedded."""
    refused: int = 0
    down: bool = False
    """Whether every request is answered with 503."""
    busy_until: float = 0.0
    """Time of `time.monotonic` before which every request is answered with 429."""
    busy: int = 0
    """How often it was."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def environment(self, key: str = KEY) -> dict[str, str]:
        """What a stack needs to use it."""
        return {
            "LLM_BASE_URL": self.url,
            "LLM_MODEL": CHAT_MODEL,
            "LLM_API_KEY": key,
            "EMBEDDING_BASE_URL": self.url,
            "EMBEDDING_MODEL": EMBEDDING_MODEL,
            "EMBEDDING_DIM": str(DIMENSION),
            "EMBEDDING_API_KEY": KEY,
        }

    def be_busy(self, seconds: float) -> None:
        """Ask everybody to wait, from now on for so long."""
        self.busy_until = time.monotonic() + seconds

    def answer(self, body: dict[str, Any], key: str) -> tuple[int, dict[str, Any], dict[str, str]]:
        """Status, JSON and headers."""
        with self.lock:
            if key != f"Bearer {KEY}":
                self.refused += 1
                return 401, {"error": {"message": f"Incorrect API key provided: {key}"}}, {}
            if self.down:
                return 503, {"error": {"message": "down for maintenance"}}, {}
            wait = self.busy_until - time.monotonic()
            if wait > 0:
                self.busy += 1
                return 429, {"error": {"message": "slow down"}}, {"Retry-After": str(int(wait) + 1)}
            if "messages" in body and self.forbidden in _passage(body["messages"]):
                self.calls["refused"] += 1
                return (
                    400,
                    {"error": {"message": "against the content policy", "code": "content_policy"}},
                    {},
                )
            return 200, self._embeddings(body) if "input" in body else self._completion(body), {}

    def _embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        self.calls["embed"] += 1
        self.embedded += len(body["input"])
        rows = [
            {"index": n, "embedding": vector(text, DIMENSION)}
            for n, text in enumerate(body["input"])
        ]
        return {"object": "list", "model": EMBEDDING_MODEL, "data": rows, "usage": USAGE}

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = "\n".join(message["content"] or "" for message in body["messages"])
        passage = _passage(body["messages"])
        calls: list[dict[str, Any]] = []
        if "tools" in body:
            self.calls["tools"] += 1
            calls = _calls(body["messages"])
            reply = "" if calls else "Nothing is missing."
        elif "<|#|>" in prompt and len(body["messages"]) == 4:
            self.calls["glean"] += 1
            reply = _more_rows(passage)
        elif "<|#|>" in prompt:
            self.calls["extract"] += 1
            reply = self._rows(passage)
        elif "Make one description" in prompt:
            self.calls["summary"] += 1
            lines = prompt.rpartition("as JSON:\n")[2].splitlines()
            reply = f"{len(lines)} passages in one, {_short(prompt)}."
        elif "high_level_keywords" in prompt:
            self.calls["keywords"] += 1
            names = _NAME.findall(prompt.rpartition("Question:")[2])
            reply = json.dumps({"high_level_keywords": ["seafaring"], "low_level_keywords": names})
        else:
            self.calls["answer"] += 1
            reply = self._answer(prompt)
        reason = "content_filter" if self.filtered in passage else "stop"
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": reason,
            "message": {"role": "assistant", "content": reply},
        }
        if calls:
            choice["message"] = {"role": "assistant", "content": None, "tool_calls": calls}
            choice["finish_reason"] = "tool_calls"
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": CHAT_MODEL,
            "choices": [choice],
            "usage": USAGE,
        }

    def pieces(self, answer: dict[str, Any]) -> Iterator[bytes]:
        """A completion word by word, as server-sent events."""
        words = re.findall(r"\S+\s*", answer["choices"][0]["message"]["content"])
        for number, word in enumerate(words):
            choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
            yield (
                b"data: "
                + json.dumps(
                    {**answer, "object": "chat.completion.chunk", "choices": [choice]}
                ).encode()
            )
            if number == 0:
                self.flowing.wait(60)
        choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
        yield (
            b"data: "
            + json.dumps(
                {**answer, "object": "chat.completion.chunk", "choices": [choice]}
            ).encode()
        )
        yield b"data: [DONE]"

    def _answer(self, prompt: str) -> str:
        if not self.quotation:
            return self.reply
        quotation = re.search(self.quotation, prompt)
        return f"{quotation[0]} [1]" if quotation else "The documents do not say."

    def _rows(self, passage: str) -> str:
        self.passages[passage] += 1
        names = list(dict.fromkeys(_NAME.findall(passage)))
        log_sentence = f" That was log {_short(passage)}." if self.varied else ""
        rows = [
            f"entity<|#|>{name}<|#|>Person<|#|>{name} is named in a log.{log_sentence}"
            for name in names
        ]
        rows += [
            f"relation<|#|>{a}<|#|>{b}<|#|>trade<|#|>{a} had to do with {b}."
            for a, b in pairwise(names)
        ]
        return "\n".join([*rows, "<|COMPLETE|>"])


def _calls(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls that look for the names that the last turn brought, which it has not looked for."""
    before = [str(message) for message in messages[1:-1]]
    names = [
        name
        for name in dict.fromkeys(_NAME.findall(messages[-1]["content"]))
        if not any(name in turn for turn in before)
    ]
    arguments = json.dumps({"keywords": names[-2:]})
    function = {"name": "find_text", "arguments": arguments}
    return [{"id": f"call_{len(messages)}", "type": "function", "function": function}] * bool(names)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _passage(messages: list[dict[str, Any]]) -> str:
    """What stands between the fences of the first task."""
    result = _FENCED.search(
        next((message["content"] for message in messages if message["role"] == "user"), "")
    )
    return result[1] if result else ""


def _more_rows(passage: str) -> str:
    """The capitalised words that are no part of a name the first answer gave."""
    words = dict.fromkeys(_WORD.findall(_NAME.sub("", passage)))
    rows = [f"entity<|#|>{word}<|#|>Other<|#|>{word} is mentioned in a log." for word in words]
    return "\n".join([*rows, "<|COMPLETE|>"])


@contextmanager
def serving() -> Generator[LanguageModel]:
    """A model on a free port, until the block ends."""
    model = LanguageModel()
    model.flowing.set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body are two writes: the second must not wait until the client has
        # acknowledged the first.
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if "messages" in body:
                time.sleep(model.latency)
            model.paths[self.path] += 1
            # Azure's requests have the key under a name of its own.
            azure_key = self.headers.get("api-key")
            key = f"Bearer {azure_key}" if azure_key else self.headers.get("Authorization", "")
            status, answer, headers = model.answer(body, key)
            if status == 200 and body.get("stream"):
                self.stream(answer)
                return
            data = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def stream(self, answer: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for piece in model.pieces(answer):
                self.wfile.write(piece + b"\n\n")

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that is killed in the middle is part of the tests."""

    with Server(("127.0.0.1", 0), Handler) as server:
        model.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
