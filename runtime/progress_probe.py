"""Whether a durable answers and its messages are handled, for the health pages."""

import asyncio

from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from runtime.bus.nats.consumers import read_consumers
from runtime.bus.processor import EventProcessor
from runtime.errors import Unavailable
from runtime.health import Probe, Progress


def progress_probe(jetstream: JetStreamContext, processor: EventProcessor) -> Probe:
    """Return a probe that compares the durable from one call to the next."""
    progress = Progress(processor.activity, public=processor.stage == "query")

    async def probe() -> str | None:
        try:
            async with asyncio.timeout(1.0):
                (state,) = await read_consumers(jetstream, [processor.durable])
        except (NatsError, Unavailable, TimeoutError) as error:
            return f"durable does not answer: {type(error).__name__}"
        return progress.stalled(
            handled_count=processor.handled_count,
            waiting=state.pending,
            busy=processor.busy,
        )

    return probe
