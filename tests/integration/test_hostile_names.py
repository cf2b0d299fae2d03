"""Names that anybody published straight on the bus: what a terminal is sent has nothing in it that
acts.
"""

import asyncio
import json
import os
from datetime import UTC, datetime

import pytest
from nats.js import JetStreamContext

from contracts.envelope import wrap
from contracts.events import DocumentAdded
from contracts.ids import event_id
from publishing.documents import add_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.log import NatsLog
from runtime.errors import InvalidInput
from tests.support import commands
from tests.support.nats_server import BusServer

HOSTILE = "a.md\x1b]0;owned\x07\x1b[2J\n      9  forged line\u202e\x9b31m"
LINES = [HOSTILE, f"doc-{HOSTILE}"]


async def publish(log: NatsLog, name: str) -> None:
    event = DocumentAdded(document_id=f"doc-{name}", text="x", file_path=name)
    id = event_id(name, "DocumentAdded")
    await log.publish(
        wrap(event, id=id, source="/anybody", workspace="default", time=datetime.now(UTC))
    )


async def shown(url: str, *options: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *commands.beginning(),
        "log",
        *options,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "NATS_URL": url},
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0
    return output.decode()


async def test_the_log_on_a_terminal_is_one_harmless_line_for_each_event(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    for name in LINES:
        await publish(NatsLog(jetstream), name)
    as_text = await shown(server.url)
    as_json = await shown(server.url, "--json")
    for output in (as_text, as_json):
        assert len(output.splitlines()) == len(LINES)
        assert output.replace("\n", "").isprintable()
    assert r"\x1b[2J\n      9  forged line\u202e\x9b31m" in as_text
    assert [json.loads(line)["document"] for line in as_json.splitlines()] == [
        f"doc-{name}" for name in LINES
    ]


@pytest.mark.parametrize("name", [HOSTILE, "a\nb.md", "a\u202eb.md", "a\u2028b.md", "x" * 1025])
async def test_no_publisher_of_ours_takes_a_name_that_is_none(
    jetstream: JetStreamContext, name: str
) -> None:
    with pytest.raises(
        InvalidInput, match=r"not the name of a document|the name is too long"
    ) as refusal:
        await add_document(
            NatsLog(jetstream),
            NatsBlobs(jetstream),
            DocumentDraft.of(Submission(text="x", file_path=name)),
            workspace="w",
            source="/t",
        )
    assert (await jetstream.stream_info("KB_EVENTS")).state.messages == 0
    assert str(refusal.value).isprintable()
