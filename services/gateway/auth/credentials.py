"""API keys, passwords and tokens: keys and passwords are held as hashes and compared in constant
time.
"""

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import bcrypt
import jwt

from services.gateway.auth.permissions import Permissions, Principal

Role = Literal["user", "guest", "reader"]
"""A `reader` is no account: another system signs its token with our secret, and says its groups."""

ALGORITHM = "HS256"
ISSUER = "lightstream"
MIN_SECRET_LENGTH = 32
"""Characters of a secret that signs tokens, as HMAC with SHA-256 asks for."""

BCRYPT_PREFIX = "{bcrypt}"
DEFAULT_COST = 10
"""The bcrypt cost, a power of two of rounds, of passwords that the settings hold in plain text."""

PARALLEL_COMPARISONS = 2
"""Passwords that are compared at the same time; each comparison takes a core a tenth of a second or
more.
"""

BCRYPT_MAX_BYTES = 72
"""Bytes of a password that bcrypt reads; it ignores or rejects the rest."""

_BCRYPT = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}")


class ApiKeys:
    """API keys, held as SHA-256 hashes: keys are long and random, so no slower hash is needed."""

    def __init__(self, keys: Iterable[tuple[str, Principal]]) -> None:
        self._keys = [(_digest(key), caller) for key, caller in keys]

    def __bool__(self) -> bool:
        return bool(self._keys)

    def find(self, key: str) -> Principal | None:
        """Return the principal of the key, None for an unknown key. Compares all keys, in constant
        time.
        """
        digest = _digest(key)
        principal = None
        for key_digest, caller in self._keys:
            if hmac.compare_digest(key_digest, digest):
                principal = caller
        return principal

    @property
    def principals(self) -> list[Principal]:
        """Return whose keys there are."""
        return [principal for _, principal in self._keys]


@dataclass(frozen=True)
class Account:
    """A user. `password_fingerprint` changes with the password and is in every token, so a new
    password ends the old tokens.

    `password` is a bcrypt hash of that `cost`; `is_plain_text` says that the settings hold the
    password in plain text.
    """

    principal: Principal
    password: bytes
    is_plain_text: bool
    password_fingerprint: str
    cost: int


class Accounts:
    """Users and the bcrypt hashes of their passwords.

    Raises ValueError for a hash that is none; its message never holds a password.
    """

    def __init__(
        self,
        users: Mapping[str, tuple[str, Permissions]],
        secret: str,
        bound: Callable[[Principal], Principal] = lambda principal: principal,
    ) -> None:
        costs = {
            name: _cost(name, password)
            for name, (password, _) in users.items()
            if password.startswith(BCRYPT_PREFIX)
        }
        dummy_cost = max([DEFAULT_COST, *costs.values()])
        salt = bcrypt.gensalt(dummy_cost)
        self._users = {
            name: Account(
                bound(Principal(f"user:{name}", grant)),
                password.removeprefix(BCRYPT_PREFIX).encode()
                if name in costs
                else bcrypt.hashpw(_prehash(password), salt),
                name not in costs,
                hmac.digest(secret.encode(), f"{name}\0{password}".encode(), "sha256").hex()[:16],
                costs.get(name, dummy_cost),
            )
            for name, (password, grant) in users.items()
        }
        self._dummies = {
            cost: bcrypt.hashpw(b"-", bcrypt.gensalt(cost))
            for cost in {user.cost for user in self._users.values()}
        }
        """A hash of each cost in use: every attempt costs one comparison of each, whichever user it
        names.
        """
        self._slots = asyncio.Semaphore(PARALLEL_COMPARISONS)
        self._unknown = asyncio.Semaphore(1)
        self._seconds = deque[float](maxlen=64)

    def __bool__(self) -> bool:
        return bool(self._users)

    @property
    def principals(self) -> list[Principal]:
        """Return the users as principals."""
        return [account.principal for account in self._users.values()]

    def get(self, name: str) -> Account | None:
        """Return the user of that name, None for an unknown one."""
        return self._users.get(name)

    async def verify(self, name: str, password: str) -> Account | None:
        """Return the user when the password is right, else None.

        Takes the same time for every name, whether the user exists and whatever the cost of the
        hash. Names that nobody has are compared apart, one at a time, and no user waits for them.
        """
        account = self._users.get(name)
        async with self._slots:
            if account is not None:
                return account if await self._timed_comparison(account, password) else None
        # It has waited for its turn as a user's would, and takes none.
        if self._unknown.locked() and self._seconds:
            await asyncio.sleep(secrets.choice(self._seconds))
            return None
        async with self._unknown:
            await self._timed_comparison(None, password)
        return None

    async def _timed_comparison(self, account: Account | None, password: str) -> bool:
        """Compare, and note the seconds it took: those are what further unknown names wait."""
        before = time.monotonic()
        is_right = await asyncio.to_thread(self._compare, account, password)
        self._seconds.append(time.monotonic() - before)
        return is_right

    def _compare(self, account: Account | None, password: str) -> bool:
        raw = bool(account and not account.is_plain_text)
        candidate = password.encode("utf-8", "surrogatepass") if raw else _prehash(password)
        is_right = False
        for cost, dummy in self._dummies.items():
            has_this_cost = account is not None and account.cost == cost
            matches = _matches(candidate, account.password if account and has_this_cost else dummy)
            is_right = matches if has_this_cost else is_right
        return is_right


@dataclass(frozen=True)
class Token:
    """The claims of a valid token. Times in seconds since 1970.

    `login_at`: when the user gave a password; a renewed token keeps it.
    """

    name: str
    role: Role
    password_fingerprint: str
    issued_at: float
    expires_at: float
    login_at: float
    groups: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    """Of a reader: where it may ask; none: in the default workspace."""


@dataclass(frozen=True)
class Tokens:
    """Issues and reads JSON Web Tokens, with the claims that LightRAG's web interface expects."""

    secret: str
    hours: float = 48
    guest_hours: float = 24
    max_hours: float = 168
    """Hours after a login up to which its token and the renewed ones are valid."""

    def issue(
        self, name: str, role: Role, password_fingerprint: str = "", login: float | None = None
    ) -> str:
        """Return a signed token. `login`: the time of the login, for a renewed token; None means
        now.
        """
        now = int(time.time())
        since = now if login is None else int(login)
        claims: dict[str, Any] = {
            "sub": name,
            "iat": now,
            "auth_time": since,
            "exp": self._expiry(role, now, since),
            "iss": ISSUER,
            "role": role,
            "metadata": {
                "auth_mode": "enabled" if role == "user" else "disabled",
                "mark": password_fingerprint,
            },
        }
        return jwt.encode(claims, self.secret, ALGORITHM)

    def renew(self, token: Token) -> str:
        """Return a token for the same login that expires later; "" when it cannot be prolonged."""
        if self._expiry(token.role, int(time.time()), int(token.login_at)) <= token.expires_at:
            return ""
        return self.issue(token.name, token.role, token.password_fingerprint, token.login_at)

    def ends(self, token: Token) -> float:
        """Return when the token ends, in seconds since 1970: the setting may be shorter than when
        it was made.
        """
        latest_end = token.login_at + 3600 * self.max_hours
        return min(token.expires_at, latest_end) if token.role == "user" else token.expires_at

    def _expiry(self, role: Role, now: int, login: int) -> int:
        life = int(3600 * (self.hours if role == "user" else self.guest_hours))
        return min(now + life, login + int(3600 * self.max_hours)) if role == "user" else now + life

    def read(self, token: str) -> Token | None:
        """Return the claims of a token, None unless it was issued here and is valid now.

        The algorithm that its header names is ignored.
        """
        try:
            claims = jwt.decode(
                token,
                self.secret,
                algorithms=[ALGORITHM],
                issuer=ISSUER,
                # One that was issued "in the future" was so before the clock was set back: its
                # signature is ours.
                options={"require": ["sub", "iat", "exp", "iss"], "verify_iat": False},
            )
            if claims["role"] == "reader":
                return _reader(claims)
            password_fingerprint = str(claims["metadata"]["mark"])
            role: Role = "user" if claims["role"] == "user" else "guest"
            # A token of an older version has no login time: that of its issue stands for it.
            issued_at, ends = float(claims["iat"]), float(claims["exp"])
            login = float(claims.get("auth_time", issued_at))
        except (jwt.InvalidTokenError, KeyError, TypeError, ValueError):
            return None
        # The setting may be shorter than when the token was made.
        if role == "user" and time.time() >= login + 3600 * self.max_hours:
            return None
        return Token(str(claims["sub"]), role, password_fingerprint, issued_at, ends, login)


def _reader(claims: dict[str, Any]) -> Token:
    """Return the token of a reader. Raises TypeError, ValueError for claims of another form."""
    lists = [claims.get(name, []) for name in ("groups", "workspaces")]
    for values in lists:
        if not isinstance(values, list):
            raise TypeError("no list")
    groups, workspaces = (tuple(map(str, values)) for values in lists)
    issued_at, ends = float(claims["iat"]), float(claims["exp"])
    return Token(str(claims["sub"]), "reader", "", issued_at, ends, issued_at, groups, workspaces)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _prehash(password: str) -> bytes:
    # bcrypt reads 72 bytes and rejects NUL, so plain passwords are first hashed to 64 hexadecimal
    # digits.
    return hashlib.sha256(password.encode("utf-8", "surrogatepass")).hexdigest().encode()


def _cost(name: str, password: str) -> int:
    if not (match := _BCRYPT.fullmatch(password.removeprefix(BCRYPT_PREFIX))):
        raise ValueError(
            f"the password of {name} begins with {BCRYPT_PREFIX} but no bcrypt hash follows"
        )
    return int(match.group(1))


def _matches(password: bytes, hashed_password: bytes) -> bool:
    # A password that bcrypt cannot read never matches; a comparison runs anyway, so that the time
    # tells nothing.
    readable = len(password) <= BCRYPT_MAX_BYTES and b"\0" not in password
    return bcrypt.checkpw(password if readable else b"-", hashed_password) and readable
