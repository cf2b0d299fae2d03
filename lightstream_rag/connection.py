"""The address, credentials and retries of a client, which the synchronous and the asyncio client
share.
"""

import os
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeVar, Unpack

from pydantic import SecretStr

from contracts.ids import WORKSPACE_PATTERN
from lightstream_rag.errors import (
    Misconfigured,
    ServerFault,
    TimedOut,
    Unavailable,
    connection_error,
    error_of_response,
    timeout_error,
)
from lightstream_rag.flows import Call
from runtime.retries import Attempts, Backoff, parse_retry_after
from runtime.workarounds.httpx import httpx

T = TypeVar("T")

DEFAULT_URL = "http://127.0.0.1:9621"
ON_BEHALF_HEADER = "X-On-Behalf-Of"
WORKSPACE_HEADER = "LIGHTRAG-WORKSPACE"
RENEWED_HEADER = "X-New-Token"

MAX_RETRY_AFTER = 60.0
"""Seconds. A Retry-After that is longer is raised as an error at once."""

BACKOFF = Backoff(first=0.25, longest=5.0)
"""Seconds between two attempts at a request; a longer Retry-After of the server takes
precedence.
"""

CONNECT_TIMEOUT = 10.0
"""Seconds to wait for a connection to be accepted."""

NO_SECRET = SecretStr("")

_SECRET = re.compile(r"[\x21-\x7e]+")
"""Printable ASCII without spaces, which a header carries unchanged."""


class ConnectionOptions(TypedDict, total=False):
    """Credentials, timeout and retries of a client.

    `api_key`, `token` and `workspace` are those of LIGHTSTREAM_API_KEY (or LIGHTRAG_API_KEY),
    LIGHTSTREAM_API_TOKEN and LIGHTSTREAM_WORKSPACE where they are not given. `timeout`: seconds an
    answer may take, 300 by default, for a language model may be slow. `attempts`: how often a
    request is sent that may be repeated, 5 by default. `on_behalf_of`: principals such as
    `user:ann`, whose documents are read, where the key asks for others.
    """

    api_key: str
    token: str
    workspace: str
    timeout: float
    attempts: int
    on_behalf_of: Sequence[str]


@dataclass(frozen=True)
class Connection:
    """The settings of a client, without an open connection."""

    url: str = field(repr=False)
    workspace: str = ""
    api_key: SecretStr = NO_SECRET
    token: SecretStr = NO_SECRET
    timeout: float = 300.0
    attempts: int = 5
    on_behalf_of: tuple[str, ...] = ()

    @classmethod
    def of(cls, url: str, **options: Unpack[ConnectionOptions]) -> "Connection":
        """Return the given settings, else the environment's. Raises `Misconfigured` for values that
        cannot be used.
        """
        return cls(
            url=_address(url or os.environ.get("LIGHTSTREAM_API_URL", "") or DEFAULT_URL),
            workspace=checked_workspace(_option(options.get("workspace"), "LIGHTSTREAM_WORKSPACE")),
            api_key=_secret(
                _option(options.get("api_key"), "LIGHTSTREAM_API_KEY", "LIGHTRAG_API_KEY"),
                "API key",
            ),
            token=_secret(_option(options.get("token"), "LIGHTSTREAM_API_TOKEN"), "token"),
            timeout=options.get("timeout", cls.timeout),
            attempts=max(1, options.get("attempts", cls.attempts)),
            on_behalf_of=tuple(options.get("on_behalf_of", ())),
        )

    def httpx_arguments(self) -> dict[str, Any]:
        """Return the arguments of both of httpx's clients. No proxy is used, whatever the
        environment names.
        """
        headers = {
            **({WORKSPACE_HEADER: self.workspace} if self.workspace else {}),
            **({"X-API-Key": self.api_key.get_secret_value()} if self.api_key else {}),
            **(bearer(self.token) if self.token else {}),
            **({ON_BEHALF_HEADER: ", ".join(self.on_behalf_of)} if self.on_behalf_of else {}),
        }
        return {
            "base_url": self.url,
            "headers": headers,
            "timeout": httpx.Timeout(self.timeout, connect=CONNECT_TIMEOUT),
            "trust_env": False,
            # Authorities are loaded, in 22 ms, for whoever shows a certificate. No redirect is
            # followed to one.
            "verify": not self.url.startswith("http:"),
        }

    def retries(self, call: Call[Any]) -> Attempts:
        """Return the attempts at a call: only one for a call that must not be repeated."""
        return BACKOFF.attempts(may_succeed_later, self.attempts if call.idempotent else 1)


def checked_workspace(workspace: str) -> str:
    """Return the name, which may be empty. Raises `Misconfigured` for a name that no workspace can
    have.
    """
    if workspace and not re.match(WORKSPACE_PATTERN, workspace):
        raise Misconfigured(
            "a workspace has 1 to 64 letters, digits, '.', '_' or '-', and begins with no "
            "mark nor x-"
        )
    return workspace


def may_succeed_later(error: Exception) -> bool:
    """Return whether to ask again after this error."""
    # An answer that takes too long is no reason to ask again: the service may still be at it.
    if not isinstance(error, Unavailable) or isinstance(error, TimedOut):
        return False
    return (error.retry_after or 0.0) <= MAX_RETRY_AFTER


def bearer(token: SecretStr) -> dict[str, str]:
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {token.get_secret_value()}"}


def adopt_renewed_token(headers: httpx.Headers, response: httpx.Response) -> None:
    """Send the renewed token of a response from now on, if the old one was sent."""
    if (new_token := response.headers.get(RENEWED_HEADER)) and "Authorization" in headers:
        headers["Authorization"] = f"Bearer {new_token}"


@contextmanager
def request_of(call: Call[Any]) -> Generator[Mapping[str, Any]]:
    """Yield the arguments of httpx for a call; the file of an upload is open until the block
    ends.
    """
    arguments = {
        "method": call.method,
        "url": call.path,
        "params": call.params or None,
        "headers": call.headers,
    }
    if call.upload is None:
        yield {**arguments, "json": call.json, "data": call.form or None}
        return
    with call.upload.open() as file:
        yield {**arguments, "data": call.form or None, "files": {"file": (call.upload.name, file)}}


@contextmanager
def translating_httpx_errors(path: str) -> Generator[None]:
    """Translate errors of httpx into those of `lightstream_rag.errors`."""
    try:
        yield
    except (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout) as error:
        raise timeout_error(path, error) from None
    except httpx.HTTPError as error:
        raise connection_error(path, error) from None


def raise_for_error(call: Call[Any], response: httpx.Response) -> None:
    """Raise the error of a response that was read, unless it is a success."""
    if response.is_success:
        return
    try:
        body: object = response.json()
    except ValueError:
        body = None
    wait = parse_retry_after(response.headers.get("Retry-After"), date=response.headers.get("Date"))
    raise error_of_response(call.path, response.status_code, body, wait)


def parse_answer(call: Call[T], response: httpx.Response) -> T:
    """Return the value of a successful response. Raises `ServerFault` when Lightstream cannot have
    sent it.
    """
    try:
        return call.parse(response.content)
    except ValueError:
        raise ServerFault(
            f"{call.path}: the answer is not Lightstream's; is the address right?"
        ) from None


def _option(value: str | None, *variables: str) -> str:
    if value is not None:
        return value
    return next((setting for name in variables if (setting := os.environ.get(name))), "")


def _secret(value: str, title: str) -> SecretStr:
    if value and not _SECRET.fullmatch(value):
        raise Misconfigured(f"the {title} has characters that no header can carry")
    return SecretStr(value)


def _address(url: str) -> str:
    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parts = httpx.URL("")
    if parts.scheme not in {"http", "https"} or not parts.host or parts.userinfo:
        raise Misconfigured(
            "the address must be like http://127.0.0.1:9621, without a user; give a key as api_key"
        )
    return url
