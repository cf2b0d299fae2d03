"""A sender of webhooks over stores in memory, with a receiver that notes what comes."""

import json
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from typing import Any

from contracts.events import Event
from runtime.bus.feed.memory import MemoryEventFeed
from runtime.bus.memory import MemoryLog, MemorySharedValues
from services.gateway.egress import Target
from services.gateway.webhooks.delivery import Webhooks
from services.gateway.webhooks.endpoints import Endpoint, Endpoints, EndpointState
from services.gateway.webhooks.notifications import Notifier
from services.gateway.webhooks.sender import (
    Lease,
    WebhookSender,
)
from services.gateway.webhooks.signing import new_secret
from tests.support.events import sealed
from tests.support.querying import QueryHarness

HERE = [ip_network("127.0.0.0/8")]


CANARY = "canary-9f31c7e2a4"


class HandledLog(MemoryLog):
    """A log all of which the status projection has handled."""

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        return len(self.messages)


@dataclass
class Receiver:
    """`Poster`: answers with these statuses, the last of them for ever."""

    statuses: list[int] = field(default_factory=lambda: [200])
    got: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list[Any])
    bodies: dict[str, bytes] = field(default_factory=dict[str, bytes])

    async def post(self, target: Target, headers: dict[str, str], body: bytes) -> int:
        self.got.append((headers, json.loads(body)))
        self.bodies[headers["webhook-id"]] = body
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if not status:
            raise ConnectionError
        return status

    @property
    def types(self) -> list[str]:
        return [body["type"] for _, body in self.got]


@dataclass
class Bench:
    """A sender over everything in memory, and one endpoint of the workspace w."""

    harness: QueryHarness
    receiver: Receiver = field(default_factory=Receiver)
    id: str = ""

    def __post_init__(self) -> None:
        self.endpoints = Endpoints(MemorySharedValues())
        self.webhooks = Webhooks(self.endpoints, self.receiver, HERE)
        self.sender = self.another()

    def another(self) -> WebhookSender:
        """The sender of another process."""
        notifier = Notifier(self.harness.log, self.harness.pointers, self.harness.documents)
        return WebhookSender(self.webhooks, MemoryEventFeed(self.harness.log), notifier)

    async def registered(self, *types: str, **fields: Any) -> None:
        draft = Endpoint("", "w", "http://127.0.0.1:9/hook", types, new_secret(), **fields)
        self.id = (await self.endpoints.add(draft, 0)).id

    async def logged(self, *events: Event, workspace: str = "w") -> None:
        for event in events:
            number = len(self.harness.log.messages)
            await self.harness.log.publish(sealed(event, id=f"e{number}", workspace=workspace))

    async def step(self) -> bool:
        return await self.sender.step(self.id, Lease(self.endpoints, self.id, self.sender.holder))

    async def state(self) -> EndpointState:
        record = await self.endpoints.state(self.id)
        assert record
        return record.state

    async def due(self) -> None:
        """Let the time of the next attempt be come."""
        record = await self.endpoints.state(self.id)
        assert record
        assert await self.endpoints.write_state(
            self.id, replace(record.state, next_attempt=0.0), record.revision
        )
