"""Requests as data, and several of them in a row as a generator: written once, sent by both clients.

A flow yields a `Call`, a `Pause` or a `SignedIn`, is sent what the server answered to a call, and returns its result.
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
    """A file to send. `opened` gives its bytes from the beginning, anew for each attempt."""

    name: str
    opened: Callable[[], AbstractContextManager[BinaryIO]]


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request. `read` makes a value of the body of a good answer, and raises ValueError when it cannot.

    `repeatable`: sending it twice is the same as sending it once.
    """

    method: str
    path: str
    read: Callable[[bytes], T]
    json: Any = None
    form: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    upload: Upload | None = None
    repeatable: bool = False


@dataclass(frozen=True)
class Pause:
    """Seconds to wait."""

    seconds: float


@dataclass(frozen=True)
class SignedIn:
    """From now on the client sends this token."""

    token: SecretStr


Flow = Generator[Call[Any] | Pause | SignedIn, Any, T]


def ask(call: Call[T]) -> Flow[T]:
    """A flow of one request."""
    answer: T = yield call
    return answer


def get(path: str, read: Callable[[bytes], T], **params: Any) -> Flow[T]:
    """A flow of one GET, which may be repeated."""
    return ask(Call("GET", path, read, params=params, repeatable=True))


def body(**fields: Any) -> Any:
    """A JSON body of what is not None; times become ISO 8601."""
    return to_jsonable_python({name: value for name, value in fields.items() if value is not None})


def into(model: type[M]) -> Callable[[bytes], M]:
    """Reads a body as this model."""
    return model.model_validate_json
