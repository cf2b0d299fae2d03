"""Requests that a rebuild be made by whoever may: the query service asks, a process with the operator's rights does it.

A request is a message that an operator process answers at once, or nobody does: then there is none. What becomes of it
stands on the bus, as the outcome of the last request; how far it is, the lease of the rebuild says.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol
from uuid import uuid4

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from contracts import subjects
from contracts.graph import Projection
from runtime.bus.port import SharedValues
from runtime.errors import Busy, Unavailable

KEY = "rebuild_outcome"
"""In the bucket of checkpoints."""

TIMEOUT = 5.0
"""Seconds for an operator process to answer."""

Step = Literal["run", "start", "promote", "rollback", "cleanup"]


@dataclass(frozen=True)
class RebuildOrder:
    """A step that is asked for. `who` asks, and why; the rest is as `lightstream rebuild` has it."""

    step: Step
    projection: Projection | Literal["all"]
    who: str
    reason: str = ""
    events_per_second: int = 0
    embedding_model: str = ""
    embedding_dim: int = 0
    id: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True)
class RebuildOutcome:
    """What became of the last order. Times are ISO 8601 in UTC; `result` is what the command says."""

    order: RebuildOrder
    state: Literal["running", "done", "failed"]
    started: str
    ended: str = ""
    error: str = ""
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])


class RebuildOperator(Protocol):
    """Whoever takes orders."""

    async def current(self) -> str | None:
        """Return the id of the order that is worked on, "" for none; None where nobody takes orders."""
        ...

    async def order(self, order: RebuildOrder) -> None:
        """Have it begun. Raises `Busy` during another, `Unavailable` where nobody takes orders."""
        ...


@dataclass(frozen=True)
class NatsRebuildOperator:
    """`RebuildOperator` behind the bus."""

    client: Client

    async def current(self) -> str | None:
        try:
            answer = await self.client.request(subjects.REBUILDS, b"", timeout=TIMEOUT)
        except (NatsError, TimeoutError):
            return None
        return json.loads(answer.data).get("current", "")

    async def order(self, order: RebuildOrder) -> None:
        try:
            answer = await self.client.request(subjects.REBUILDS, json.dumps(asdict(order)).encode(), timeout=TIMEOUT)
        except NoRespondersError:
            raise Unavailable(
                "no operator process takes orders: start one (`lightstream operator`), or use `lightstream rebuild`"
            ) from None
        except (NatsError, TimeoutError) as error:
            raise Unavailable(f"the operator process does not answer: {type(error).__name__}") from None
        if busy := json.loads(answer.data).get("busy"):
            raise Busy(f"another step is under way: {busy}")


async def read_outcome(values: SharedValues) -> RebuildOutcome | None:
    """Return what became of the last order. Raises `Unavailable`."""
    value, _ = await values.read(KEY)
    if not value:
        return None
    found: dict[str, Any] = json.loads(value)
    return RebuildOutcome(RebuildOrder(**found.pop("order")), **found)


async def write_outcome(values: SharedValues, outcome: RebuildOutcome) -> None:
    """Note it in place of the one before. Raises `Unavailable`."""
    _, revision = await values.read(KEY)
    await values.write(KEY, json.dumps(asdict(outcome)).encode(), revision)
