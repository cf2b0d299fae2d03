"""Messages put into the log as they are, without our publisher; and the dead letters that came of
them.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError

from contracts.subjects import of_document, subject
from runtime.bus.codec import decode
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from runtime.errors import NewerVersion, Poison
from tests.support.stack import Stack


@dataclass(frozen=True)
class DeadLetter:
    """A message of KB_DEAD."""

    durable: str
    reason: str
    subject: str
    sequence: int
    """Where it stands in the log."""
    data: bytes


def added(document: str, workspace: str = "default", **attributes: Any) -> dict[str, Any]:
    """A good DocumentAdded as another system writes it; `attributes` replace those of the envelope,
    None removes.
    """
    event = {
        "specversion": "1.0",
        "id": str(uuid4()),
        "source": "/another/system",
        "type": "lightstream.DocumentAdded.v1",
        "subject": document,
        "workspace": workspace,
        "data": {
            "document_id": document,
            "file_path": f"{document}.txt",
            "text": f"Ada Marlow wrote {document}.",
        },
        **attributes,
    }
    return {name: value for name, value in event.items() if value is not None}


def publish(stack: Stack, messages: Sequence[tuple[str, bytes]]) -> list[int]:
    """Append (subject, bytes) to the log, in order; gives their places in the log."""

    async def send() -> list[int]:
        async with connected(stack.settings.nats_url, name="test") as client:
            jetstream = client.jetstream()
            return [
                (await jetstream.publish(subject, data, timeout=10)).seq
                for subject, data in messages
            ]

    return asyncio.run(send())


def publish_added(
    stack: Stack, event: dict[str, Any], document: str, workspace: str = "default"
) -> int:
    """Append the event to the history of `document`, whatever it says itself."""
    return publish(
        stack, [(subject(workspace, document, "DocumentAdded"), json.dumps(event).encode())]
    )[0]


def dead_letters(stack: Stack) -> list[DeadLetter]:
    """All of KB_DEAD."""

    async def read() -> list[DeadLetter]:
        async with connected(stack.settings.nats_url, name="test") as client:
            jetstream = client.jetstream()
            result: list[RawStreamMsg] = []
            with suppress(NotFoundError):
                while True:
                    after = result[-1].seq or 0 if result else 0
                    result.append(
                        await jetstream.get_msg(
                            "KB_DEAD", seq=after + 1, subject="dead.>", next=True
                        )
                    )
        letters: list[DeadLetter] = []
        for message in result:
            headers = message.headers or {}
            letters.append(
                DeadLetter(
                    headers["Kb-Durable"],
                    headers["Kb-Reason"],
                    headers["Kb-Subject"],
                    int(headers["Kb-Sequence"]),
                    message.data or b"",
                )
            )
        return letters

    return asyncio.run(read())


def history(stack: Stack, document: str, workspace: str = "default") -> list[dict[str, Any]]:
    """The readable events of one document: type, attributes and data, in the log's order."""

    async def read() -> list[dict[str, Any]]:
        async with connected(stack.settings.nats_url, name="test") as client:
            pages = NatsLog(client.jetstream()).read(0, [of_document(workspace, document)])
            return [
                _shown(message.data, message.subject) async for page in pages for message in page
            ]

    return [event for event in asyncio.run(read()) if event]


def _shown(data: bytes, subject: str) -> dict[str, Any]:
    try:
        envelope = decode(data, subject)
    except (Poison, NewerVersion):
        return {}
    return {
        **envelope.model_dump(exclude={"data"}),
        "name": envelope.data.type_name(),
        "data": envelope.data,
    }
