"""Where the service is, who asks, and how often: what both clients are made of."""

import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeVar, Unpack

import httpx
from pydantic import SecretStr

from contracts.envelope import WORKSPACE_PATTERN
from lightstream.errors import Misconfigured, ServerFault, TimedOut, Unavailable, of_answer, timed_out, unreachable
from lightstream.flows import Call
from runtime.retries import Attempts, Backoff, parse_retry_after

T = TypeVar("T")

DEFAULT_URL = "http://127.0.0.1:9621"
WORKSPACE_HEADER = "LIGHTRAG-WORKSPACE"
RENEWED = "X-New-Token"

LONGEST_WAIT = 60.0
"""Seconds. Who is told to wait longer is told so by an error, at once."""

BACKOFF = Backoff(first=0.25, longest=5.0)
"""Between two attempts at a request; a server that asks for more with Retry-After gets more."""

CONNECTING = 10.0
"""Seconds until a server that does not take the connection counts as silent."""

NONE = SecretStr("")

_SECRET = re.compile(r"[\x21-\x7e]+")
"""What a header can carry without being changed on the way."""


class Options(TypedDict, total=False):
    """Who asks, and how patiently.

    `api_key`, `token` and `workspace` are those of LIGHTSTREAM_API_KEY (or LIGHTRAG_API_KEY), LIGHTSTREAM_API_TOKEN and
    LIGHTSTREAM_WORKSPACE where they are not given. `timeout`: seconds an answer may take, 300 by default, for a
    language model may be slow. `attempts`: how often a request is sent that may be repeated, 5 by default.
    """

    api_key: str
    token: str
    workspace: str
    timeout: float
    attempts: int


@dataclass(frozen=True)
class Connection:
    """Everything about a connection but the connection itself."""

    url: str = field(repr=False)
    workspace: str = ""
    api_key: SecretStr = NONE
    token: SecretStr = NONE
    timeout: float = 300.0
    attempts: int = 5

    @classmethod
    def of(cls, url: str, **options: Unpack[Options]) -> "Connection":
        """What was given, else what the environment says. Raises `Misconfigured` for what cannot be used."""
        return cls(
            url=_address(url or os.environ.get("LIGHTSTREAM_API_URL", "") or DEFAULT_URL),
            workspace=named(_given(options.get("workspace"), "LIGHTSTREAM_WORKSPACE")),
            api_key=_secret(_given(options.get("api_key"), "LIGHTSTREAM_API_KEY", "LIGHTRAG_API_KEY"), "API key"),
            token=_secret(_given(options.get("token"), "LIGHTSTREAM_API_TOKEN"), "token"),
            timeout=options.get("timeout", cls.timeout),
            attempts=max(1, options.get("attempts", cls.attempts)),
        )

    def settings(self) -> dict[str, Any]:
        """What both of httpx's clients are made with. No proxy is used, whatever the environment names."""
        headers = {
            **({WORKSPACE_HEADER: self.workspace} if self.workspace else {}),
            **({"X-API-Key": self.api_key.get_secret_value()} if self.api_key else {}),
            **(bearer(self.token) if self.token else {}),
        }
        timeout = httpx.Timeout(self.timeout, connect=CONNECTING)
        return {"base_url": self.url, "headers": headers, "timeout": timeout, "trust_env": False}

    def trials(self, call: Call[Any]) -> Attempts:
        """The attempts at a call: one for what must not be repeated."""
        return BACKOFF.attempts(again, self.attempts if call.repeatable else 1)


def named(workspace: str) -> str:
    """The name, which may be empty. Raises `Misconfigured` for what no workspace is called."""
    if workspace and not re.match(WORKSPACE_PATTERN, workspace):
        raise Misconfigured("a workspace has 1 to 64 letters, digits, '.', '_' or '-', and begins with no mark nor x-")
    return workspace


def again(error: Exception) -> bool:
    """Return whether to ask again after this error."""
    # An answer that takes too long is no reason to ask again: the service may still be at it.
    if not isinstance(error, Unavailable) or isinstance(error, TimedOut):
        return False
    return (error.retry_after or 0.0) <= LONGEST_WAIT


def bearer(token: SecretStr) -> dict[str, str]:
    """The header of a token."""
    return {"Authorization": f"Bearer {token.get_secret_value()}"}


def adopt(headers: httpx.Headers, response: httpx.Response) -> None:
    """Go on with the new token of an answer, if we sent the old one."""
    if (new := response.headers.get(RENEWED)) and "Authorization" in headers:
        headers["Authorization"] = f"Bearer {new}"


@contextmanager
def request_of(call: Call[Any]) -> Generator[Mapping[str, Any]]:
    """The call as httpx takes it; its file is open for as long as the block lasts."""
    given = {"method": call.method, "url": call.path, "params": call.params or None, "headers": call.headers}
    if call.upload is None:
        yield {**given, "json": call.json, "data": call.form or None}
        return
    with call.upload.opened() as file:
        yield {**given, "data": call.form or None, "files": {"file": (call.upload.name, file)}}


@contextmanager
def reaching(path: str) -> Generator[None]:
    """Turns what httpx raises into errors of ours."""
    try:
        yield
    except (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout) as error:
        raise timed_out(path, error) from None
    except httpx.HTTPError as error:
        raise unreachable(path, error) from None


def check(call: Call[Any], response: httpx.Response) -> None:
    """Raise what an answer tells of, once it is read, unless it is a good one."""
    if response.is_success:
        return
    try:
        body: object = response.json()
    except ValueError:
        body = None
    raise of_answer(call.path, response.status_code, body, parse_retry_after(response.headers.get("Retry-After")))


def read(call: Call[T], response: httpx.Response) -> T:
    """The value of a good answer. Raises `ServerFault` when it is nothing that Lightstream says."""
    try:
        return call.read(response.content)
    except ValueError:
        raise ServerFault(f"{call.path}: the answer is not Lightstream's; is the address right?") from None


def _given(value: str | None, *variables: str) -> str:
    return value if value is not None else next((found for name in variables if (found := os.environ.get(name))), "")


def _secret(value: str, what: str) -> SecretStr:
    if value and not _SECRET.fullmatch(value):
        raise Misconfigured(f"the {what} has characters that no header can carry")
    return SecretStr(value)


def _address(url: str) -> str:
    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parts = httpx.URL("")
    if parts.scheme not in {"http", "https"} or not parts.host or parts.userinfo:
        raise Misconfigured("the address must be like http://127.0.0.1:9621, without a user; give a key as api_key")
    return url
