"""Publish one document to Lightstream with the CloudEvents SDK and nats-py, in structured or in
binary mode.

python publish_cloudevent.py WORKSPACE DOCUMENT_ID FILE structured|binary, the address of the bus in
NATS_URL
"""

import asyncio
import hashlib
import hmac
import os
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

import nats
from cloudevents.core.bindings.http import HTTPMessage, to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent

WRITERS = {"structured": to_structured_event, "binary": to_binary_event}


def token(name: str) -> str:
    """A workspace or a document as one token of a subject: its name if that is plain, else a hash
    of it.
    """
    if re.fullmatch(r"(?!x-)[a-z0-9_-]{1,64}", name):
        return name
    return "x-" + hashlib.sha256(name.encode()).hexdigest()[:32]


def written(workspace: str, document_id: str, file: Path, mode: str) -> tuple[str, HTTPMessage]:
    """The id of the event, and the event: headers and body are those of HTTP, and of NATS."""
    event = CloudEvent(
        attributes={
            "source": "/example/publish_cloudevent",
            "type": "lightstream.DocumentAdded.v1",
            "subject": document_id,
            "datacontenttype": "application/json",
            "workspace": workspace,
        },
        data={"document_id": document_id, "file_path": file.name, "text": file.read_text("utf-8")},
    )  # the SDK adds id, time and specversion
    write = WRITERS[mode]
    return event.get_id(), write(event)


def message_id(secret: str, subject: str, id: str) -> str:
    """The event's id as the log compares it: of all publishers nobody else can make it, and so take
    it before.
    """
    return hmac.new(secret.encode(), f"{subject}\n{id}".encode(), hashlib.sha256).hexdigest()


async def main(url: str, workspace: str, document_id: str, file: Path, mode: str) -> None:
    """Publish the file as a document, or as a new version of it."""
    id, message = written(workspace, document_id, file, mode)
    subject = f"kb.v1.{token(workspace)}.{token(document_id)}.DocumentAdded"
    headers = {
        **message.headers,
        "Nats-Msg-Id": message_id(urlsplit(url).password or "", subject, id),
    }
    connection = await nats.connect(url)
    try:
        # After a time-out publish the same message again: its id is how the log knows that it has
        # it.
        ack = await connection.jetstream().publish(
            subject, message.body, stream="KB_EVENTS", timeout=10, headers=headers
        )
    finally:
        await connection.close()
    sys.stdout.write(f"event {ack.seq} of the log\n")


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[4] not in WRITERS or "NATS_URL" not in os.environ:
        sys.exit(
            "usage: NATS_URL=… python publish_cloudevent.py WORKSPACE DOCUMENT_ID FILE "
            "structured|binary"
        )
    asyncio.run(
        main(os.environ["NATS_URL"], sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4])
    )
