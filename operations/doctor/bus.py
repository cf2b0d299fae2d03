"""Findings about the bus at an address."""

from collections.abc import AsyncIterator, Mapping

from nats.errors import Error as NatsError

from operations.command_bus import connect_bus
from runtime import bus_examination
from runtime.errors import ServiceError
from runtime.findings import Finding


async def examine_bus(
    url: str, way_out: str, notes: Mapping[str, str] | None
) -> AsyncIterator[Finding]:
    """Yield every finding about the bus. `notes` are those of the services' health pages, None
    where unknown.
    """
    try:
        async with connect_bus(url) as bus:
            async for finding in bus_examination.examine_bus(bus, notes):
                yield finding
    except (ServiceError, NatsError) as error:
        yield Finding("fault", f"the bus does not answer: {error}", way_out)
