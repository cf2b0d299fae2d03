"""Principals, their permissions, and the right that a request needs. Pure functions over the
settings' texts.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from contracts.access import EVERYONE, PRINCIPAL_PATTERN
from contracts.ids import origin_of
from services.query.visibility.viewer import Viewer

Right = Literal["read", "write"]

ALL_WORKSPACES = "*"
"""Stands for every workspace, also for those that do not exist yet."""

MIN_KEY_LENGTH = 16
"""Characters that an API key must have; a shorter one can be guessed."""

READING_POSTS = frozenset({"POST /documents/paginated", "POST /feedback"})
"""POST routes for which the right to read is enough: they change no document, graph or answer."""

READING_POST_PREFIXES = (
    "/query",
    "/api/",
    "/v1/chat/",
    "/v1/embeddings",
    "/v1/search",
    "/receipts/",
)
"""Prefixes of POST routes that only read. Any other POST needs the right to write: one forgotten
here locks readers out instead of letting them in.
"""

OWN_PATHS = ("/conversations/",)
"""Prefixes of routes by which everybody keeps and removes what is theirs alone."""

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
"""HTTP methods that change nothing (RFC 9110)."""

LOGIN_PATH = "/login"
"""The route that takes a password, which needs no right."""


ON_BEHALF = "on-behalf"
"""In LIGHTSTREAM_PRINCIPALS: this credential asks for others."""


@dataclass(frozen=True)
class Permissions:
    """The workspaces of a credential, and whether it may only read them or write too."""

    workspaces: frozenset[str] = frozenset({ALL_WORKSPACES})
    access_right: Right = "write"

    @property
    def covers_all(self) -> bool:
        """Return whether it is for every workspace: what an operation on the whole deployment
        needs.
        """
        return ALL_WORKSPACES in self.workspaces

    def covers(self, workspace: str) -> bool:
        """Return whether the workspace is among them, or is a branch of one that is."""
        return self.covers_all or not self.workspaces.isdisjoint((workspace, origin_of(workspace)))

    def allows(self, needed_right: Right, workspace: str = "") -> bool:
        """Return whether the right is granted, in a workspace that is covered; the right to write
        includes that to read. A branch of a workspace can only be read by who is bound to that one.
        """
        if needed_right == "read":
            return True
        is_bound_to_origin = not self.covers_all and workspace not in self.workspaces
        return self.access_right == "write" and not (is_bound_to_origin and workspace)

    def resolve_workspace(self, requested_workspace: str, default: str) -> str | None:
        """Return the workspace of a request, None when it is not permitted.

        A request that names none gets the default one, or the only one that its credential is bound
        to.
        """
        if not requested_workspace and not self.covers(default) and len(self.workspaces) == 1:
            return next(iter(self.workspaces))
        workspace = requested_workspace or default
        return workspace if self.covers(workspace) else None


@dataclass(frozen=True)
class Principal:
    """Who sent a request. `name` is safe to log: `key:<name>`, `user:<name>`, `anyone` or
    `nobody`.
    """

    name: str
    permissions: Permissions = Permissions()
    signed_in: bool = True
    viewer: Viewer | None = None
    """Whose documents it sees; None: all."""
    asks_for_others: bool = False
    """Whether it may name whose documents it sees: an application that asks for its users."""

    def renamed(self, name: str) -> "Principal":
        """Return the same principal under another name."""
        return replace(self, name=name)


ANONYMOUS = Principal("anyone")
"""Every client of a server that has no credentials configured."""


def required_right(method: str, path: str) -> Right:
    """Return the right that a request needs."""
    reads = method in SAFE_METHODS or path == LOGIN_PATH or f"{method} {path}" in READING_POSTS
    reads = reads or path.startswith(OWN_PATHS)
    return (
        "read"
        if reads or (method == "POST" and path.startswith(READING_POST_PREFIXES))
        else "write"
    )


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Return whether a pattern equals the path, or is a prefix of it where the pattern ends with
    `/*`.
    """
    return any(
        path == pattern or (pattern.endswith("/*") and path.startswith(pattern.removesuffix("*")))
        for pattern in patterns
    )


def split_list(text: str) -> tuple[str, ...]:
    """Return the entries of a comma-separated list, without blanks."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_keys(text: str) -> dict[str, tuple[str, Permissions]]:
    """Return key and permissions by name, read from `name:key:workspaces:right, …`.

    Raises ValueError, whose message never holds a key.
    """
    keys: dict[str, tuple[str, Permissions]] = {}
    for number, entry in enumerate(split_list(text), 1):
        name, key, *limits = entry.split(":")
        if not name or len(entry.split(":")) > 4 or name in keys:
            raise ValueError(f"entry {number} must be name:key:workspaces:right, each name once")
        if len(key) < MIN_KEY_LENGTH:
            raise ValueError(f"the key of {name} has fewer than {MIN_KEY_LENGTH} characters")
        keys[name] = (key, _permissions(name, limits))
    return keys


def parse_accounts(text: str, rights: str) -> dict[str, tuple[str, Permissions]]:
    """Return password (or `{bcrypt}…`) and permissions by user, read from `user:password, …`.

    `rights` narrows some of them: `user:workspaces:right, …`. Raises ValueError, whose message
    never holds a password.
    """
    accounts: dict[str, tuple[str, Permissions]] = {}
    for number, entry in enumerate(split_list(text), 1):
        name, separator, password = entry.partition(":")
        if not (name and separator and password) or name in accounts:
            raise ValueError(f"entry {number} must be user:password, each user once")
        accounts[name] = (password, Permissions())
    for entry in split_list(rights):
        name, *hash_and_grant = entry.split(":")
        if name not in accounts or not hash_and_grant or len(hash_and_grant) > 2:
            raise ValueError(f"{name} must be a user with user:workspaces:right")
        accounts[name] = (accounts[name][0], _permissions(name, hash_and_grant))
    return accounts


@dataclass(frozen=True)
class Binding:
    """Whose documents a credential sees, and whether it may name others; see `Principal`."""

    viewer: Viewer
    asks_for_others: bool


def parse_bindings(text: str) -> dict[str, Binding]:
    """Return whose documents credentials see, read from `key:name=user:ann group:legal, …`, where
    `on-behalf` stands for those whom a request names. A user is `user:<its own name>`, too.

    Raises ValueError.
    """
    bindings: dict[str, Binding] = {}
    for entry in split_list(text):
        name, separator, members = entry.partition("=")
        if not separator or not name.startswith(("key:", "user:")) or name in bindings:
            raise ValueError(f"{name} must be key:name=… or user:name=…, each once")
        principals = members.split()
        own_names = [name] if name.startswith("user:") else []
        viewer = viewer_of([*own_names, *(member for member in principals if member != ON_BEHALF)])
        bindings[name] = Binding(viewer, ON_BEHALF in principals)
    return bindings


def viewer_of(principals: Iterable[str]) -> Viewer:
    """Return the viewer of these principals; a plain name is a user's. Raises ValueError for a name
    that none can have.
    """
    names = [name if ":" in name or name == EVERYONE else f"user:{name}" for name in principals]
    for name in names:
        if not re.fullmatch(PRINCIPAL_PATTERN, name):
            raise ValueError(
                f"{name[:100]!r} is no principal: give user:<name> or group:<name>, without blanks"
            )
    return Viewer.of(names)


def _permissions(name: str, limits: list[str]) -> Permissions:
    workspaces = frozenset(
        part for part in (limits[0] if limits else ALL_WORKSPACES).split("+") if part
    )
    access_right = limits[1] if len(limits) > 1 else "write"
    if not workspaces or access_right not in ("read", "write"):
        raise ValueError(
            f"{name} must be bound to workspaces (joined by +, or *) and to read or write"
        )
    return Permissions(workspaces, "write" if access_right == "write" else "read")
