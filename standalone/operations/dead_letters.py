"""Counts dead letters: a message that several consumers have dead-lettered counts once."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from runtime.bus.nats.log import translated

STREAM = "KB_DEAD"
MAX_LETTERS = 10_000
"""Dead letters that are read, the latest ones; older ones are not counted."""

PAGE = 500


@dataclass(frozen=True)
class DeadLetters:
    """The number of dead-lettered messages of the log, and the last of them."""

    count: int
    last_at: datetime | None = None
    reason: str = ""


async def count_dead_letters(jetstream: JetStreamContext) -> DeadLetters:
    """Count the dead letters of the stream. Raises Unavailable."""
    places: set[str] = set()
    last_at, reason = None, ""
    async for place, at, why in _letters(jetstream):
        places.add(place)
        last_at, reason = at, why
    return DeadLetters(len(places), last_at, reason)


async def _letters(jetstream: JetStreamContext) -> AsyncGenerator[tuple[str, datetime, str]]:
    """Yield for each dead letter its sequence in the log, its time and its reason, from the headers."""
    with translated():
        state = (await jetstream.stream_info(STREAM)).state
        if not state.messages:
            return
        config = ConsumerConfig(
            name=f"count-{uuid4().hex}",
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=max(1, state.last_seq - MAX_LETTERS + 1),
            ack_policy=AckPolicy.NONE,
            headers_only=True,
            inactive_threshold=30.0,
            mem_storage=True,
        )
        info = await jetstream.add_consumer(STREAM, config)
        reader = await jetstream.pull_subscribe_bind(consumer=info.name, stream=STREAM)
        try:
            left = info.num_pending or 0
            while left > 0:
                messages = await reader.fetch(min(PAGE, left), timeout=5)
                left -= len(messages)
                for message in messages:
                    headers, metadata = message.headers or {}, message.metadata
                    place = headers.get("Kb-Sequence") or f"letter {metadata.sequence.stream}"
                    yield place, metadata.timestamp, headers.get("Kb-Reason", "")
        finally:
            await reader.unsubscribe()
            await jetstream.delete_consumer(STREAM, info.name)
