"""The configuration of access, built once from the settings before the server listens."""

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path

from runtime.bus.nats.addresses import parse_bus_address
from runtime.errors import ConfigurationError
from services.gateway.auth.credentials import MIN_SECRET_LENGTH, Accounts, ApiKeys, Tokens
from services.gateway.auth.known_principals import KnownPrincipals
from services.gateway.auth.permissions import (
    MIN_KEY_LENGTH,
    Binding,
    Principal,
    parse_accounts,
    parse_bindings,
    parse_keys,
    split_list,
)
from services.gateway.auth.rate_limits import Cooldown, Lockout, TokenBuckets
from services.gateway.auth.settings import AccessSettings
from services.gateway.body_limits import BodyLimits
from services.gateway.manual import built_manual
from services.gateway.places import PLAIN, Places
from services.gateway.web_page import built_page
from services.query.visibility.viewer import Viewer

CREDENTIALS_HINT = (
    "set LIGHTRAG_API_KEY, LIGHTSTREAM_API_KEYS or AUTH_ACCOUNTS, or HOST=127.0.0.1; "
    "only where something in front asks for credentials, LIGHTSTREAM_ALLOW_OPEN=true"
)

RENEWAL_INTERVAL = 60.0
"""Seconds between two renewed tokens for one user, however many requests there are."""


NAMES_PER_ADDRESS = 6
"""Failed logins of one address, whatever names it tries, as a multiple of those of one name: then
each further failure is refused. Who gives the right password is let in all the same.
"""


def _random_tokens() -> Tokens:
    return Tokens(secrets.token_urlsafe(32))


@dataclass
class AuthConfig:
    """Who may call the API; the defaults allow everyone. `loopback`: the server is called by
    names of this machine only.

    `web_page` is LightRAG's page, `own_page` ours, `manual` the documentation; None
    where there is none.
    """

    keys: ApiKeys = field(default_factory=lambda: ApiKeys([]))
    accounts: Accounts = field(default_factory=lambda: Accounts({}, ""))
    tokens: Tokens = field(default_factory=_random_tokens)
    renew_below: float = 0.0
    renewals: Cooldown = field(default_factory=lambda: Cooldown(RENEWAL_INTERVAL))
    lockout: Lockout = field(default_factory=lambda: Lockout(5, 300))
    address_lockout: Lockout = field(default_factory=lambda: Lockout(5 * NAMES_PER_ADDRESS, 300))
    whitelist: tuple[str, ...] = ("/health",)
    cors_origins: tuple[str, ...] = ()
    request_limit: TokenBuckets = field(default_factory=lambda: TokenBuckets(0))
    query_limit: TokenBuckets = field(default_factory=lambda: TokenBuckets(0))
    docs: bool = True
    web_page: Path | None = None
    own_page: Path | None = None
    manual: Path | None = None
    loopback: bool = False
    body_limits: BodyLimits = field(default_factory=BodyLimits)
    anonymous_viewer: Viewer | None = None
    """What requests without credentials see of public paths; None: all."""
    path_prefix: str = ""
    """The path below which a proxy shows the service; `believes_proxies`: its `X-Forwarded-Prefix`
    counts.
    """
    believes_proxies: bool = False
    places_key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    """With which sequences are hidden from those who are bound to workspaces."""

    def places_for(self, principal: Principal, workspace: str) -> Places:
        """Return how a principal sees places in the log that stand for events of the workspace."""
        return PLAIN if principal.permissions.covers_all else Places(workspace, self.places_key)

    def places_of(self, name: str, workspace: str) -> Places:
        """See `KnownPrincipals.places_of`."""
        return self.known_principals().places_of(name, workspace)

    def may_write(self, name: str, workspace: str) -> bool:
        """See `KnownPrincipals.may_write`."""
        return self.known_principals().may_write(name, workspace)

    def known_principals(self) -> KnownPrincipals:
        """Return who may call the API, without their credentials."""
        principals = (*self.keys.principals, *self.accounts.principals)
        permissions = {principal.name: principal.permissions for principal in principals}
        return KnownPrincipals(None if self.is_open else permissions, self.places_key)

    @property
    def is_open(self) -> bool:
        """Return whether no credentials are configured, so that none are asked for."""
        return not (self.keys or self.accounts)


def auth_config(settings: AccessSettings) -> AuthConfig:
    """Build the configuration from the settings.

    Raises ConfigurationError, without any secret in its message, when the settings are not safe.
    """
    loopback = is_loopback(settings.host)
    if not loopback and not settings.has_credentials and not settings.lightstream_allow_open:
        raise ConfigurationError(f"HOST={settings.host} would let everybody in: {CREDENTIALS_HINT}")
    secret = settings.token_secret.get_secret_value()
    if settings.auth_accounts.get_secret_value() and len(secret) < MIN_SECRET_LENGTH:
        raise ConfigurationError(
            f"AUTH_ACCOUNTS needs a TOKEN_SECRET of at least {MIN_SECRET_LENGTH} characters"
        )
    bindings = _bindings(settings)
    user_accounts = _accounts(settings, secret, bindings)
    keys = _keys(settings, loopback, bindings)
    _refuse_unknown_names(bindings, [*keys.principals, *user_accounts.principals])
    return AuthConfig(
        keys=keys,
        accounts=user_accounts,
        anonymous_viewer=Viewer() if bindings else None,
        tokens=Tokens(
            secret or secrets.token_urlsafe(32),
            settings.token_expire_hours,
            settings.guest_token_expire_hours,
            settings.token_renew_max_hours,
        ),
        renew_below=settings.token_renew_threshold if settings.token_auto_renew else 0.0,
        lockout=Lockout(settings.login_max_failed_attempts, settings.login_lockout_window_seconds),
        address_lockout=Lockout(
            settings.login_max_failed_attempts * NAMES_PER_ADDRESS,
            settings.login_lockout_window_seconds,
        ),
        whitelist=split_list(settings.whitelist_paths),
        cors_origins=split_list(settings.cors_origins),
        request_limit=_rate_limit(settings, "rate_limit_per_minute"),
        query_limit=_rate_limit(settings, "rate_limit_queries_per_minute"),
        docs=settings.enable_api_docs,
        web_page=_web_page(settings.webui_dir),
        own_page=built_page(),
        manual=built_manual(),
        loopback=loopback or settings.lightstream_allow_open == "localhost",
        places_key=_places_key(settings),
        body_limits=BodyLimits(
            settings.max_login_body, settings.max_document_body, settings.max_request_body
        ),
        path_prefix=settings.lightrag_api_prefix,
        believes_proxies=bool(settings.forwarded_allow_ips),
    )


def _places_key(settings: AccessSettings) -> bytes:
    """Return a key that all replicas have and that a restart keeps: from the bus's password, else
    from all keys.
    """
    address = parse_bus_address(settings.nats_url)
    settings_key = (
        address.password
        or address.user
        or (
            settings.lightstream_api_keys.get_secret_value()
            + settings.auth_accounts.get_secret_value()
        )
    )
    return hashlib.scrypt(
        settings_key.encode(), salt=b"lightstream places in the log", n=1 << 13, r=8, p=1, dklen=32
    )


def is_loopback(host: str) -> bool:
    """Return whether the address or name is this machine's own."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _web_page(folder: str) -> Path | None:
    if folder and not (Path(folder) / "index.html").is_file():
        raise ConfigurationError(
            f"WEBUI_DIR={folder} has no index.html: name the folder of a built web page"
        )
    return Path(folder).resolve() if folder else None


def _rate_limit(settings: AccessSettings, name: str) -> TokenBuckets:
    # On this machine's own address the default does not apply: there a client is its owner's, and
    # may be a fast one.
    applies = name in settings.model_fields_set or not is_loopback(settings.host)
    return TokenBuckets(getattr(settings, name) if applies else 0)


def _bindings(settings: AccessSettings) -> dict[str, Binding]:
    try:
        return parse_bindings(settings.lightstream_principals)
    except ValueError as error:
        raise ConfigurationError(f"LIGHTSTREAM_PRINCIPALS: {error}") from None


def _refuse_unknown_names(bindings: Mapping[str, Binding], principals: Iterable[Principal]) -> None:
    """Raise ConfigurationError for a name that no credential has: one that is misspelt would leave
    a key unbound, which sees everything.
    """
    unknown_names = bindings.keys() - {principal.name for principal in principals}
    if unknown_names:
        raise ConfigurationError(
            f"LIGHTSTREAM_PRINCIPALS: there is no {sorted(unknown_names)[0]} among "
            "LIGHTSTREAM_API_KEYS, LIGHTRAG_API_KEY (key:lightrag) and AUTH_ACCOUNTS"
        )


def _bound(principal: Principal, bindings: Mapping[str, Binding]) -> Principal:
    """Return the principal with whose documents it sees."""
    binding = bindings.get(principal.name)
    if binding is None:
        return principal
    return replace(principal, viewer=binding.viewer, asks_for_others=binding.asks_for_others)


def _keys(settings: AccessSettings, local: bool, bindings: Mapping[str, Binding]) -> ApiKeys:
    default_key = settings.lightrag_api_key.get_secret_value()
    if default_key and not local and len(default_key) < MIN_KEY_LENGTH:
        raise ConfigurationError(
            f"LIGHTRAG_API_KEY has fewer than {MIN_KEY_LENGTH} characters and can be guessed"
        )
    try:
        grants = parse_keys(settings.lightstream_api_keys.get_secret_value())
    except ValueError as error:
        raise ConfigurationError(f"LIGHTSTREAM_API_KEYS: {error}") from None
    named_keys = [(key, Principal(f"key:{name}", grant)) for name, (key, grant) in grants.items()]
    if len({default_key, *(key for key, _ in named_keys)}) <= len(named_keys):
        raise ConfigurationError(
            "LIGHTSTREAM_API_KEYS: two entries, or one and LIGHTRAG_API_KEY, have the same key"
        )
    default_keys = [(default_key, Principal("key:lightrag"))] if default_key else []
    return ApiKeys(
        [(key, _bound(principal, bindings)) for key, principal in (*named_keys, *default_keys)]
    )


def _accounts(settings: AccessSettings, secret: str, bindings: Mapping[str, Binding]) -> Accounts:
    try:
        users = parse_accounts(
            settings.auth_accounts.get_secret_value(), settings.lightstream_account_rights
        )
        return Accounts(users, secret, lambda principal: _bound(principal, bindings))
    except ValueError as error:
        raise ConfigurationError(f"AUTH_ACCOUNTS or LIGHTSTREAM_ACCOUNT_RIGHTS: {error}") from None
