"""The log of a following region, as readers of its stores see it."""

from collections.abc import Sequence
from dataclasses import dataclass

from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import translated
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Message

READER = "query-status"
"""The durable that shows how far the stores of a following region are; its follower moves all of
them together.
"""


@dataclass(frozen=True)
class MirroredLog(NatsLog):
    """`Log` that ends, in each partition, where the stores of this region are, though the mirror
    may have more.

    Caches take an event that says what changed as the sign that the stores have the change. Here it
    comes from another region, and the stores of this one are changed some time after it.
    """

    async def last(self, workspace: str) -> int:
        # In this order: what is applied meanwhile is seen the next time.
        applied = await self.handled(workspace=workspace)
        return min(applied, await super().last(workspace))

    async def _following_in(self, stream: str, after: int, subject: str) -> Message | None:
        message = await super()._following_in(stream, after, subject)
        if message is None or message.sequence > await self._handled_in(stream, (), None):
            return None
        return message

    async def _handled_in(
        self, stream: str, durables: Sequence[str], workspace: str | None, end: int = 0
    ) -> int:
        """Return up to which sequence of a stream the stores of this region hold the log: what the
        writing region has parked is parked there, not here.
        """
        with translated():
            info = await first_answer(lambda: self.jetstream.consumer_info(stream, READER))
        return info.ack_floor.stream_seq if info.ack_floor else 0
