"""The log of a following region, as readers of its stores see it."""

from dataclasses import dataclass

from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import translated
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import sole_stream
from runtime.bus.port import Message

READER = "query-status"
"""The durable that shows how far the stores of a following region are; its follower moves all of
them together.
"""


@dataclass(frozen=True)
class MirroredLog(NatsLog):
    """`Log` that ends where the stores of this region are, though the mirror may have more.

    Caches take an event that says what changed as the sign that the stores have the change. Here it
    comes from another region, and the stores of this one are changed some time after it.
    """

    async def following(self, after: int, subject: str) -> Message | None:
        message = await super().following(after, subject)
        if message is None or message.sequence > await self.position():
            return None
        return message

    async def last(self, workspace: str) -> int:
        # In this order: what is applied meanwhile is seen the next time.
        position = await self.position()
        return min(position, await super().last(workspace))

    async def position(self) -> int:
        """Return the sequence up to which the stores of this region hold the log."""
        stream = await sole_stream(self.jetstream, "following another region")
        with translated():
            info = await first_answer(lambda: self.jetstream.consumer_info(stream, READER))
        return info.ack_floor.stream_seq if info.ack_floor else 0

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        """Return what is applied: what the writing region has parked is parked there, not here."""
        return await self.position()
