"""Requests to web servers, as sources make them: bounded, and with errors that say the way out."""

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from operations.sources.secrets import PASSWORD, USER, credentials
from runtime.errors import InvalidInput, Unavailable
from runtime.parsing.files import refuse_larger
from runtime.version import VERSION
from runtime.workarounds.httpx import without_command_line

if TYPE_CHECKING:
    import httpx

TIMEOUT = 30.0
"""Seconds a server may be silent."""


class WebAnswer(NamedTuple):
    """What a server gave: bytes, media type and encoding as it names them, and the last address."""

    data: bytes
    media_type: str
    encoding: str
    url: str


def web_client() -> "httpx.AsyncClient":
    """Return a client that says who it is, with the credentials of the environment."""
    with without_command_line():
        import httpx  # noqa: PLC0415

    user, password = credentials()
    return httpx.AsyncClient(
        follow_redirects=True,
        timeout=TIMEOUT,
        headers={"User-Agent": f"lightstream-rag/{VERSION} (sync)"},
        auth=httpx.BasicAuth(user, password) if password else None,
    )


async def fetch(client: "httpx.AsyncClient", url: str) -> WebAnswer:
    """Return what stands at an address. Raises InvalidInput for one that is not there, refuses or
    is too large, Unavailable for a server that does not answer.
    """
    import httpx  # noqa: PLC0415

    data = bytearray()
    try:
        async with client.stream("GET", url) as response:
            _refuse_status(url, response.status_code)
            async for part in response.aiter_bytes():
                data += part
                refuse_larger(len(data), url)
            media_type, _, parameters = response.headers.get("content-type", "").partition(";")
            encoding = parameters.partition("charset=")[2].strip().strip('"')
            return WebAnswer(bytes(data), media_type.strip().lower(), encoding, str(response.url))
    except httpx.InvalidURL:
        raise InvalidInput(f"{url} is no address of a web server") from None
    except httpx.HTTPError as error:
        raise Unavailable(f"{url} does not answer: {type(error).__name__}") from None


def _refuse_status(url: str, status: int) -> None:
    if status == 429 or status >= 500:
        raise Unavailable(f"{url} answers {status}")
    if status in (401, 403):
        raise InvalidInput(f"{url} answers {status}: set {USER} and {PASSWORD}, if it wants them")
    if status >= 400:
        raise InvalidInput(f"{url} answers {status}: check the address")


def host_of(url: str) -> str:
    """Return the host of an address, without a leading `www.`."""
    return (urlsplit(url).hostname or "").removeprefix("www.")
