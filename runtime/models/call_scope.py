"""For whom models are called: rate limiters serve workspaces in turn, and drop calls for work that
became obsolete.

What was paid is listed for whoever asked for it.

The scope belongs to the task that sets it, and to the tasks that this one starts.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from contracts.values import DocumentVersion, TokenUsage


async def _always() -> bool:
    return True


@dataclass(frozen=True)
class CallScope:
    """The workspace of a call, and a function that says, when its turn comes, whether it is still
    wanted.
    """

    workspace: str = ""
    is_wanted: Callable[[], Awaitable[bool]] = _always


_scope: ContextVar[CallScope] = ContextVar("call scope")
_NOBODY = CallScope()


def call_scope() -> CallScope:
    """Return the scope of calls made now."""
    return _scope.get(_NOBODY)


_lane: ContextVar[str] = ContextVar("lane", default="")


def turn_key() -> str:
    """Return the key by which calls made now wait for their turn: their workspace, and the lane."""
    return f"{call_scope().workspace}\x1f{_lane.get()}"


@contextmanager
def calls_in_lane(name: str) -> Generator[None]:
    """Let calls inside take turns with those of the same workspace in other lanes, instead of
    standing behind them.
    """
    token = _lane.set(name)
    try:
        yield
    finally:
        _lane.reset(token)


def set_call_scope(workspace: str) -> None:
    """Set the workspace of all further calls of this task."""
    _scope.set(CallScope(workspace))


@contextmanager
def calls_for(
    workspace: str, is_wanted: Callable[[], Awaitable[bool]] = _always
) -> Generator[None]:
    """Set the workspace of calls inside; they raise `NotWanted` if `is_wanted` returns False when
    their turn comes.
    """
    token = _scope.set(CallScope(workspace, is_wanted))
    try:
        yield
    finally:
        _scope.reset(token)


@dataclass(frozen=True)
class CallResult:
    """What a call is made for: the key of a result, and the version of a document."""

    key: str
    document: DocumentVersion


_result: ContextVar[CallResult | None] = ContextVar("result of a call", default=None)


def call_result() -> CallResult | None:
    """Return what calls made now are for; None where nobody said."""
    return _result.get()


@contextmanager
def calls_for_result(key: str, document: DocumentVersion) -> Generator[None]:
    """Say which result the calls inside are for: what is in a batch is found again by its key."""
    token = _result.set(CallResult(key, document))
    try:
        yield
    finally:
        _result.reset(token)


@dataclass(frozen=True)
class PaidCall:
    """One call that a provider has answered, and what it was for."""

    workspace: str
    purpose: str
    model: str
    usage: TokenUsage
    seconds: float


_bill: ContextVar[list[PaidCall] | None] = ContextVar("bill", default=None)
_purpose: ContextVar[str] = ContextVar("purpose", default="")


@contextmanager
def billed_calls() -> Generator[list[PaidCall]]:
    """List the calls that are paid inside, also by tasks that are started there."""
    token = _bill.set(bill := list[PaidCall]())
    try:
        yield bill
    finally:
        _bill.reset(token)


def current_bill() -> list[PaidCall] | None:
    """Return the list that calls of this task are added to; None where none are listed."""
    return _bill.get()


@contextmanager
def calls_to(purpose: str) -> Generator[None]:
    """Say what the calls inside are for."""
    token = _purpose.set(purpose)
    try:
        yield
    finally:
        _purpose.reset(token)


def note_paid(usual_purpose: str, model: str, usage: TokenUsage, seconds: float) -> None:
    """List one call, where calls are billed, under `usual_purpose` unless something else was
    said.
    """
    if (bill := _bill.get()) is not None:
        bill.append(
            PaidCall(call_scope().workspace, _purpose.get() or usual_purpose, model, usage, seconds)
        )
