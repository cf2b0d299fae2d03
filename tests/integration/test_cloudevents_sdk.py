"""The CloudEvents SDK, as it is, publishes over plain nats-py, and a service of ours takes its
events like our own.
"""

import asyncio
import json
import os
import re
import shlex
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cloudevents.core.bindings.http import to_binary_event, to_structured_event
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from nats.js import JetStreamContext

from contracts.events import ChunksCreated
from contracts.subjects import subject
from runtime.bus.codec import decode
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Message
from tests.support.nats_server import BusServer, until
from tests.support.services import service

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs/examples/publish_cloudevent.py"
PAGE = (ROOT / "docs/publish-events.md").read_text("utf-8")


@dataclass
class ChunkerOnBus:
    """A bus with a chunker on it."""

    server: BusServer
    jetstream: JetStreamContext

    async def publish(
        self, event: CloudEvent, headers: dict[str, str], body: bytes, document: str
    ) -> None:
        headers = {**headers, "Nats-Msg-Id": event.get_id()}
        await self.jetstream.publish(
            subject("team", document, "DocumentAdded"), body, headers=headers, timeout=10
        )

    async def newest(self, document: str, event_type: str, workspace: str = "team") -> Message:
        """The newest event of a document, waited for."""
        log = NatsLog(self.jetstream)
        result = list[Message]()

        async def there() -> bool:
            message = await log.newest(workspace, document, event_type)
            result.extend([message] if message else [])
            return bool(result)

        await until(there, f"a {event_type} of {document}", seconds=60)
        return result[0]

    async def chunked(self, document: str, workspace: str = "team") -> tuple[str, str | None]:
        """What was cut out of the document, and the id of the event that caused it."""
        message = await self.newest(document, "ChunksCreated", workspace)
        envelope = decode(message.data, message.subject, message.headers)
        assert isinstance(envelope.data, ChunksCreated)
        return " ".join(chunk.content for chunk in envelope.data.chunks), envelope.causationid

    async def dead(self) -> int:
        return (await self.jetstream.stream_info("KB_DEAD")).state.messages


@pytest.fixture
async def stand(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> AsyncIterator[ChunkerOnBus]:
    async with service("chunker", tmp_path, NATS_URL=server.url):
        yield ChunkerOnBus(server, jetstream)


def added(document: str, data: Any = None, **attributes: Any) -> CloudEvent:
    body = {
        "document_id": document,
        "file_path": f"{document}.md",
        "text": f"The register of {document}: 港口.",
    }
    required_attributes = {
        "source": "/another/system",
        "type": "lightstream.DocumentAdded.v1",
        "workspace": "team",
    }
    return CloudEvent(
        attributes={**required_attributes, **attributes}, data=data(body) if data else body
    )


EVENTS: dict[str, CloudEvent] = {
    "smallest": added("smallest"),
    "extended": added(
        "extended",
        subject="extended",
        datacontenttype="application/json; charset=utf-8",
        dataschema="https://example.com/x",
        time=datetime(2026, 3, 1, 12, tzinfo=UTC),
        partitionkey="a b/ü%",
        sequence=7,
        urgent=True,
    ),
    "bytes": added(
        "bytes",
        lambda body: json.dumps(body).encode(),
        datacontenttype="application/vnd.example+json",
    ),
}


async def test_events_of_the_sdk_are_cut_like_our_own_in_both_modes(stand: ChunkerOnBus) -> None:
    for name, event in EVENTS.items():
        for mode, write in {"structured": to_structured_event, "binary": to_binary_event}.items():
            document = f"{name}-{mode}"
            cloud_event = CloudEvent(
                {**event.get_attributes(), "id": document},
                _renamed(event.get_data(), name, document),
            )
            message = write(cloud_event)
            await stand.publish(cloud_event, message.headers, message.body, document)
            assert await stand.chunked(document) == (f"The register of {name}: 港口.", document)
    # Without any header too: the bytes alone are a whole event.
    bare_event = added("plain", id="plain-1")
    await stand.publish(bare_event, {}, JSONFormat().write(bare_event), "plain")
    assert (await stand.chunked("plain"))[1] == "plain-1"
    assert await stand.dead() == 0


def _renamed(data: Any, old_name: str, new_name: str) -> Any:
    """The same body for another document."""
    if isinstance(data, bytes):
        return data.replace(
            f'"document_id": "{old_name}"'.encode(), f'"document_id": "{new_name}"'.encode()
        )
    return {**data, "document_id": new_name}


async def test_an_event_in_binary_mode_that_is_no_event_of_ours_is_kept_with_its_headers(
    stand: ChunkerOnBus,
) -> None:
    event = CloudEvent(
        {"source": "/another", "type": "com.example.Added", "id": "strange"}, {"document_id": "d"}
    )
    message = to_binary_event(event)
    await stand.publish(event, message.headers, message.body, "d")
    await stand.newest("d", "StageFailed")
    dead = await stand.jetstream.get_msg("KB_DEAD", 1)
    headers = dead.headers or {}
    assert (dead.data, headers["ce-id"], headers["ce-type"]) == (
        message.body,
        "strange",
        "com.example.Added",
    )
    assert "workspace: Field required" in headers["Kb-Reason"]


async def test_the_lines_of_the_page_publish_documents(stand: ChunkerOnBus, tmp_path: Path) -> None:
    for name in ("report", "minutes"):
        (tmp_path / f"{name}.md").write_text(f"The {name} of the harbour.", encoding="utf-8")
    lines = re.findall(
        r"^NATS_URL=\$\(address\) python (publish_cloudevent\.py .+)$", PAGE, re.MULTILINE
    )
    assert len(lines) == 2
    for line in lines:
        arguments = shlex.split(line)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(EXAMPLE.parent / arguments[0]),
            *arguments[1:],
            cwd=tmp_path,
            env={**os.environ, "NATS_URL": stand.server.url},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await asyncio.wait_for(process.communicate(), 60)
        assert (process.returncode, output.decode()[:6]) == (0, "event "), output.decode()
    for name in ("report", "minutes"):
        assert (await stand.chunked(f"doc-{name}", "default"))[0] == f"The {name} of the harbour."
    assert await stand.dead() == 0


def test_the_page_shows_the_example_as_it_is() -> None:
    assert f"```python\n{EXAMPLE.read_text('utf-8')}```" in PAGE
