"""The batches of OpenAI and Anthropic on loopback, over a model that answers single requests.

The official clients of both read it in `tests/integration/test_batches.py`. A batch ends when
`finish` is called, or by itself after `delay` seconds.
"""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message as MimeMessage
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "sk-the-right-key-0123456789"
EXPIRED = "EXPIRED"
FAILED = "FAILED"
"""Words in a prompt whose line expires, and whose line is refused."""

Answer = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]
"""Answers one request: its status and its body."""


@dataclass
class Job:
    """A batch of one of both providers."""

    id: str
    lines: list[dict[str, Any]]
    created_at: float
    metadata: dict[str, str] = field(default_factory=dict[str, str])
    input_file: str = ""
    results: list[dict[str, Any]] | None = None
    errors: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass
class BatchJobs:
    """Both providers, and what they saw."""

    answer: Answer
    delay: float | None = None
    url: str = ""
    jobs: dict[str, Job] = field(default_factory=dict[str, Job])
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    removed: list[str] = field(default_factory=list[str])
    submissions: int = 0
    refusal: tuple[int, dict[str, Any]] | None = None
    """What orders for batches are answered with."""
    is_azure: bool = False
    """Whether the last request was to Azure's routes: a file is read there at the second look, and
    a batch is made of no other.
    """
    looks: Counter[str] = field(default_factory=Counter[str])
    """How often each file was looked at."""
    lost: bool = False
    """Whether an order is taken, and its connection closed without an answer."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def finish(self) -> None:
        """Let every batch end."""
        with self.lock:
            for job in self.jobs.values():
                if job.results is None:
                    self._work(job)

    def _work(self, job: Job) -> None:
        job.results = []
        for line in job.lines:
            anthropic = "params" in line
            body = line["params"] if anthropic else line["body"]
            text = json.dumps(body)
            if EXPIRED in text:
                status = 0
                result = {}
            elif FAILED in text:
                status = 400
                result = {"error": {"type": "invalid_request_error", "message": "bad"}}
            else:
                status, result = self.answer(body)
            row = (_anthropic_row if anthropic else _openai_row)(line["custom_id"], status, result)
            (job.results if anthropic or status == 200 else job.errors).append(row)

    def handle(self, method: str, target: str, headers: MimeMessage, data: bytes) -> Any:
        """Return status and JSON, or bytes; None for a connection that is closed."""
        path = re.sub("^/(v1|openai)", "", urlsplit(target).path)
        query = parse_qs(urlsplit(target).query)
        self.is_azure = target.startswith("/openai")
        if self.is_azure and "api-version" not in query:
            return 404, {"error": {"message": "Resource not found", "code": "404"}}
        key = headers.get("x-api-key") or headers.get("api-key")
        key = key or headers.get("Authorization", "").removeprefix("Bearer ")
        if key != KEY:
            return 401, {"error": {"message": "a wrong key", "code": "invalid_api_key"}}
        with self.lock:
            for job in self.jobs.values():
                is_due = self.delay is not None and time.time() - job.created_at >= self.delay
                if job.results is None and is_due:
                    self._work(job)
            if path.startswith("/messages/batches"):
                return self._anthropic(method, path.removeprefix("/messages/batches"), query, data)
            if path.startswith("/files"):
                return self._files(method, path.removeprefix("/files").strip("/"), headers, data)
            return self._openai(method, path.removeprefix("/batches").strip("/"), query, data)

    def _order(self, job: Job) -> Any:
        if self.refusal:
            return self.refusal
        self.submissions += 1
        self.jobs[job.id] = job
        return None if self.lost else (200, job)

    # OpenAI

    def _files(self, method: str, path: str, headers: MimeMessage, data: bytes) -> Any:
        if method == "POST":
            head = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
            parts = {
                str(part.get_param("name", header="content-disposition")): part
                for part in BytesParser(policy=HTTP).parsebytes(head + data).walk()
                if not part.is_multipart()
            }
            assert parts["purpose"].get_payload(decode=True) == b"batch"
            content = parts["file"].get_payload(decode=True)
            assert isinstance(content, bytes)
            id = f"file-{len(self.files)}"
            self.files[id] = str(parts["file"].get_filename()), content
            return 200, self._file(id)
        if not path:
            rows = [self._file(id) for id in reversed(self.files) if id not in self.removed]
            return 200, {"object": "list", "data": rows, "has_more": False}
        id, _, content = path.partition("/")
        if id not in self.files or id in self.removed:
            return 404, {"error": {"message": f"no such file: {id}"}}
        if method == "DELETE":
            self.removed.append(id)
            return 200, {"id": id, "object": "file", "deleted": True}
        self.looks[id] += 1
        return 200, self.files[id][1] if content else self._file(id)

    def _file(self, id: str) -> dict[str, Any]:
        name, data = self.files[id]
        is_read = not self.is_azure or self.looks[id] > 1
        return {
            "id": id,
            "object": "file",
            "bytes": len(data),
            "created_at": int(time.time()),
            "filename": name,
            "purpose": "batch",
            "status": "processed" if is_read else "pending",
        }

    def _openai(self, method: str, path: str, query: dict[str, list[str]], data: bytes) -> Any:
        if method == "POST":
            order = json.loads(data)
            route = "/chat/completions" if self.is_azure else "/v1/chat/completions"
            assert order["endpoint"] == route
            assert order["completion_window"] == "24h"
            file = order["input_file_id"]
            if self._file(file)["status"] != "processed":
                return 400, {"error": {"message": "The file is not ready", "code": "invalidFile"}}
            lines = [json.loads(line) for line in self.files[file][1].splitlines()]
            assert all(line["url"] == route for line in lines)
            id = f"batch_{len(self.jobs)}"
            job = Job(id, lines, time.time(), order.get("metadata") or {}, file)
            result = self._order(job)
            return (200, self._openai_batch(job)) if result and result[0] == 200 else result
        if not path:
            rows = [self._openai_batch(job) for job in reversed(self.jobs.values())]
            return 200, {"object": "list", **_page(rows, query, "after")}
        job = self.jobs.get(path)
        return (200, self._openai_batch(job)) if job else (404, {"error": {"message": "none"}})

    def _openai_batch(self, job: Job) -> dict[str, Any]:
        batch = {
            "id": job.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": job.input_file,
            "completion_window": "24h",
            "status": "in_progress",
            "created_at": int(job.created_at),
            "metadata": job.metadata,
            "request_counts": {"total": len(job.lines), "completed": 0, "failed": 0},
        }
        if job.results is None:
            return batch
        batch["status"] = "completed"
        counts = {"completed": len(job.results), "failed": len(job.errors)}
        batch["request_counts"] = {"total": len(job.lines), **counts}
        for name, rows in (("output", job.results), ("error", job.errors)):
            if rows:
                id = f"file-{job.id}-{name}"
                data = "".join(json.dumps(row) + "\n" for row in rows).encode()
                self.files.setdefault(id, (f"{job.id}_{name}.jsonl", data))
                batch[f"{name}_file_id"] = id
        return batch

    # Anthropic

    def _anthropic(self, method: str, path: str, query: dict[str, list[str]], data: bytes) -> Any:
        id, _, part = path.strip("/").partition("/")
        if method == "POST":
            order = json.loads(data)
            job = Job(f"msgbatch_{len(self.jobs)}", order["requests"], time.time())
            result = self._order(job)
            return (200, self._message_batch(job)) if result and result[0] == 200 else result
        if not id:
            jobs = [job for job in reversed(self.jobs.values()) if job.id not in self.removed]
            return 200, _page([self._message_batch(job) for job in jobs], query, "after_id")
        job = self.jobs.get(id)
        if job is None or id in self.removed:
            error = {"type": "not_found_error", "message": f"no such batch: {id}"}
            return 404, {"type": "error", "error": error}
        if method == "DELETE":
            self.removed.append(id)
            return 200, {"id": id, "type": "message_batch_deleted"}
        if part == "results":
            return 200, "".join(json.dumps(row) + "\n" for row in job.results or ()).encode()
        return 200, self._message_batch(job)

    def _message_batch(self, job: Job) -> dict[str, Any]:
        names = ("processing", "succeeded", "errored", "canceled", "expired")
        counts = dict.fromkeys(names, 0)
        for row in job.results or ():
            counts[row["result"]["type"]] += 1
        counts["processing"] = len(job.lines) if job.results is None else 0
        ended = job.results is not None
        return {
            "id": job.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": _time(job.created_at),
            "expires_at": _time(job.created_at + 86400),
            "ended_at": _time(job.created_at) if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/{job.id}/results" if ended else None,
        }


def _openai_row(line: str, status: int, result: dict[str, Any]) -> dict[str, Any]:
    if not status:
        error = {"code": "batch_expired", "message": "This request could not be executed in time."}
        return {"id": f"r-{line}", "custom_id": line, "response": None, "error": error}
    response = {"status_code": status, "request_id": "req_1", "body": result}
    return {"id": f"r-{line}", "custom_id": line, "response": response, "error": None}


def _anthropic_row(line: str, status: int, result: dict[str, Any]) -> dict[str, Any]:
    kinds: dict[int, dict[str, Any]] = {
        0: {"type": "expired"},
        200: {"type": "succeeded", "message": result},
    }
    error = {"type": "errored", "error": {"type": "error", **result, "request_id": "req_1"}}
    return {"custom_id": line, "result": kinds.get(status, error)}


def _page(rows: list[dict[str, Any]], query: dict[str, list[str]], after: str) -> dict[str, Any]:
    if last := query.get(after):
        rows = rows[[row["id"] for row in rows].index(last[0]) + 1 :]
    limit = int(query.get("limit", ["20"])[0])
    ids = {"first_id": rows[0]["id"], "last_id": rows[:limit][-1]["id"]} if rows else {}
    return {"data": rows[:limit], "has_more": len(rows) > limit, **ids}


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@contextmanager
def serving(jobs: BatchJobs, port: int = 0) -> Generator[BatchJobs]:
    """Serve both providers, and single requests, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self.respond()

        def do_GET(self) -> None:
            self.respond()

        def do_DELETE(self) -> None:
            self.respond()

        def respond(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = urlsplit(self.path).path
            if path.endswith(("/chat/completions", "/embeddings", "/v1/messages")):
                answer: Any = jobs.answer(json.loads(data))
            else:
                answer = jobs.handle(self.command, self.path, self.headers, data)
            if answer is None:
                self.close_connection = True
                return
            status, content = answer
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            kind = "application/x-ndjson" if isinstance(content, bytes) else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that is killed in the middle is part of the tests."""

    with Server(("127.0.0.1", port), Handler) as server:
        jobs.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        thread.start()
        try:
            yield jobs
        finally:
            server.shutdown()
            thread.join()
