"""Compares a rebuilt generation with the live one."""

from dataclasses import asdict
from typing import Any

from contracts.graph import Generations, Projection
from runtime.errors import Retryable
from standalone.operations.digest import Stores, digest
from standalone.operations.retries import retry_outages

MAX_LIVE_OUTAGE = 30.0
"""Seconds for which the live generation may be silent: it is only compared with, and may be what was lost."""

Side = tuple[Generations, Stores]


async def compare(projection: Projection, workspace: str, rebuilt: Side, live: Side) -> dict[str, Any]:
    """The digests of both, and whether they are the same. Raises Unavailable for the rebuilt one only."""
    new = await retry_outages(lambda: digest(projection, workspace, *rebuilt))
    try:
        now = await retry_outages(lambda: digest(projection, workspace, *live), seconds=MAX_LIVE_OUTAGE)
    except Retryable as error:
        # The live one may be what was lost.
        return {"same": False, "rebuilt": asdict(new), "live": None, "why": str(error)}
    return {"same": new == now, "rebuilt": asdict(new), "live": asdict(now)}
