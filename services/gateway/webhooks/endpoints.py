"""Webhook endpoints and how far each is, in a bucket of the bus.

The bucket is no part of the log: a secret in the log could never be taken back. Configuration and
state have a key each, because the sender writes one and people write the other.
"""

import asyncio
import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from runtime.bus.port import SharedValues
from runtime.errors import NotFound
from services.gateway.webhooks.stored_values import replace_value
from services.query.errors import Conflict

MAX_ENDPOINTS = 20
"""Endpoints of one workspace."""

NOTICES = ("document.processed", "document.partial", "document.failed", "document.deleted")
"""What a document has come to, told once: the types that are sent when none are chosen."""


def timestamp() -> str:
    """Return the time as ISO 8601."""
    return datetime.now(UTC).isoformat()


@dataclass(frozen=True)
class Endpoint:
    """Where events of a workspace are sent. `types`: of events, or NOTICES."""

    id: str
    workspace: str
    url: str
    types: tuple[str, ...]
    secret: str
    description: str = ""
    with_body: bool = False
    created_at: str = ""
    created_by: str = ""
    former_secret: str = ""
    former_until: float = 0.0
    """Unix seconds until which messages are signed with the former secret too."""

    def secrets(self, now: float) -> list[str]:
        """Return the secrets that messages are signed with at that Unix time, the newest first."""
        return [
            self.secret,
            *([self.former_secret] if self.former_secret and now < self.former_until else []),
        ]


@dataclass(frozen=True)
class EndpointState:
    """How far an endpoint is: everything up to `cursor` was delivered or was not asked for."""

    cursor: int
    disabled: bool = False
    failures: int = 0
    """Attempts in a row that failed."""
    failing_since: float = 0.0
    """Unix seconds of the first of them."""
    next_attempt: float = 0.0
    """Unix seconds before which nothing is sent."""
    last_error: str = ""
    last_success: str = ""

    def enabled(self) -> "EndpointState":
        """Return the same, to be tried at once."""
        return EndpointState(
            self.cursor, last_error=self.last_error, last_success=self.last_success
        )


@dataclass(frozen=True)
class StoredState:
    """A state with the revision that replaces it."""

    state: EndpointState
    revision: int


@dataclass(frozen=True)
class Endpoints:
    """The endpoints of all workspaces. Every method raises `Unavailable`."""

    values: SharedValues
    addition: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when one was added here."""

    async def all(self, workspace: str | None = None) -> list[Endpoint]:
        """Return the endpoints of a workspace, or of all, oldest first."""
        keys = [key for key in await self.values.keys() if key.startswith("config.")]
        endpoints = [endpoint for key in keys if (endpoint := await self._endpoint(key))]
        mine = [endpoint for endpoint in endpoints if workspace in (None, endpoint.workspace)]
        return sorted(mine, key=lambda endpoint: (endpoint.created_at, endpoint.id))

    async def get(self, id: str, workspace: str | None = None) -> Endpoint:
        """Return one. Raises NotFound, also for one of another workspace."""
        endpoint = await self._endpoint(f"config.{id}")
        if endpoint is None or workspace not in (None, endpoint.workspace):
            raise no_webhook(id)
        return endpoint

    async def add(self, endpoint: Endpoint, cursor: int) -> Endpoint:
        """Store a new one, which gets its id here, to be sent what comes behind `cursor`. Raises
        Conflict.
        """
        if len(await self.all(endpoint.workspace)) >= MAX_ENDPOINTS:
            raise Conflict(f"a workspace has at most {MAX_ENDPOINTS} webhooks")
        new_endpoint = replace(endpoint, id=uuid4().hex[:16], created_at=timestamp())
        await self._put(f"state.{new_endpoint.id}", asdict(EndpointState(cursor)))
        await self._put(f"config.{new_endpoint.id}", _fields(new_endpoint))
        self.addition.set()
        return new_endpoint

    async def rotate(self, id: str, secret: str, former_until: float) -> Endpoint:
        """Give it a new secret; the one it had is valid until that Unix time, those before no more.
        Raises NotFound.
        """
        while True:
            value, revision = await self.values.read(f"config.{id}")
            if not value:
                raise no_webhook(id)
            before = _endpoint(value)
            new_endpoint = replace(
                before, secret=secret, former_secret=before.secret, former_until=former_until
            )
            if await self.values.write(f"config.{id}", _encoded(_fields(new_endpoint)), revision):
                return new_endpoint

    async def adopt(self, id: str, principal: str) -> Endpoint:
        """Let it depend on the credentials of this principal from now on. Raises NotFound."""
        while True:
            value, revision = await self.values.read(f"config.{id}")
            if not value:
                raise no_webhook(id)
            new_endpoint = replace(_endpoint(value), created_by=principal)
            if await self.values.write(f"config.{id}", _encoded(_fields(new_endpoint)), revision):
                return new_endpoint

    async def remove(self, id: str) -> None:
        """Remove one, with its secret."""
        for part in ("config", "state"):
            await self._put(f"{part}.{id}", None)

    async def state(self, id: str) -> StoredState | None:
        """Return the state of one; None when it was removed."""
        value, revision = await self.values.read(f"state.{id}")
        return StoredState(EndpointState(**json.loads(value)), revision) if value else None

    async def write_state(self, id: str, new_state: EndpointState, revision: int) -> bool:
        """Replace the state if nobody else has meanwhile."""
        return await self.values.write(
            f"state.{id}", json.dumps(asdict(new_state)).encode(), revision
        )

    async def change_state(self, id: str, **fields: Any) -> EndpointState:
        """Let it be tried at once, with these fields changed, whatever its sender does. Raises
        NotFound.
        """
        while stored_state := await self.state(id):
            new_state = replace(stored_state.state.enabled(), **fields)
            if await self.write_state(id, new_state, stored_state.revision):
                return new_state
        raise no_webhook(id)

    async def _endpoint(self, key: str) -> Endpoint | None:
        value, _ = await self.values.read(key)
        return _endpoint(value) if value else None

    async def _put(self, key: str, fields: dict[str, Any] | None) -> None:
        value = b"" if fields is None else _encoded(fields)
        await replace_value(self.values, key, value)


def _fields(endpoint: Endpoint) -> dict[str, Any]:
    """Return what is stored of it; of one secret only what releases without rotation can read."""
    fields = asdict(endpoint)
    return (
        fields
        if endpoint.former_secret
        else {k: v for k, v in fields.items() if not k.startswith("former_")}
    )


def _endpoint(value: bytes) -> Endpoint:
    fields: dict[str, Any] = json.loads(value)
    fields["types"] = tuple(fields["types"])
    return Endpoint(**fields)


def _encoded(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode()


def no_webhook(id: str) -> NotFound:
    """Return the error of a webhook that is not there, or that is another workspace's."""
    return NotFound(f"there is no webhook {id!r}: GET /operations/webhooks lists them")
