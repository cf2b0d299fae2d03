"""Publish one document to Lightstream with nats-py alone: a plain dict becomes a CloudEvent in the
log.

python publish_document.py WORKSPACE DOCUMENT_ID FILE, the address of the bus with its password in
NATS_URL
"""

import asyncio
import hashlib
import hmac
import json
import os
import re
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import nats
from nats.errors import TimeoutError as NoAnswer
from nats.js import JetStreamContext
from nats.js.errors import APIError

INLINE_LIMIT = 200 * 1024
"""Bytes of UTF-8 up to which a text stands inside its event."""
PART = 512 * 1024
"""Bytes of one part of a longer text."""


def token(name: str) -> str:
    """A workspace or a document as one token of a subject: its name if that is plain, else a hash
    of it.
    """
    if re.fullmatch(r"(?!x-)[a-z0-9_-]{1,64}", name):
        return name
    return "x-" + hashlib.sha256(name.encode()).hexdigest()[:32]


async def put_blob(jetstream: JetStreamContext, workspace: str, data: bytes) -> dict[str, Any]:
    """Keep a long text in KB_BLOBS among those of the workspace, and return what the event says
    instead of the text.
    """
    digest = hashlib.sha256(data).hexdigest()
    place = f"{token(workspace)}.{digest}"
    parts = [data[start : start + PART] for start in range(0, len(data), PART)]
    for number, part in enumerate(parts):
        try:
            await jetstream.publish(f"blob.{place}.{number}", part, stream="KB_BLOBS", timeout=10)
        except APIError as error:
            if "per subject" not in (error.description or ""):
                raise
            # The part is there already, and the same: its subject is the hash of the text.
    return {"sha256": digest, "size": len(data), "parts": len(parts), "place": place}


def message_id(secret: str, subject: str, id: str) -> str:
    """The event's id as the log compares it: of all publishers nobody else can make it, and so take
    it before.
    """
    return hmac.new(secret.encode(), f"{subject}\n{id}".encode(), hashlib.sha256).hexdigest()


async def publish(jetstream: JetStreamContext, event: dict[str, Any], secret: str) -> int:
    """Append the event to the log and return its place there. Without an answer it is sent again,
    with the same id.
    """
    subject = (
        f"kb.v1.{token(event['workspace'])}.{token(event['data']['document_id'])}.DocumentAdded"
    )
    body, headers = (
        json.dumps(event).encode(),
        {"Nats-Msg-Id": message_id(secret, subject, event["id"])},
    )
    for _ in range(3):
        with suppress(NoAnswer):
            ack = await jetstream.publish(
                subject, body, stream="KB_EVENTS", timeout=10, headers=headers
            )
            return ack.seq
    raise SystemExit("the log did not answer; whether it has the event is unknown")


async def main(url: str, workspace: str, document_id: str, name: str, text: str) -> None:
    """Publish the text as a document, or as a new version of it."""
    connection = await nats.connect(url)
    try:
        jetstream = connection.jetstream()
        data = text.encode()
        content = (
            {"text": text}
            if len(data) <= INLINE_LIMIT
            else {"blob": await put_blob(jetstream, workspace, data)}
        )
        event = {
            "specversion": "1.0",
            "id": str(
                uuid4()
            ),  # one id for each change; every attempt to publish the change carries the same one
            "source": "/example/publish_document",
            "type": "lightstream.DocumentAdded.v1",
            "subject": document_id,
            "time": datetime.now(UTC).isoformat(),
            "datacontenttype": "application/json",
            "workspace": workspace,
            "data": {"document_id": document_id, "file_path": name, **content},
        }
        sequence = await publish(jetstream, event, secret=urlsplit(url).password or "")
    finally:
        await connection.close()
    sys.stdout.write(f"event {sequence} of the log\n")


if __name__ == "__main__":
    if len(sys.argv) != 4 or "NATS_URL" not in os.environ:
        sys.exit("usage: NATS_URL=… python publish_document.py WORKSPACE DOCUMENT_ID FILE")
    _, workspace_name, document, file = sys.argv
    asyncio.run(
        main(
            os.environ["NATS_URL"],
            workspace_name,
            document,
            Path(file).name,
            Path(file).read_text("utf-8"),
        )
    )
