"""Counts parked events where they are additional information."""

import asyncio

from nats.errors import Error as NatsError

from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.parking.counts import ParkedCount, count_parked
from runtime.errors import ServiceError
from standalone.operations.publishing import connect_bus

TIMEOUT = 5.0
"""Seconds for the bus to answer."""


async def count_parked_or_none(url: str, workspace: str) -> list[ParkedCount]:
    """Count those of the workspace; return none where the bus does not answer soon."""
    try:
        async with asyncio.timeout(TIMEOUT), connect_bus(url) as bus:
            return await count_parked(NatsParkedEvents(bus), workspace)
    except (ServiceError, NatsError, TimeoutError):
        return []
