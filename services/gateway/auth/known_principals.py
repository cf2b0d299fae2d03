"""Who may call the API, without credentials: what the sender of webhooks must know of callers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from services.gateway.auth.permissions import ANONYMOUS, Permissions
from services.gateway.places import PLAIN, Places


@dataclass(frozen=True)
class KnownPrincipals:
    """The permissions of every principal by its name; None where nobody is asked for credentials.

    `places_key`: with which sequences are hidden from those who are bound to workspaces.
    """

    permissions: Mapping[str, Permissions] | None
    places_key: bytes = field(repr=False)

    def of(self, name: str) -> Permissions | None:
        """Return the permissions of the principal of that name, None where it does not exist."""
        if self.permissions is None:
            return ANONYMOUS.permissions
        return self.permissions.get(name)

    def may_write(self, name: str, workspace: str) -> bool:
        """Return whether the principal of that name still exists and may write there."""
        permissions = self.of(name)
        return bool(
            permissions and permissions.covers(workspace) and permissions.allows("write", workspace)
        )

    def places_of(self, name: str, workspace: str) -> Places:
        """Return how the principal of that name, if it still exists, sees places in the log."""
        permissions = self.of(name)
        if permissions and permissions.covers_all:
            return PLAIN
        return Places(workspace, self.places_key)

    def encoded(self) -> bytes:
        """Return it as bytes, for `decoded`."""
        rights: dict[str, Any] | None = None
        if self.permissions is not None:
            rights = {
                name: {"workspaces": sorted(grant.workspaces), "right": grant.access_right}
                for name, grant in self.permissions.items()
            }
        return json.dumps({"principals": rights, "places_key": self.places_key.hex()}).encode()

    @classmethod
    def decoded(cls, value: bytes) -> "KnownPrincipals":
        """Return what `encoded` was made of."""
        fields: dict[str, Any] = json.loads(value)
        rights: dict[str, dict[str, Any]] | None = fields["principals"]
        permissions = None
        if rights is not None:
            permissions = {
                name: Permissions(frozenset(grant["workspaces"]), grant["right"])
                for name, grant in rights.items()
            }
        return cls(permissions, bytes.fromhex(fields["places_key"]))
