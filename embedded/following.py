"""What a stack does differently that follows another region: its bus has mirrors, and one process
keeps its stores up to date.
"""

import asyncio
import sys
import time
from pathlib import Path

from nats.js import JetStreamContext

from embedded.data_folder import StackState
from embedded.processes import Process
from embedded.region import RegionLink
from runtime.bus import topology
from runtime.bus.mirrors import make_mirrors
from runtime.bus.nats.log_streams import has_log
from runtime.bus.nats.region import WritingRegion, read_writing_region
from runtime.errors import ConfigurationError, Unavailable

LINK_SECONDS = 30.0
"""Seconds in which the link of a new following region must be there."""


async def prepare_bus(jetstream: JetStreamContext, state: StackState) -> list[str]:
    """Make streams and consumers, or mirrors of the followed region's, and return a line for each
    change. Raises ConfigurationError where that region does not answer a new follower.
    """
    link = RegionLink.of(state)
    if not link.writer or await _is_promoted(jetstream):
        return await topology.apply(jetstream, partitions=state.partitions)
    region = WritingRegion(link.writer_name, link.writer_api)
    end = time.monotonic() + LINK_SECONDS
    while True:
        try:
            return await make_mirrors(jetstream, region, partitions=state.partitions)
        except Unavailable as error:
            if time.monotonic() > end:
                raise ConfigurationError(str(error)) from None
            await asyncio.sleep(0.5)


async def _is_promoted(jetstream: JetStreamContext) -> bool:
    """Return whether the bus has a log that is no mirror any more."""
    return await has_log(jetstream) and await read_writing_region(jetstream) is None


def follower_process(folder: Path, region: WritingRegion) -> Process:
    """Return the process that keeps the stores of a following region up to date, not started."""
    words = ["region", "follow", region.name, "--api", region.api, "--data", str(folder)]

    async def probe() -> None:
        """Count it as ready at once: it begins when the whole stack is."""

    argv = [sys.executable, "-m", "cli", *words]
    return Process("follower", argv, folder / "services", probe)
