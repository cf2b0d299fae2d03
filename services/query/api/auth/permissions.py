"""Who may do what: names of credentials, the workspaces they are bound to, and what a request needs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Right = Literal["read", "write"]

EVERY = "*"
"""In the place of workspaces: any of them, those too that nobody has named yet."""

SHORTEST_KEY = 16
"""Characters of a key; what is shorter can be guessed."""

READING = frozenset({"POST /documents/paginated"})
READING_BELOW = ("/query", "/api/", "/v1/chat/", "/v1/embeddings", "/v1/search")
"""What is read although it is posted. Every other POST changes something until it is named here: who forgets it keeps
readers out, never lets them in."""

UNSEEN = ("GET", "HEAD", "OPTIONS")

SIGNED_IN = "/login"


@dataclass(frozen=True)
class Grant:
    """What a credential may: in these workspaces, reading only or changing too."""

    workspaces: frozenset[str] = frozenset({EVERY})
    right: Right = "write"

    def covers(self, workspace: str) -> bool:
        """Whether the workspace is among them."""
        return EVERY in self.workspaces or workspace in self.workspaces

    def allows(self, right: Right) -> bool:
        """Whether the right is in it."""
        return right == "read" or self.right == "write"

    def workspace(self, named: str, usual: str) -> str | None:
        """The workspace a request means, None when it may not. One that names none means the usual one, or the only
        one that its credential is bound to.
        """
        if not named and not self.covers(usual) and len(self.workspaces) == 1:
            return next(iter(self.workspaces))
        wanted = named or usual
        return wanted if self.covers(wanted) else None


@dataclass(frozen=True)
class Caller:
    """Who asks. `name` is safe to log: `key:<name>`, `user:<name>`, `anyone` or `nobody`."""

    name: str
    grant: Grant = Grant()
    signed_in: bool = True

    def named(self, name: str) -> "Caller":
        """The same under another name."""
        return replace(self, name=name)


ANYONE = Caller("anyone")
"""Who asks a server that has no credentials."""


def need(method: str, path: str) -> Right:
    """The right a request needs."""
    reads = method in UNSEEN or path == SIGNED_IN or f"{method} {path}" in READING
    return "read" if reads or (method == "POST" and path.startswith(READING_BELOW)) else "write"


def listed(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns is the path, or its beginning where the pattern ends with `/*`."""
    return any(
        path == pattern or (pattern.endswith("/*") and path.startswith(pattern.removesuffix("*")))
        for pattern in patterns
    )


def paths(text: str) -> tuple[str, ...]:
    """Patterns of a list with commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def keys(text: str) -> dict[str, tuple[str, Grant]]:
    """Name → key and grant, of `name:key:workspaces:right, …`. Raises ValueError, which never holds a key."""
    found: dict[str, tuple[str, Grant]] = {}
    for number, entry in enumerate(paths(text), 1):
        name, key, *rest = entry.split(":")
        if not name or len(entry.split(":")) > 4 or name in found:
            raise ValueError(f"entry {number} must be name:key:workspaces:right, each name once")
        if len(key) < SHORTEST_KEY:
            raise ValueError(f"the key of {name} has fewer than {SHORTEST_KEY} characters")
        found[name] = (key, _grant(name, rest))
    return found


def accounts(text: str, bound: str) -> dict[str, tuple[str, Grant]]:
    """User → password (or `{bcrypt}…`) and grant, of `user:password, …` and `user:workspaces:right, …`.

    Raises ValueError, which never holds a password.
    """
    found: dict[str, tuple[str, Grant]] = {}
    for number, entry in enumerate(paths(text), 1):
        name, separator, password = entry.partition(":")
        if not (name and separator and password) or name in found:
            raise ValueError(f"entry {number} must be user:password, each user once")
        found[name] = (password, Grant())
    for entry in paths(bound):
        name, *rest = entry.split(":")
        if name not in found or not rest or len(rest) > 2:
            raise ValueError(f"{name} must be a user with user:workspaces:right")
        found[name] = (found[name][0], _grant(name, rest))
    return found


def _grant(name: str, rest: list[str]) -> Grant:
    workspaces = frozenset(part for part in (rest[0] if rest else EVERY).split("+") if part)
    right = rest[1] if len(rest) > 1 else "write"
    if not workspaces or right not in ("read", "write"):
        raise ValueError(f"{name} must be bound to workspaces (joined by +, or *) and to read or write")
    return Grant(workspaces, "write" if right == "write" else "read")
