"""Posts JSON to a provider over connections that are kept.

The `openai` client takes ten times the CPU for a call, and two of them were an eighth of what a question took. What it
streams stays its own.
"""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
import openai
import orjson

from runtime.errors import Unavailable

LARGEST_ANSWER = 32 * 1024 * 1024
"""Bytes of one answer; a provider that sends more is cut off."""

LARGEST_HEADER = 64 * 1024
"""Bytes of one header of an answer: gateways send longer ones than aiohttp takes by default."""


class JsonPosts:
    """Sends what an `openai` client would, to the same address with the same headers, and raises the same errors.

    Proxies and certificates are those that the environment names. `connect`: seconds to reach the provider; the caller
    limits the rest.
    """

    def __init__(self, client: openai.AsyncOpenAI, connect: float) -> None:
        self._client, self._connect = client, connect
        self._session: aiohttp.ClientSession | None = None

    async def post(self, route: str, body: Mapping[str, Any]) -> bytes:
        """Return the answer. Raises openai.APIError without one or for a status of an error, `Unavailable` for one
        that is too large, TimeoutError while not connected."""
        url = f"{self._client.base_url}{route.removeprefix('/')}"
        self._session = self._session or self._opened(url)
        try:
            async with self._session.post(url, data=orjson.dumps(body)) as response:
                content = await _content(response)
        except aiohttp.ClientError as error:
            if isinstance(error, TimeoutError):
                raise
            raise openai.APIConnectionError(request=httpx2.Request("POST", url)) from error
        if response.status >= 400:
            raise _of_status(url, response, content)
        return content

    async def close(self) -> None:
        """Close the connections."""
        if self._session:
            await self._session.close()

    def _opened(self, url: str) -> aiohttp.ClientSession:
        """Return what sends requests; it belongs to the event loop that runs now."""
        address, client = urlsplit(url), self._client
        given = {**client.default_headers, **client.auth_headers}
        headers = {name: text for name, text in given.items() if isinstance(text, str)}
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


def proxy_of(url: str) -> str | None:
    """Return the proxy that the environment names for this address, if it names one."""
    address, proxies = urlsplit(url), getproxies()
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


def _of_status(url: str, response: aiohttp.ClientResponse, content: bytes) -> openai.APIStatusError:
    """Return the error that the client makes of such an answer."""
    of_body = ("content-encoding", "content-length")  # it is decoded by now
    headers = [(name, text) for name, text in response.headers.items() if name.lower() not in of_body]
    request = httpx2.Request("POST", url)
    answer = httpx2.Response(response.status, headers=headers, content=content, request=request)
    try:
        body: Any = orjson.loads(content)
    except ValueError:
        body = answer.text.strip()
    body = _fields(body).get("error", body)
    said = _fields(body).get("message")
    message = f"Error code: {response.status}" + (f" - {said}" if isinstance(said, str) and said else "")
    return openai.APIStatusError(message, response=answer, body=body)


def _fields(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
