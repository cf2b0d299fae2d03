"""Rebuilds as callers of the API order and watch them. A process with the operator's rights makes them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.graph import Projection
from runtime.bus.port import SharedValues
from runtime.errors import Busy
from runtime.projections import rebuild_candidate, rebuild_lease
from runtime.projections.rebuild_candidate import Candidate
from runtime.projections.rebuild_lease import RunningRebuild
from runtime.projections.rebuild_requests import RebuildOperator, RebuildOrder, RebuildOutcome, read_outcome
from services.query.errors import Conflict

Plan = Callable[[Sequence[Projection], int], Awaitable[dict[str, Any]]]
"""Returns what a rebuild of these projections, at so many events a second, would read and make."""


@dataclass(frozen=True)
class Rebuilds:
    """The rebuilds of the deployment. `values` hold lease, candidate and outcome."""

    operator: RebuildOperator
    values: SharedValues
    plan: Plan


@dataclass(frozen=True)
class RebuildState:
    """What is under way, waits for promotion, and became of the last order.

    `takes_orders`: whether a process is there that does. `interrupted`: the last order's process ended before it.
    """

    running: RunningRebuild | None
    candidate: Candidate | None
    last: RebuildOutcome | None
    takes_orders: bool
    interrupted: bool


async def read_state(rebuilds: Rebuilds) -> RebuildState:
    """Return how rebuilds stand. Raises `Unavailable`."""
    values = rebuilds.values
    # The outcome first: an order that ends meanwhile is not taken for one that was interrupted.
    last = await read_outcome(values)
    current, work, candidate = await asyncio.gather(
        rebuilds.operator.current(), rebuild_lease.running(values), rebuild_candidate.read(values)
    )
    unfinished = last is not None and last.state == "running"
    if unfinished and last and current != last.order.id:
        last = await read_outcome(values)
        unfinished = last is not None and last.state == "running" and current != last.order.id
        return RebuildState(work, candidate, last, current is not None, unfinished)
    return RebuildState(work, candidate, last, current is not None, interrupted=False)


async def order(rebuilds: Rebuilds, wanted: RebuildOrder) -> RebuildOrder:
    """Order a step, and return it once it is begun. Raises Conflict during another rebuild, `Unavailable`."""
    # `cleanup` and `promote` hold the lease as well: two at once would drop what the other fills.
    if work := await rebuild_lease.running(rebuilds.values):
        raise Conflict(f"there is a {work} under way")
    try:
        await rebuilds.operator.order(wanted)
    except Busy as error:
        raise Conflict(str(error)) from None
    return wanted
