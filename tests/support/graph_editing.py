"""A merger at work on the edits of a harness."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from contracts.envelope import Envelope
from contracts.topology import declared_consumer
from runtime.bus.codec import decode
from runtime.bus.port import Delivery
from services.merger.handler import on_graph_edited
from tests.support.merging import merge_dependencies
from tests.support.querying import LIVE, QueryHarness


@asynccontextmanager
async def merger(harness: QueryHarness) -> AsyncIterator[None]:
    """The merger takes edits as they come."""
    consumer = harness.consumer(declared_consumer("merger-edits"))

    async def work() -> None:
        while True:
            for message in consumer.fetch(64):
                envelope: Envelope[Any] = decode(message.data, message.subject)
                # Documents of the world stand at places up to a few thousand; edits come after
                # them.
                delivery = Delivery(envelope, message.sequence + 10_000, 1, message.published_at)
                await on_graph_edited(
                    [delivery], LIVE, dependencies=merge_dependencies(harness.rows, harness.graph)
                )
            await asyncio.sleep(0.005)

    task = asyncio.create_task(work())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
