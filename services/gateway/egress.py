"""Where an address that callers give may lead: resolved once, checked, and then connected to by
that very address.

Whoever may register a webhook, or try a model, must not reach what only this machine can reach:
other services, metadata of a cloud.
"""

import asyncio
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from services.query.errors import BadRequest

Network = IPv4Network | IPv6Network
SPECIAL = tuple(
    ip_network(block)
    for block in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
"""What IANA's registries of special-purpose addresses list, and multicast; of IPv6 what is below
`UNICAST`. Among them are Teredo and 6to4, whose addresses stand for others.
"""

UNICAST = ip_network("2000::/3")
"""Where IPv6 addresses of the public internet are: what is local, mapped (but for IPv4's own),
translated by NAT64 or reserved is elsewhere.
"""

RESOLVE_SECONDS = 5.0

_PRINTABLE = re.compile(r"[!-\[\]-~]+")
"""ASCII without spaces, control characters and backslashes: Python drops line breaks from an URL
without a word.
"""


class AddressRefused(BadRequest):
    """The address is not one that requests may be sent to."""


@dataclass(frozen=True)
class Purpose:
    """What an address is of, and the setting with the private networks that it may be in."""

    noun: str
    setting: str


WEBHOOK = Purpose("webhook", "WEBHOOK_ALLOWED_NETWORKS")
MODEL = Purpose("model", "MODEL_ALLOWED_NETWORKS")


@dataclass(frozen=True)
class Target:
    """What to connect to: an address of the host, with the names that the request gives."""

    scheme: str
    host: str
    port: int
    address: str
    path: str

    @property
    def pinned_url(self) -> str:
        """Return the URL with the address in place of the host."""
        address = f"[{self.address}]" if ":" in self.address else self.address
        return f"{self.scheme}://{address}:{self.port}{self.path}"

    @property
    def authority(self) -> str:
        """Return the value of the header Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (
            host if self.port == {"http": 80, "https": 443}[self.scheme] else f"{host}:{self.port}"
        )


async def resolved(
    url: str, allowed_networks: Sequence[Network], purpose: Purpose = WEBHOOK
) -> list[Target]:
    """Return what to connect to, one for each address of the host, at least one. Raises
    AddressRefused.

    Private, local and reserved addresses are refused but for `allowed_networks`; http is for these
    only. When a name has several addresses, one that is refused is enough.
    """
    if not _PRINTABLE.fullmatch(url):
        raise AddressRefused(
            f"the address of the {purpose.noun} is no URL: it has a line break, a space, "
            "a backslash or another character that must be written as %XX"
        )
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    except ValueError:
        raise AddressRefused(f"the address of the {purpose.noun} is no URL") from None
    if (
        scheme not in ("http", "https")
        or not host
        or parts.username
        or parts.password
        or parts.fragment
    ):
        raise AddressRefused(
            "the address must be https://host/…, without a user, a password or a fragment"
        )
    port = port or {"http": 80, "https": 443}[scheme]
    addresses = await _addresses(host, port, purpose)
    for address in addresses:
        inside = any(address in network for network in allowed_networks)
        if not inside and not _is_public(address):
            raise AddressRefused(
                f"the host has a private or reserved address; see {purpose.setting}"
            )
        if not inside and scheme == "http":
            raise AddressRefused(
                f"a {purpose.noun} needs https; http is for {purpose.setting} only"
            )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return [Target(scheme, host, port, str(address), path) for address in dict.fromkeys(addresses)]


async def _addresses(host: str, port: int, purpose: Purpose) -> list[IPv4Address | IPv6Address]:
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            infos = await asyncio.get_running_loop().getaddrinfo(
                host, port, type=socket.SOCK_STREAM
            )
        # An IPv6 address of a link has its interface behind a percent sign.
        return [ip_address(str(entry[4][0]).partition("%")[0]) for entry in infos]
    except (OSError, TimeoutError, UnicodeError, ValueError):
        raise AddressRefused(f"the host of the {purpose.noun} has no address") from None


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return _is_public(address.ipv4_mapped)
    if isinstance(address, IPv6Address) and address not in UNICAST:
        return False
    return address.is_global and not any(address in block for block in SPECIAL)
