"""In whose name a task publishes: carried beside its calls, as the trace is, into the attribute
`actor` of events.
"""

import os
import pwd
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

ACTOR_VARIABLE = "LIGHTSTREAM_ACTOR"
"""Environment variable that names the actor of commands and of the Python client."""

_actor: ContextVar[str | None] = ContextVar("actor", default=None)


@contextmanager
def acting_as(name: str) -> Generator[None]:
    """Publish in this name what is published inside, also by tasks that are started there. It must
    not be a secret.
    """
    token = _actor.set(name)
    try:
        yield
    finally:
        _actor.reset(token)


def current_actor() -> str | None:
    """Return the name that events are published in now; None outside of `acting_as`."""
    return _actor.get()


def local_actor() -> str:
    """Return the actor on this machine: LIGHTSTREAM_ACTOR, else `os:` with the user that the
    process runs as.
    """
    if name := os.environ.get(ACTOR_VARIABLE, "").strip():
        return name
    try:
        return f"os:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        return f"os:{os.getuid()}"
