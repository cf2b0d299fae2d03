"""Keys, passwords and tokens: kept as hashes, compared in constant time."""

import asyncio
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import bcrypt
import jwt

from services.query.api.auth.permissions import Caller, Grant

Role = Literal["user", "guest"]

ALGORITHM = "HS256"
ISSUER = "lightstream"
SHORTEST_SECRET = 32
"""Characters of a secret that signs tokens: what HMAC with SHA-256 asks for."""

HASHED = "{bcrypt}"
COST = 10
"""Rounds, as a power of two, for passwords that were given as they are."""

AT_ONCE = 2
"""Passwords compared side by side: each costs a processor a tenth of a second or more."""

LONGEST_READ = 72
"""Bytes of a password that bcrypt reads."""

_BCRYPT = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}")


class Keys:
    """API keys, of which only SHA-256 hashes are held: keys are long and random, so nothing slower is needed."""

    def __init__(self, keys: Iterable[tuple[str, Caller]]) -> None:
        self._keys = [(_digest(key), caller) for key, caller in keys]

    def __bool__(self) -> bool:
        return bool(self._keys)

    def find(self, key: str) -> Caller | None:
        """Whose key it is. All are compared, so that the time says nothing about them."""
        digest, found = _digest(key), None
        for known, caller in self._keys:
            if hmac.compare_digest(known, digest):
                found = caller
        return found


@dataclass(frozen=True)
class Account:
    """A user. `mark` changes with the password: tokens carry it, so that an old token ends with an old password.

    `password` is a bcrypt hash of `cost` rounds, as a power of two.
    """

    caller: Caller
    password: bytes
    plain: bool
    mark: str
    cost: int


class Accounts:
    """Users and their passwords, of which only bcrypt hashes are held. Raises ValueError without any password in it."""

    def __init__(self, users: Mapping[str, tuple[str, Grant]], secret: str) -> None:
        costs = {name: _cost(name, given) for name, (given, _) in users.items() if given.startswith(HASHED)}
        own = max([COST, *costs.values()])
        salt = bcrypt.gensalt(own)
        self._users = {
            name: Account(
                Caller(f"user:{name}", grant),
                given.removeprefix(HASHED).encode() if name in costs else bcrypt.hashpw(_short(given), salt),
                name not in costs,
                hmac.digest(secret.encode(), f"{name}\0{given}".encode(), "sha256").hex()[:16],
                costs.get(name, own),
            )
            for name, (given, grant) in users.items()
        }
        self._dummies = {
            cost: bcrypt.hashpw(b"-", bcrypt.gensalt(cost)) for cost in {user.cost for user in self._users.values()}
        }
        """A hash of each cost that a user's has: every attempt costs one comparison of each, whoever is named."""
        self._turn = asyncio.Semaphore(AT_ONCE)

    def __bool__(self) -> bool:
        return bool(self._users)

    def get(self, name: str) -> Account | None:
        """The user of that name."""
        return self._users.get(name)

    async def verified(self, name: str, password: str) -> Account | None:
        """The user, when it is the password.

        It takes as long for a user who does not exist, and for every user however costly the own hash is.
        """
        account = self._users.get(name)
        async with self._turn:
            right = await asyncio.to_thread(self._compared, account, password)
        return account if right else None

    def _compared(self, account: Account | None, password: str) -> bool:
        raw = bool(account and not account.plain)
        given = password.encode("utf-8", "surrogatepass") if raw else _short(password)
        right = False
        for cost, dummy in self._dummies.items():
            own = account is not None and account.cost == cost
            matches = _matches(given, account.password if account and own else dummy)
            right = matches if own else right
        return right


@dataclass(frozen=True)
class Token:
    """What a token says that was signed here and has not ended. Times in seconds since 1970.

    `login`: when its user gave a password; a renewed token keeps it.
    """

    name: str
    role: Role
    mark: str
    issued: float
    ends: float
    login: float


@dataclass(frozen=True)
class Tokens:
    """Makes and reads JSON Web Tokens, in the shape LightRAG's web interface reads."""

    secret: str
    hours: float = 48
    guest_hours: float = 24
    max_hours: float = 168
    """Hours after the login for which its token and those that renew it hold."""

    def make(self, name: str, role: Role, mark: str = "", login: float | None = None) -> str:
        """A signed token. `login` is that of the token it renews; without one it is now."""
        now = int(time.time())
        since = now if login is None else int(login)
        claims: dict[str, Any] = {
            "sub": name,
            "iat": now,
            "auth_time": since,
            "exp": self._end(role, now, since),
            "iss": ISSUER,
            "role": role,
            "metadata": {"auth_mode": "enabled" if role == "user" else "disabled", "mark": mark},
        }
        return jwt.encode(claims, self.secret, ALGORITHM)

    def renewed(self, token: Token) -> str:
        """A token that holds longer for the same login; empty where none could."""
        if self._end(token.role, int(time.time()), int(token.login)) <= token.ends:
            return ""
        return self.make(token.name, token.role, token.mark, token.login)

    def _end(self, role: Role, now: int, login: int) -> int:
        life = int(3600 * (self.hours if role == "user" else self.guest_hours))
        return min(now + life, login + int(3600 * self.max_hours)) if role == "user" else now + life

    def read(self, token: str) -> Token | None:
        """What it says; None for anything but a token of ours that holds now. What its header asks for is not done."""
        try:
            found = jwt.decode(
                token,
                self.secret,
                algorithms=[ALGORITHM],
                issuer=ISSUER,
                options={"require": ["sub", "iat", "exp", "iss"]},
            )
            mark = str(found["metadata"]["mark"])
            role: Role = "user" if found["role"] == "user" else "guest"
            # A token of an older version does not tell its login: it counts from when it was issued.
            issued, ends = float(found["iat"]), float(found["exp"])
            login = float(found.get("auth_time", issued))
        except (jwt.InvalidTokenError, KeyError, TypeError, ValueError):
            return None
        # The setting may be shorter than when the token was made.
        if role == "user" and time.time() >= login + 3600 * self.max_hours:
            return None
        return Token(str(found["sub"]), role, mark, issued, ends, login)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _short(password: str) -> bytes:
    # bcrypt reads 72 bytes and refuses NUL: what was given as it is, is hashed to 64 hexadecimal digits first.
    return hashlib.sha256(password.encode("utf-8", "surrogatepass")).hexdigest().encode()


def _cost(name: str, given: str) -> int:
    if not (found := _BCRYPT.fullmatch(given.removeprefix(HASHED))):
        raise ValueError(f"the password of {name} begins with {HASHED} but no bcrypt hash follows")
    return int(found.group(1))


def _matches(password: bytes, known: bytes) -> bool:
    # What bcrypt cannot read never matches; a stand-in is compared all the same, for a quick refusal would tell.
    readable = len(password) <= LONGEST_READ and b"\0" not in password
    return bcrypt.checkpw(password if readable else b"-", known) and readable
