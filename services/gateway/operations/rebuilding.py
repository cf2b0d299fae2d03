"""Rebuilds, audits, backups and branches, ordered and watched over the API. A process with the
operator's rights makes them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.graph import Projection
from runtime.bus.port import SharedValues
from runtime.errors import Busy, InvalidInput
from runtime.projections import rebuild_candidate, rebuild_lease
from runtime.projections.operator_orders import (
    OperatorOrder,
    OperatorProcess,
    OrderOutcome,
    Task,
    read_outcome,
)
from runtime.projections.rebuild_candidate import Candidate
from runtime.projections.rebuild_lease import RunningRebuild
from services.query.errors import Conflict

Plan = Callable[[Sequence[Projection], int], Awaitable[dict[str, Any]]]
"""Returns what a rebuild of these projections, at so many events a second, would read and make."""


@dataclass(frozen=True)
class Rebuilds:
    """The rebuilds of the deployment. `values` hold lease, candidate and outcomes."""

    operator: OperatorProcess
    values: SharedValues
    plan: Plan


@dataclass(frozen=True)
class RebuildState:
    """What is under way, waits for promotion, and became of the last order.

    `takes_orders`: whether a process is there that does. `is_interrupted`: the last order's process
    ended before it.
    """

    running: RunningRebuild | None
    candidate: Candidate | None
    last_outcome: OrderOutcome | None
    takes_orders: bool
    is_interrupted: bool


async def read_state(rebuilds: Rebuilds) -> RebuildState:
    """Return how rebuilds stand. Raises `Unavailable`."""
    values = rebuilds.values
    # The outcome first: an order that ends meanwhile is not taken for one that was interrupted.
    last_outcome = await read_outcome(values)
    current_order, work, candidate = await asyncio.gather(
        rebuilds.operator.current(), rebuild_lease.running(values), rebuild_candidate.read(values)
    )
    is_unfinished = last_outcome is not None and last_outcome.state == "running"
    if is_unfinished and last_outcome and current_order != last_outcome.order.id:
        last_outcome = await read_outcome(values)
        is_unfinished = (
            last_outcome is not None
            and last_outcome.state == "running"
            and current_order != last_outcome.order.id
        )
        return RebuildState(work, candidate, last_outcome, current_order is not None, is_unfinished)
    return RebuildState(
        work, candidate, last_outcome, current_order is not None, is_interrupted=False
    )


@dataclass(frozen=True)
class TaskState:
    """What became of the last audit, backup, digests or branch that were ordered. The fields are
    those of `RebuildState`.
    """

    last_outcome: OrderOutcome | None
    takes_orders: bool
    is_interrupted: bool


async def read_task(rebuilds: Rebuilds, task: Task, workspace: str = "") -> TaskState:
    """Return how an audit, a backup, digests or the branches of a workspace stand. Raises
    `Unavailable`.
    """
    current_order = await rebuilds.operator.current()
    # The outcome last: one that was under way a moment ago may have ended since, and says so.
    last_outcome = await read_outcome(rebuilds.values, task, workspace)
    is_interrupted = (
        last_outcome is not None
        and last_outcome.state == "running"
        and current_order != last_outcome.order.id
    )
    return TaskState(last_outcome, current_order is not None, is_interrupted)


async def order(rebuilds: Rebuilds, operator_order: OperatorOrder) -> None:
    """Order a step of a rebuild, an audit, a backup, digests or a branch, and return once it is
    begun.

    Raises Conflict during another order, and for a step during a rebuild, which the others do not
    mind; `Unavailable`.
    """
    # `cleanup` and `promote` hold the lease as well: two at once would drop what the other fills.
    has_lease = operator_order.task == "rebuild" or operator_order.step == "embedding-set"
    if has_lease and (work := await rebuild_lease.running(rebuilds.values)):
        raise Conflict(f"there is a {work} under way")
    try:
        await rebuilds.operator.order(operator_order)
    except (Busy, InvalidInput) as error:
        raise Conflict(str(error)) from None
