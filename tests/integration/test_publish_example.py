"""The example for other systems does what its page says: it runs, its events are ours, and the page
shows this file.
"""

import ast
import asyncio
import hashlib
import hmac
import os
import sys
from pathlib import Path

from nats.js import JetStreamContext

from contracts.events import DocumentAdded
from runtime.bus.codec import decode
from runtime.bus.nats.blobs import NatsBlobs
from tests.support.nats_server import BusServer

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs/examples/publish_document.py"
PAGE = ROOT / "docs/publish-events.md"


async def run_example(folder: Path, bus: str, *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLE),
        *arguments,
        cwd=folder,
        env={**os.environ, "NATS_URL": bus},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, output.decode()
    return output.decode()


async def test_the_example_publishes_an_event_that_we_read(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    file = tmp_path / "harbour.md"
    file.write_text("The Harbour Office keeps the register of ships: 港口.", encoding="utf-8")
    output = await run_example(tmp_path, server.url, "team", "doc-harbour", str(file))
    message = await jetstream.get_msg("KB_EVENTS", 1)
    assert output == "event 1 of the log\n"
    assert message.subject == "kb.v1.team.doc-harbour.DocumentAdded"
    envelope = decode(message.data or b"", message.subject)
    assert isinstance(envelope.data, DocumentAdded)
    assert (envelope.workspace, envelope.data.document_id) == ("team", "doc-harbour")
    assert (envelope.data.file_path, envelope.data.text) == ("harbour.md", file.read_text("utf-8"))
    assert envelope.time is not None
    secret_id = hmac.new(
        b"tests", f"{message.subject}\n{envelope.id}".encode(), hashlib.sha256
    ).hexdigest()
    assert (message.headers or {})["Nats-Msg-Id"] == secret_id


async def test_a_long_text_and_odd_names_survive_the_way_into_the_log_twice(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    file = tmp_path / "long.md"
    file.write_text("A long text, which stands beside the log. " * 30_000, encoding="utf-8")
    for _ in range(2):  # the second time every part of the text is there already
        output = await run_example(tmp_path, server.url, "Team.A", "Reports/港口 2026", str(file))
    message = await jetstream.get_msg("KB_EVENTS", 2)
    event = decode(message.data or b"", message.subject or "").data
    assert isinstance(event, DocumentAdded)
    assert event.blob is not None
    text = await NatsBlobs(jetstream).get(event.blob)
    assert output == "event 2 of the log\n"
    assert (event.document_id, event.text, event.blob.parts) == ("Reports/港口 2026", None, 3)
    assert text == file.read_text("utf-8")


def test_the_page_shows_the_example_as_it_is() -> None:
    code = PAGE.read_text("utf-8").split("```python\n", 1)[1].split("```", 1)[0]
    assert code == EXAMPLE.read_text("utf-8")


def test_the_example_needs_nothing_but_nats_py() -> None:
    nodes = list(ast.walk(ast.parse(EXAMPLE.read_text("utf-8"))))
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    assert {name.split(".")[0] for name in names} - sys.stdlib_module_names == {"nats"}
