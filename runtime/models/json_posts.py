"""Posts JSON to a provider over connections that are kept.

The `openai` client takes ten times the CPU for a call, and two of them were an eighth of what a
question took. What it streams stays its own.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
import openai
import orjson
from multidict import CIMultiDictProxy

from runtime.errors import Unavailable

LARGEST_ANSWER = 32 * 1024 * 1024
"""Bytes of one answer; a provider that sends more is cut off."""

LARGEST_HEADER = 64 * 1024
"""Bytes of one header of an answer: gateways send longer ones than aiohttp takes by default."""

MOST_REDIRECTS = 3
"""Redirects of one request that are followed, all of them on the same host."""

REDIRECTS = (301, 302, 307, 308)


class RedirectedAway(openai.OpenAIError):
    """The provider redirects to another host, which nobody has named: it would be sent the
    texts.
    """

    def __init__(self, host: str) -> None:
        super().__init__(f"it redirects to {host}, which no setting names")
        self.host = host


class JsonPosts:
    """Sends what an `openai` client would, to the same address with the same headers, and raises
    the same errors.

    Proxies and certificates are those that the environment names. `connect`: seconds to reach the
    provider; the caller limits the rest.
    """

    def __init__(self, client: openai.AsyncOpenAI, connect: float) -> None:
        self._client = client
        self._connect = connect
        self._session: aiohttp.ClientSession | None = None

    async def post(self, route: str, body: Mapping[str, Any]) -> bytes:
        """Return the answer. Raises openai.APIError without one or for a status of an error,
        `RedirectedAway`, `Unavailable` for one that is too large, TimeoutError while not connected.
        """
        url = f"{self._client.base_url}{route.removeprefix('/')}"
        self._session = self._session or self._opened(url)
        data = orjson.dumps(body)
        try:
            status, headers, content = await self._sent(self._session, url, data)
            for _ in range(MOST_REDIRECTS):
                if status not in REDIRECTS or "Location" not in headers:
                    break
                url = redirected(url, headers["Location"])
                status, headers, content = await self._sent(self._session, url, data)
        except aiohttp.ClientError as error:
            if isinstance(error, TimeoutError):
                raise
            raise openai.APIConnectionError(request=httpx2.Request("POST", url)) from error
        if status >= 300:
            raise _of_status(url, status, headers, content)
        return content

    async def _sent(
        self, session: aiohttp.ClientSession, url: str, data: bytes
    ) -> tuple[int, CIMultiDictProxy[str], bytes]:
        async with session.post(url, data=data, allow_redirects=False) as response:
            return response.status, response.headers, await _content(response)

    async def close(self) -> None:
        """Close the connections."""
        if self._session:
            await self._session.close()

    def _opened(self, url: str) -> aiohttp.ClientSession:
        """Return what sends requests; it belongs to the event loop that runs now."""
        address = urlsplit(url)
        client = self._client
        header_values = {**client.default_headers, **client.auth_headers}
        headers = {name: text for name, text in header_values.items() if isinstance(text, str)}
        if address.username:  # an account in the address takes the place of the key
            headers.pop("Authorization", None)
        certificates = httpx2.create_ssl_context() if address.scheme == "https" else True
        return aiohttp.ClientSession(
            headers=headers,
            proxy=proxy_of(url),
            connector=aiohttp.TCPConnector(limit=0, ssl=certificates),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect),
            max_line_size=LARGEST_HEADER,
            max_field_size=LARGEST_HEADER,
        )


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


async def _content(response: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for part in response.content.iter_any():
        content += part
        if len(content) > LARGEST_ANSWER:
            raise Unavailable(f"the provider sent more than {LARGEST_ANSWER} bytes")
    return bytes(content)


def _of_status(
    url: str, status: int, headers: CIMultiDictProxy[str], content: bytes
) -> openai.APIStatusError:
    """Return the error that the client makes of such an answer."""
    of_body = ("content-encoding", "content-length")  # it is decoded by now
    other_headers = [(name, text) for name, text in headers.items() if name.lower() not in of_body]
    request = httpx2.Request("POST", url)
    answer = httpx2.Response(status, headers=other_headers, content=content, request=request)
    return openai.APIStatusError(f"HTTP {status}", response=answer, body=None)
