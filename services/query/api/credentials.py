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

from services.query.domain.access import Caller, Grant

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
    """A user. `mark` changes with the password: tokens carry it, so that an old token ends with an old password."""

    caller: Caller
    password: bytes
    plain: bool
    mark: str


class Accounts:
    """Users and their passwords, of which only bcrypt hashes are held. Raises ValueError without any password in it."""

    def __init__(self, users: Mapping[str, tuple[str, Grant]], secret: str) -> None:
        costs = [_cost(name, given) for name, (given, _) in users.items() if given.startswith(HASHED)]
        # The same cost for all, the unknown user's too: the time of a refusal must not tell who exists.
        salt = bcrypt.gensalt(max([COST, *costs]))
        self._nobody = bcrypt.hashpw(b"-", salt)
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._users = {
            name: Account(
                Caller(f"user:{name}", grant),
                given.removeprefix(HASHED).encode() if given.startswith(HASHED) else bcrypt.hashpw(_short(given), salt),
                not given.startswith(HASHED),
                hmac.digest(secret.encode(), f"{name}\0{given}".encode(), "sha256").hex()[:16],
            )
            for name, (given, grant) in users.items()
        }

    def __bool__(self) -> bool:
        return bool(self._users)

    def get(self, name: str) -> Account | None:
        """The user of that name."""
        return self._users.get(name)

    async def verified(self, name: str, password: str) -> Account | None:
        """The user, when it is the password. It takes as long for a user who does not exist."""
        account = self._users.get(name)
        given = password.encode("utf-8", "surrogatepass") if account and not account.plain else _short(password)
        async with self._turn:
            right = await asyncio.to_thread(_matches, given, account.password if account else self._nobody)
        return account if right else None


@dataclass(frozen=True)
class Token:
    """What a token says that was signed here and has not ended. Times in seconds since 1970."""

    name: str
    role: Role
    mark: str
    issued: float
    ends: float


@dataclass(frozen=True)
class Tokens:
    """Makes and reads JSON Web Tokens, in the shape LightRAG's web interface reads."""

    secret: str
    hours: float = 48
    guest_hours: float = 24

    def make(self, name: str, role: Role, mark: str = "") -> str:
        """A signed token."""
        now = int(time.time())
        claims: dict[str, Any] = {
            "sub": name,
            "iat": now,
            "exp": now + int(3600 * (self.hours if role == "user" else self.guest_hours)),
            "iss": ISSUER,
            "role": role,
            "metadata": {"auth_mode": "enabled" if role == "user" else "disabled", "mark": mark},
        }
        return jwt.encode(claims, self.secret, ALGORITHM)

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
        except (jwt.InvalidTokenError, KeyError, TypeError):
            return None
        return Token(str(found["sub"]), role, mark, float(found["iat"]), float(found["exp"]))


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
    try:
        return bcrypt.checkpw(password, known)
    except ValueError:  # longer than bcrypt reads
        return False
