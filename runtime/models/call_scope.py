"""For whom models are called: a guard serves workspaces in turn, and lets nobody pay for what is not wanted any more.

It goes with the task that sets it, and with those that this one starts.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


async def _always() -> bool:
    return True


@dataclass(frozen=True)
class CallScope:
    """The workspace that a call is for, and a question that is asked when its turn has come: is it still wanted?"""

    workspace: str = ""
    wanted: Callable[[], Awaitable[bool]] = _always


_scope: ContextVar[CallScope] = ContextVar("call scope")
_NOBODY = CallScope()


def call_scope() -> CallScope:
    """The scope of calls made now."""
    return _scope.get(_NOBODY)


def set_call_scope(workspace: str) -> None:
    """Calls of this task are for that workspace from now on."""
    _scope.set(CallScope(workspace))


@contextmanager
def calls_for(workspace: str, wanted: Callable[[], Awaitable[bool]] = _always) -> Generator[None]:
    """Calls inside are for that workspace, and raise `NotWanted` where `wanted` says no when their turn has come."""
    token = _scope.set(CallScope(workspace, wanted))
    try:
        yield
    finally:
        _scope.reset(token)
