"""The door: everything that decides who comes in, made of the settings once, before anything listens."""

import secrets
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from runtime.errors import ConfigurationError
from services.query.api.auth.credentials import SHORTEST_SECRET, Accounts, Keys, Tokens
from services.query.api.auth.permissions import SHORTEST_KEY, Caller, accounts, keys, paths
from services.query.api.auth.rate_limits import Buckets, Lockout, Once
from services.query.api.auth.settings import AccessSettings
from services.query.api.body_limits import BodyLimits

WAY_OUT = (
    "set LIGHTRAG_API_KEY, LIGHTSTREAM_API_KEYS or AUTH_ACCOUNTS, or HOST=127.0.0.1; only where something in front "
    "asks for credentials, LIGHTSTREAM_ALLOW_OPEN=true"
)

RENEWED_EVERY = 60.0
"""Seconds between two renewals for one user, however many requests there are."""


def _random() -> Tokens:
    return Tokens(secrets.token_urlsafe(32))


@dataclass
class Door:
    """Who comes in. As it is made here: everybody. `local`: it listens on this machine only."""

    keys: Keys = field(default_factory=lambda: Keys([]))
    accounts: Accounts = field(default_factory=lambda: Accounts({}, ""))
    tokens: Tokens = field(default_factory=_random)
    renew_below: float = 0.0
    renewed: Once = field(default_factory=lambda: Once(RENEWED_EVERY))
    lockout: Lockout = field(default_factory=lambda: Lockout(5, 300))
    whitelist: tuple[str, ...] = ("/health",)
    origins: tuple[str, ...] = ()
    requests: Buckets = field(default_factory=lambda: Buckets(0))
    queries: Buckets = field(default_factory=lambda: Buckets(0))
    docs: bool = True
    page: Path | None = None
    local: bool = False
    bodies: BodyLimits = field(default_factory=BodyLimits)

    @property
    def open(self) -> bool:
        """Whether nobody is asked who they are."""
        return not (self.keys or self.accounts)


def door(settings: AccessSettings) -> Door:
    """The door these settings ask for. Raises ConfigurationError, without any secret in it, when they are not safe."""
    local = is_local(settings.host)
    if not local and not settings.has_credentials and not settings.lightstream_allow_open:
        raise ConfigurationError(f"HOST={settings.host} would let everybody in: {WAY_OUT}")
    secret = settings.token_secret.get_secret_value()
    if settings.auth_accounts.get_secret_value() and len(secret) < SHORTEST_SECRET:
        raise ConfigurationError(f"AUTH_ACCOUNTS needs a TOKEN_SECRET of at least {SHORTEST_SECRET} characters")
    known = _accounts(settings, secret)
    return Door(
        keys=_keys(settings, local),
        accounts=known,
        tokens=Tokens(
            secret or secrets.token_urlsafe(32),
            settings.token_expire_hours,
            settings.guest_token_expire_hours,
            settings.token_renew_max_hours,
        ),
        renew_below=settings.token_renew_threshold if settings.token_auto_renew else 0.0,
        lockout=Lockout(settings.login_max_failed_attempts, settings.login_lockout_window_seconds),
        whitelist=paths(settings.whitelist_paths),
        origins=paths(settings.cors_origins),
        requests=_buckets(settings, "rate_limit_per_minute"),
        queries=_buckets(settings, "rate_limit_queries_per_minute"),
        docs=settings.enable_api_docs,
        page=_page(settings.webui_dir),
        local=local,
        bodies=BodyLimits(settings.max_login_body, settings.max_document_body, settings.max_request_body),
    )


def is_local(host: str) -> bool:
    """Whether the address or name is this machine's own."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _page(folder: str) -> Path | None:
    if folder and not (Path(folder) / "index.html").is_file():
        raise ConfigurationError(f"WEBUI_DIR={folder} has no index.html: name the folder of a built web page")
    return Path(folder).resolve() if folder else None


def _buckets(settings: AccessSettings, name: str) -> Buckets:
    # On this machine's own address the default does not apply: there a client is its owner's, and may be a fast one.
    applies = name in settings.model_fields_set or not is_local(settings.host)
    return Buckets(getattr(settings, name) if applies else 0)


def _keys(settings: AccessSettings, local: bool) -> Keys:
    one = settings.lightrag_api_key.get_secret_value()
    if one and not local and len(one) < SHORTEST_KEY:
        raise ConfigurationError(f"LIGHTRAG_API_KEY has fewer than {SHORTEST_KEY} characters and can be guessed")
    try:
        several = keys(settings.lightstream_api_keys.get_secret_value())
    except ValueError as error:
        raise ConfigurationError(f"LIGHTSTREAM_API_KEYS: {error}") from None
    named = [(key, Caller(f"key:{name}", grant)) for name, (key, grant) in several.items()]
    if len({one, *(key for key, _ in named)}) <= len(named):
        raise ConfigurationError("LIGHTSTREAM_API_KEYS: two entries, or one and LIGHTRAG_API_KEY, have the same key")
    return Keys([*named, *([(one, Caller("key:lightrag"))] if one else [])])


def _accounts(settings: AccessSettings, secret: str) -> Accounts:
    try:
        known = accounts(settings.auth_accounts.get_secret_value(), settings.lightstream_account_rights)
        return Accounts(known, secret)
    except ValueError as error:
        raise ConfigurationError(f"AUTH_ACCOUNTS or LIGHTSTREAM_ACCOUNT_RIGHTS: {error}") from None
