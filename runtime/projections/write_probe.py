"""Tries whether streams that confirmed nothing take anything again."""

from dataclasses import dataclass
from uuid import uuid4

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError

from contracts import subjects
from contracts.partitions import is_log, partition_in
from runtime.bus.write_status import WriteStatus

TIMEOUT = 3.0
"""Seconds for a stream to confirm a test message."""


def probe_subject(stream: str, id: str) -> str | None:
    """Return the subject of a test message with an id; None for a stream that is not tested."""
    if is_log(stream):
        return subjects.probe(partition_in(stream))
    return f"blob.probe.{id}" if stream == "KB_BLOBS" else None


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
        for name in list(self.writes.unconfirmed_writes):
            self.id = self.id or uuid4().hex
            subject = probe_subject(name, self.id)
            if subject is None:
                continue
            headers = {"Nats-Msg-Id": f"probe:{name}:{self.id}"}
            try:
                await self.jetstream.publish(
                    subject, b"", stream=name, timeout=TIMEOUT, headers=headers
                )
            except APIError:
                self.writes.confirmed(name)  # a refusal is an answer
            except NatsError:
                return
            else:
                self.writes.confirmed(name)
        self.id = ""
