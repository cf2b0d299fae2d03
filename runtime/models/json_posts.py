"""Posts JSON to a provider over connections that are kept, and reads answers whole or as they
come.
"""

import socket
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from runtime.errors import Unavailable
from runtime.models.access_tokens import AccessTokens
from runtime.models.pinned_hosts import PINNED_HOSTS

LARGEST_ANSWER = 32 * 1024 * 1024
"""Bytes of one answer; a provider that sends more is cut off."""

LARGEST_HEADER = 64 * 1024
"""Bytes of one header of an answer: gateways send longer ones than aiohttp takes by default."""

MOST_REDIRECTS = 3
"""Redirects of one request that are followed, all of them on the same host."""

REDIRECTS = (301, 302, 307, 308)
UNAUTHORIZED = 401

Headers = Callable[[str, bytes], Mapping[str, str]]
"""Returns the headers of a request to this address with these bytes."""


class RedirectedAway(Exception):
    """The provider redirects to another host, which nobody has named: it would be sent the
    texts.
    """

    def __init__(self, host: str) -> None:
        super().__init__(f"it redirects to {host}, which no setting names")
        self.host = host


class StatusError(Exception):
    """An answer with the status of an error."""

    def __init__(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.headers = headers
        self.content = content


@dataclass(frozen=True)
class Sending:
    """One request. `once`: it must not go out a second time, even where the first may have been
    lost. Without a `content_type` it is JSON.
    """

    url: str
    data: bytes = b""
    method: str = "POST"
    content_type: str = ""
    once: bool = False


class JsonPosts:
    """Sends JSON with the headers that `headers` gives.

    Proxies and certificates are those that the environment names. `connect`: seconds to reach the
    provider; the caller limits the rest. `tokens`, where headers have one, are refreshed before
    each request; what that raises is passed on.
    """

    def __init__(
        self, headers: Headers, connect: float, tokens: AccessTokens | None = None
    ) -> None:
        self._headers = headers
        self._tokens = tokens
        self._connect = connect
        self._session: aiohttp.ClientSession | None = None

    async def post(self, url: str, body: Mapping[str, Any]) -> bytes:
        """Return the answer. Raises what `open_stream` does, and `Unavailable` for one that is too
        large.
        """
        async with self.open_stream(url, body) as response:
            return await _read_all(response)

    @asynccontextmanager
    async def open_stream(
        self, url: str, body: Mapping[str, Any], silence: float | None = None
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Open an answer, which may be read as it comes. `silence`: seconds for which it may stay
        silent. Raises what `open_answer` does.
        """
        async with self.open_answer(Sending(url, orjson.dumps(body)), silence) as response:
            yield response

    @asynccontextmanager
    async def open_answer(
        self, sending: Sending, silence: float | None = None
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Open the answer to a request of any method.

        Raises aiohttp.ClientError without an answer, `StatusError`, `RedirectedAway`, TimeoutError
        while not connected or after the silence.
        """
        url = sending.url
        session = self._session = self._session or self._new_session(url)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._connect, sock_read=silence)
        redirects = 0
        if self._tokens:
            await self._tokens.refresh()
        while True:
            request = replace(sending, url=url)
            async with await self._answer(session, request, timeout) as response:
                if response.status < 300:
                    yield response
                    return
                content = await _read_all(response)
            is_redirect = response.status in REDIRECTS and "Location" in response.headers
            if not is_redirect or redirects == MOST_REDIRECTS:
                if self._tokens and response.status == UNAUTHORIZED:
                    self._tokens.forget()
                raise StatusError(response.status, response.headers, content)
            redirects += 1
            url = redirected(url, response.headers["Location"])

    async def _answer(
        self, session: aiohttp.ClientSession, request: Sending, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        """Return an answer that has begun. A kept connection that the server has closed meanwhile
        is no failure: the request goes out again, unless it may go out once only.
        """
        while True:
            kept_connections: list[bool] = []
            try:
                return await session.request(
                    request.method,
                    _exact_url(request.url),
                    data=request.data,
                    headers=self._of_request(request),
                    allow_redirects=False,
                    timeout=timeout,
                    trace_request_ctx=kept_connections,
                )
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
                if not kept_connections or request.once:
                    raise
                if isinstance(error, aiohttp.ClientConnectorError):
                    raise

    async def close(self) -> None:
        """Close the connections."""
        if self._session:
            await self._session.close()

    def _of_request(self, request: Sending) -> Mapping[str, str]:
        headers = dict(self._headers(request.url, request.data))
        if request.content_type:
            headers["Content-Type"] = request.content_type
        if urlsplit(request.url).username:  # an account in the address takes the place of the key
            headers.pop("Authorization", None)
        return headers

    def _new_session(self, url: str) -> aiohttp.ClientSession:
        """Return what sends requests; it belongs to the event loop that runs now."""
        return aiohttp.ClientSession(
            headers={
                "Accept-Encoding": "identity",
                "Content-Type": "application/json",
                "User-Agent": "lightstream",
            },
            proxy=proxy_of(url),
            connector=aiohttp.TCPConnector(
                limit=0, ssl=_certificates(url), resolver=_pinning_resolver()
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            trace_configs=[_noting_kept_connections()],
            max_line_size=LARGEST_HEADER,
            max_field_size=LARGEST_HEADER,
        )


class _PinningResolver(ThreadedResolver):
    def __init__(self, hosts: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._hosts = hosts

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        if host not in self._hosts:
            return await super().resolve(host, port, family)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._hosts[host]
        ]


def _pinning_resolver() -> AbstractResolver | None:
    hosts = PINNED_HOSTS.get({})
    return _PinningResolver(hosts) if hosts else None


def _noting_kept_connections() -> aiohttp.TraceConfig:
    """Return what adds to the list of each request whether its connection was used before."""

    async def note(_: aiohttp.ClientSession, context: Any, __: Any) -> None:
        context.trace_request_ctx.append(True)

    config = aiohttp.TraceConfig()
    config.on_connection_reuseconn.append(note)
    return config


def _certificates(url: str) -> Any:
    if urlsplit(url).scheme != "https":
        return True
    import httpx2  # noqa: PLC0415 - who asks a server without TLS needs none of it

    return httpx2.create_ssl_context()


def _exact_url(url: str) -> URL:
    """Return the address as it goes out, byte for byte where it can: signatures cover it."""
    return URL(url, encoded=url.isascii() and not any(character <= " " for character in url))


def redirected(url: str, location: str) -> str:
    """Return the address that a redirect of `url` names. Raises `RedirectedAway` for one of another
    host.

    Another port is another server; only from http to https of the same host does the port change.
    """
    target = urljoin(url, location)
    before = urlsplit(url)
    after = urlsplit(target)
    is_upgrade = (before.scheme, after.scheme) == ("http", "https")
    same_server = (before.scheme, _port(before)) == (after.scheme, _port(after))
    if before.hostname != after.hostname or not (is_upgrade or same_server):
        raise RedirectedAway(after.netloc.rpartition("@")[2][:100])
    account = before.netloc.rpartition("@")[0]
    if account and "@" not in after.netloc:
        return after._replace(netloc=f"{account}@{after.netloc}").geturl()
    return target


def _port(address: SplitResult) -> int:
    return address.port or (443 if address.scheme == "https" else 80)


def proxy_of(url: str) -> str | None:
    """Return the proxy that the environment names for this address, if it names one."""
    address = urlsplit(url)
    proxies = getproxies()
    if not proxies or proxy_bypass(address.netloc.rpartition("@")[2]):
        return None
    return proxies.get(address.scheme) or proxies.get("all")


async def pieces(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes]:
    """Yield an answer as it comes. Raises `Unavailable` for one that is too large."""
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LARGEST_ANSWER:
            raise Unavailable(f"the provider sent more than {LARGEST_ANSWER} bytes")
        yield part


async def _read_all(response: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for part in pieces(response):
        content += part
    return bytes(content)
