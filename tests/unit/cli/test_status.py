"""`lightstream status` where the query service has faults of its own."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from stamina.instrumentation import get_on_retry_hooks, set_on_retry_hooks
from typer.testing import CliRunner

from cli.main import app

COUNTS = {"status_counts": {"all": 3, "processed": 3}}


class QueryService(ThreadingHTTPServer):
    """Answers each path with the next status and body that were given for it, and with the last of
    them again.
    """

    def __init__(self, answers: dict[str, list[tuple[int, object]]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers

    def next(self, path: str) -> tuple[int, object]:
        answers = self.answers[path]
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Handler(BaseHTTPRequestHandler):
    server: QueryService

    def do_GET(self) -> None:
        status, body = self.server.next(self.path.partition("?")[0])
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[QueryService]:
    hooks = get_on_retry_hooks()
    with QueryService(
        {"/documents/status_counts": [(200, COUNTS)], "/operations/parked": [(200, {"parked": []})]}
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("NATS_URL", "nats://127.0.0.1:1")
        monkeypatch.setenv("LIGHTSTREAM_API_URL", f"http://127.0.0.1:{server.server_port}")
        yield server
        server.shutdown()
        thread.join()
    set_on_retry_hooks(hooks)


def test_the_counts_are_shown_where_parked_events_are_not_known(service: QueryService) -> None:
    service.answers["/operations/parked"] = [(404, {"detail": "Not Found"})]
    result = CliRunner().invoke(app, ["status"])
    assert result.exit_code == 0
    assert "3 documents in workspace default" in result.stdout
    assert "which events are parked is not known" in result.stderr


def test_a_service_that_is_away_is_waited_for_in_a_plain_line(service: QueryService) -> None:
    service.answers["/documents/status_counts"].insert(
        0, (503, {"detail": "the bus does not answer"})
    )
    result = CliRunner().invoke(app, ["status"])
    assert result.exit_code == 0
    assert "3 documents in workspace default" in result.stdout
    (line,) = result.stderr.splitlines()
    assert line.startswith("waits 1 s: ") and "the bus does not answer" in line
