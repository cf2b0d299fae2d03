"""Compares a rebuilt generation with the live one."""

from dataclasses import asdict
from typing import Any

from contracts.graph import Generations, Projection
from operations.digest import Stores, digest
from operations.retries import retry_outages
from runtime.errors import Retryable
from runtime.stores.documents import schema

MAX_LIVE_OUTAGE = 30.0
"""Seconds for which the live generation may be silent: it is only compared with, and may be what
was lost.
"""

INCOMPLETE = "the live one has been incomplete since an upgrade or a loss"

Side = tuple[Generations, Stores]


async def compare(
    projection: Projection, workspace: str, rebuilt: Side, live: Side
) -> dict[str, Any]:
    """The digests of both, and whether they are the same. Raises Unavailable for the rebuilt one
    only.
    """
    new_digest = await retry_outages(lambda: digest(projection, workspace, *rebuilt))
    generations, stores = live
    try:
        record = await retry_outages(lambda: schema.read(stores.rows), seconds=MAX_LIVE_OUTAGE)
        if record.is_owed(projection, generations.of(projection)):
            # Perhaps it cannot even be read: its properties may be of an older schema.
            return {"same": False, "rebuilt": asdict(new_digest), "live": None, "why": INCOMPLETE}
        now = await retry_outages(
            lambda: digest(projection, workspace, *live), seconds=MAX_LIVE_OUTAGE
        )
    except Retryable as error:
        # The live one may be what was lost.
        return {"same": False, "rebuilt": asdict(new_digest), "live": None, "why": str(error)}
    return {"same": new_digest == now, "rebuilt": asdict(new_digest), "live": asdict(now)}
