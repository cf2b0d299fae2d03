"""Where a webhook may lead: resolved once, checked, and then connected to by that very address.

Whoever may register a webhook must not reach what only this machine can reach: other services, metadata of a cloud.
"""

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from services.query.errors import BadRequest

Network = IPv4Network | IPv6Network
NAT64 = ip_network("64:ff9b::/96")
"""IPv6 addresses that stand for IPv4 ones; so do those of 6to4 and Teredo."""

RESOLVE_SECONDS = 5.0


class AddressRefused(BadRequest):
    """The address is not one that webhooks may be sent to."""


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
        return host if self.port == {"http": 80, "https": 443}[self.scheme] else f"{host}:{self.port}"


async def resolved(url: str, allowed: Sequence[Network]) -> list[Target]:
    """Return what to connect to, one for each address of the host, at least one. Raises AddressRefused.

    Private, local and reserved addresses are refused but for `allowed`; http is for these only. When a name has several
    addresses, one that is refused is enough.
    """
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    except ValueError:
        raise AddressRefused("the address of the webhook is no URL") from None
    if scheme not in ("http", "https") or not host or parts.username or parts.password or parts.fragment:
        raise AddressRefused("the address must be https://host/…, without a user, a password or a fragment")
    port = port or {"http": 80, "https": 443}[scheme]
    addresses = await _addresses(host, port)
    for address in addresses:
        inside = any(address in network for network in allowed)
        if not inside and not _is_public(address):
            raise AddressRefused("the host has a private or reserved address; see WEBHOOK_ALLOWED_NETWORKS")
        if not inside and scheme == "http":
            raise AddressRefused("a webhook needs https; http is for WEBHOOK_ALLOWED_NETWORKS only")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return [Target(scheme, host, port, str(address), path) for address in dict.fromkeys(addresses)]


async def _addresses(host: str, port: int) -> list[IPv4Address | IPv6Address]:
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # An IPv6 address of a link has its interface behind a percent sign.
        return [ip_address(str(entry[4][0]).partition("%")[0]) for entry in infos]
    except (OSError, TimeoutError, UnicodeError, ValueError):
        raise AddressRefused("the host of the webhook has no address") from None


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return _is_public(address.ipv4_mapped)
        if address in NAT64 or address.sixtofour or address.teredo or address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved
