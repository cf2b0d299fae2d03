"""NATS_URL: one server of the bus, or several of a cluster, the user of all of them, the files of
TLS, and with what calls of JetStream begin.
"""

import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from runtime.errors import ConfigurationError

EXPECTED = (
    "NATS_URL must be nats://user:password@host:4222, with further servers of the cluster behind "
    "commas; or tls://…, of all of them, with ?ca=FILE and &cert=FILE&key=FILE where they are "
    "needed"
)

TLS_FILES = {"ca", "cert", "key"}

API_PREFIX = "$JS.API"
"""What calls of JetStream begin with, unless they go to another account or domain."""

_PREFIX_OPTION = "api_prefix"


@dataclass(frozen=True)
class TlsFiles:
    """Names of files in PEM: whom to trust (empty: whom the system trusts); the certificate to
    show, and its key.
    """

    ca: str = ""
    cert: str = ""
    key: str = ""

    def context(self) -> ssl.SSLContext:
        """Return what a client needs, which checks the server's certificate and name. Raises
        ConfigurationError.
        """
        try:
            context = ssl.create_default_context(cafile=self.ca or None)
            if self.cert:
                context.load_cert_chain(self.cert, self.key)
        except OSError as error:  # ssl.SSLError is one
            file_names = " ".join(f"{name}={file}" for name, file in vars(self).items() if file)
            raise ConfigurationError(
                f"a file of NATS_URL cannot be used: {file_names}: {error.strerror or error}"
            ) from None
        return context


@dataclass(frozen=True)
class BusAddress:
    """Servers without credentials, the credentials for any server of the cluster, and the files of
    TLS, if it is used.

    A cluster tells its clients of servers that NATS_URL does not name. The client sends them no
    credentials of another server's address, is refused there, and then closes the connection for
    good: they must be the connection's own.
    """

    servers: tuple[str, ...]
    user: str | None = None
    password: str | None = None
    tls: TlsFiles | None = None
    api_prefix: str = API_PREFIX

    @property
    def credentials(self) -> dict[str, Any]:
        """Return them as `Client.connect` takes them. A name without a password is a token."""
        if self.user is None:
            return {}
        return (
            {"token": self.user}
            if self.password is None
            else {"user": self.user, "password": self.password}
        )

    @property
    def encryption(self) -> dict[str, Any]:
        """Return what `Client.connect` needs for TLS. Raises ConfigurationError.

        It is spoken from the first byte: a client that waits for the server to ask for it sends its
        password in the clear to whoever does not ask.
        """
        return {"tls": self.tls.context(), "tls_handshake_first": True} if self.tls else {}

    @property
    def shown(self) -> str:
        """Return the servers for logs and errors, without secrets."""
        return ",".join(self.servers)


def parse_bus_address(url: str) -> BusAddress:
    """Return what NATS_URL says. What one address names, user or files, holds for all, as does the
    scheme of the first.

    Raises ConfigurationError.
    """
    try:
        scheme = url.partition("://")[0].strip() if "://" in url.partition(",")[0] else "nats"
        parts = [
            urlsplit(part if "://" in part else f"{scheme}://{part}")
            for part in url.split(",")
            if part.strip()
        ]
        servers = tuple(_without_credentials(part) for part in parts)
        options = _options(parts)
        api_prefix = options.pop(_PREFIX_OPTION, API_PREFIX)
        tls = _tls_files(parts, options)
    except ValueError:
        raise ConfigurationError(EXPECTED) from None
    if not servers:
        raise ConfigurationError(EXPECTED)
    named_part = next((part for part in parts if part.username), None)
    user, password = (named_part.username, named_part.password) if named_part else (None, None)
    return BusAddress(servers, user, password, tls, api_prefix)


def with_api_prefix(url: str, api_prefix: str) -> str:
    """Return the address with what calls of JetStream begin with; as it is where that is the usual
    one, or where the address names one itself.
    """
    if api_prefix == API_PREFIX or f"{_PREFIX_OPTION}=" in url:
        return url
    last_server = url.rpartition(",")[2]
    return f"{url}{'&' if '?' in last_server else '?'}{_PREFIX_OPTION}={quote(api_prefix, safe='')}"


def _options(parts: list[SplitResult]) -> dict[str, str]:
    """Return what stands behind the question marks. Raises ValueError for what has no value."""
    return {
        name: values[0]
        for part in parts
        for name, values in parse_qs(part.query, strict_parsing=True).items()
    }


def _tls_files(parts: list[SplitResult], files: dict[str, str]) -> TlsFiles | None:
    """Return the files of TLS; None without it. Raises ValueError for half of it, and for a file
    without TLS.
    """
    schemes_encrypted = {part.scheme.strip() == "tls" for part in parts}
    if (
        files.keys() - TLS_FILES
        or len(schemes_encrypted) > 1
        or (files and schemes_encrypted != {True})
    ):
        raise ValueError("unknown names, or servers with TLS and without")
    if ("cert" in files) != ("key" in files):
        raise ValueError("a certificate without its key")
    return TlsFiles(**files) if schemes_encrypted == {True} else None


def _without_credentials(parts: SplitResult) -> str:
    if (
        not parts.hostname or parts.port == 0
    ):  # asking for a port that is no number raises ValueError
        raise ValueError("no server")
    return f"{parts.scheme.strip()}://{parts.netloc.rpartition('@')[2].strip()}"
