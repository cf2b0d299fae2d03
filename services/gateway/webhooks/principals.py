"""Tells a sender of webhooks in a process of its own who may use them, so that it holds no
credentials.

The gateway writes names and rights beside the endpoints when it starts. Where several start at the
same time with other settings, those of the last one count.
"""

from dataclasses import dataclass

from runtime.bus.port import SharedValues
from runtime.errors import Unavailable
from services.gateway.auth.known_principals import KnownPrincipals
from services.gateway.places import Places
from services.gateway.webhooks.stored_values import replace_value

KEY = "known.principals"


async def publish_principals(values: SharedValues, principals: KnownPrincipals) -> None:
    """Replace what the sender knows of principals. Raises `Unavailable`."""
    await replace_value(values, KEY, principals.encoded())


@dataclass
class PublishedPrincipals:
    """The principals as the gateway told of them last."""

    values: SharedValues
    known: KnownPrincipals

    @classmethod
    async def read(cls, values: SharedValues) -> "PublishedPrincipals":
        """Return what the gateway told. Raises `Unavailable`, also while it never has."""
        return cls(values, await _read(values))

    def may_write(self, name: str, workspace: str) -> bool:
        """See `KnownPrincipals.may_write`."""
        return self.known.may_write(name, workspace)

    def places_of(self, name: str, workspace: str) -> Places:
        """See `KnownPrincipals.places_of`."""
        return self.known.places_of(name, workspace)

    async def refresh(self) -> None:
        """Read what the gateway told last. Raises `Unavailable`."""
        self.known = await _read(self.values)


async def _read(values: SharedValues) -> KnownPrincipals:
    value, _ = await values.read(KEY)
    if not value:
        raise Unavailable("no gateway with WEBHOOK_SENDER=apart has told who may use webhooks")
    return KnownPrincipals.decoded(value)
