"""Compares a rebuilt generation with the live one."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
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


@dataclass
class ComparedRows:
    """How many rows of both sides were read for comparisons, reported with each page: millions take
    minutes.
    """

    report: Callable[[dict[str, Any]], None]
    count: int = 0

    def add(self, rows: int) -> None:
        """Report that so many rows more were read."""
        self.count += rows
        self.report({"rows compared": self.count})

    def finish(self) -> None:
        """Report that these were all."""
        self.report({"rows compared": self.count, "of": self.count})


async def compare(
    projection: Projection, workspace: str, rebuilt: Side, live: Side, rows: ComparedRows
) -> dict[str, Any]:
    """The digests of both, and whether they are the same. Raises Unavailable for the rebuilt one
    only.
    """
    new_digest = await retry_outages(
        lambda: digest(projection, workspace, *rebuilt, on_rows=rows.add)
    )
    generations, stores = live
    try:
        record = await retry_outages(lambda: schema.read(stores.rows), seconds=MAX_LIVE_OUTAGE)
        if record.is_owed(projection, generations.of(projection)):
            # Perhaps it cannot even be read: its properties may be of an older schema.
            return {"same": False, "rebuilt": asdict(new_digest), "live": None, "why": INCOMPLETE}
        now = await retry_outages(
            lambda: digest(projection, workspace, *live, on_rows=rows.add),
            seconds=MAX_LIVE_OUTAGE,
        )
    except Retryable as error:
        # The live one may be what was lost.
        return {"same": False, "rebuilt": asdict(new_digest), "live": None, "why": str(error)}
    return {"same": new_digest == now, "rebuilt": asdict(new_digest), "live": asdict(now)}


async def compare_all(
    projections: Sequence[Projection], workspace: str, rebuilt: Side, live: Side, rows: ComparedRows
) -> dict[Projection, dict[str, Any]]:
    """Return what `compare` does, of each of these projections: they are compared at the same
    time.
    """
    comparisons = await asyncio.gather(
        *(compare(name, workspace, rebuilt, live, rows) for name in projections)
    )
    rows.finish()
    return dict(zip(projections, comparisons, strict=True))
