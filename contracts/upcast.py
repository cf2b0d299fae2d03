"""Lift the body of an old event one version at a time where it is decoded: inner code knows only
the newest.

A step is pure: the body of version n in, the body of version n + 1 out. A released step is never
edited.
"""

from collections.abc import Callable, Mapping
from typing import Any

Body = dict[str, Any]
Steps = Mapping[tuple[str, int], Callable[[Body], Body]]


def _unchanged(body: Body) -> Body:
    return body


STEPS: Steps = {
    ("GraphEdited", 1): _unchanged,
    ("GraphEdited", 2): _unchanged,
    ("GraphEdited", 3): _unchanged,
}
"""(event type, n) → what makes its version n a version n + 1. GraphEdited 2 knows aliases, 3 undoes
edits, 4 splits.
"""


def upcast(
    event_type: str, version: int, newest_version: int, body: Body, steps: Steps = STEPS
) -> Body:
    """Return the body as the newest version has it.

    Raises LookupError when a step is missing, which a test of the steps rules out for released
    events; ValueError when a step cannot read the body.
    """
    while version < newest_version:
        step = steps[event_type, version]
        try:
            body = step(body)
        except Exception as error:
            raise ValueError(f"not a body of v{version}: {error!r:.200}") from error
        version += 1
    return body
