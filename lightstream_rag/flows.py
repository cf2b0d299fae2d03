"""Describes requests as data, and sequences of them as generators, which both clients run.

A flow yields a `Call`, a `Pause` or a `UseToken`, is sent what the server answered to a call, and
returns its result.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Generic, TypeVar

from pydantic import BaseModel, SecretStr
from pydantic_core import to_jsonable_python

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Upload:
    """A file to send. `open` returns its bytes from the beginning, anew for each attempt."""

    name: str
    open: Callable[[], AbstractContextManager[BinaryIO]]


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request. `parse` makes a value of the body of a successful response, and raises
    ValueError when it cannot.

    `idempotent`: sending it twice is the same as sending it once.
    """

    method: str
    path: str
    parse: Callable[[bytes], T]
    json: Any = None
    form: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    upload: Upload | None = None
    idempotent: bool = False


@dataclass(frozen=True)
class Pause:
    """Tells the client to wait for so many seconds."""

    seconds: float


@dataclass(frozen=True)
class UseToken:
    """Tells the client to send this token from now on."""

    token: SecretStr


Flow = Generator[Call[Any] | Pause | UseToken, Any, T]


def request(call: Call[T]) -> Flow[T]:
    """Return a flow of one request."""
    answer: T = yield call
    return answer


def get(path: str, read: Callable[[bytes], T], **params: Any) -> Flow[T]:
    """Return a flow of one GET, which may be repeated."""
    return request(Call("GET", path, read, params=params, idempotent=True))


def json_body(**fields: Any) -> Any:
    """Return a JSON body of the fields that are not None; times become ISO 8601."""
    return to_jsonable_python({name: value for name, value in fields.items() if value is not None})


def parse_as(model: type[M]) -> Callable[[bytes], M]:
    """Return a function that parses a JSON body as this model."""
    return model.model_validate_json
