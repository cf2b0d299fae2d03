"""Old words made new, one version at a time, at the door: inner code knows only the newest.

A step is pure: the body of version n in, the body of version n + 1 out. A released step is never edited.
"""

from collections.abc import Callable, Mapping
from typing import Any

Body = dict[str, Any]
Steps = Mapping[tuple[str, int], Callable[[Body], Body]]

STEPS: Steps = {}
"""(event type, n) → what makes its version n a version n + 1. Empty: every event is at version 1."""


def upcast(event_type: str, version: int, newest: int, body: Body, steps: Steps = STEPS) -> Body:
    """The body as the newest version has it.

    Raises LookupError when a step is missing, which a test of the steps rules out for released events.
    """
    while version < newest:
        body = steps[event_type, version](body)
        version += 1
    return body
