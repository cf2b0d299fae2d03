"""For whom models are called: rate limiters serve workspaces in turn, and drop calls for work that became obsolete.

The scope belongs to the task that sets it, and to the tasks that this one starts.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from contracts.values import TokenUsage


async def _always() -> bool:
    return True


@dataclass(frozen=True)
class CallScope:
    """The workspace of a call, and a function that says, when its turn comes, whether it is still wanted."""

    workspace: str = ""
    wanted: Callable[[], Awaitable[bool]] = _always


_scope: ContextVar[CallScope] = ContextVar("call scope")
_NOBODY = CallScope()


def call_scope() -> CallScope:
    """Return the scope of calls made now."""
    return _scope.get(_NOBODY)


def set_call_scope(workspace: str) -> None:
    """Set the workspace of all further calls of this task."""
    _scope.set(CallScope(workspace))


@contextmanager
def calls_for(workspace: str, wanted: Callable[[], Awaitable[bool]] = _always) -> Generator[None]:
    """Set the workspace of calls inside; they raise `NotWanted` if `wanted` returns False when their turn comes."""
    token = _scope.set(CallScope(workspace, wanted))
    try:
        yield
    finally:
        _scope.reset(token)


@dataclass
class UsageMeter:
    """What providers counted for calls inside a block, also for those of tasks that were started there."""

    usage: TokenUsage = field(default_factory=TokenUsage)


_meter: ContextVar[UsageMeter | None] = ContextVar("usage meter", default=None)


@contextmanager
def metered_calls() -> Generator[UsageMeter]:
    """Count what the calls inside take."""
    token = _meter.set(meter := UsageMeter())
    try:
        yield meter
    finally:
        _meter.reset(token)


def note_usage(usage: TokenUsage) -> None:
    """Count one call that a provider has answered."""
    if meter := _meter.get():
        meter.usage += usage
