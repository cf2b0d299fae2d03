"""Tries whether streams that confirmed nothing take anything again."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError

from contracts import subjects
from contracts.topology import LOG
from runtime.bus.write_status import WriteStatus

TIMEOUT = 3.0
"""Seconds for a stream to confirm a test message."""

PROBES: dict[str, Callable[[str], str]] = {
    LOG: lambda _: subjects.PROBE,
    "KB_BLOBS": lambda id: f"blob.probe.{id}",
}
"""The subject of a test message with an id, by stream."""


@dataclass
class WriteProbe:
    """The test messages of one process."""

    jetstream: JetStreamContext
    writes: WriteStatus
    id: str = ""

    async def run(self) -> None:
        """Write a trifle to each stream that did not answer to its last write."""
        if self.writes.refusal:
            return
        for name in [name for name in self.writes.unconfirmed_writes if name in PROBES]:
            self.id = self.id or uuid4().hex
            headers = {"Nats-Msg-Id": f"probe:{name}:{self.id}"}
            try:
                await self.jetstream.publish(
                    PROBES[name](self.id), b"", stream=name, timeout=TIMEOUT, headers=headers
                )
            except APIError:
                self.writes.confirmed(name)  # a refusal is an answer
            except NatsError:
                return
            else:
                self.writes.confirmed(name)
        self.id = ""
