"""How far the rolling audit of the log is, and what it found: on the bus, for health pages, doctor
and metrics.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from runtime.bus.port import SharedValues
from runtime.errors import Retryable

AUDIT_NOTE = "log: audit"
"""Name of the note on the query service's health page."""

KEY = "rolling-audit"
"""In the bucket of checkpoints."""

MOST_LINKS = 2_000
"""Workspaces up to which the next part goes on where the last one ended; with more each part begins
anew.
"""


@dataclass(frozen=True)
class AuditProgress:
    """The pass under way has audited `position` of the `end` sequences that the log had; both are
    equal when it has come to its end. `place`: the sequence at which it is, where the log has
    several partitions; with one that is its `position`.

    `problems`: what it found, or, before it has found anything, what the last whole pass found.
    `finished_at`: when that ended, in seconds since 1970; 0 before the first has. `links`: the
    chains at `position` as sequence, hash and number of events by workspace. `log`: when the stream
    was created; another one is audited from its beginning.
    """

    log: str = ""
    position: int = 0
    end: int = 0
    finished_at: float = 0.0
    problems: Sequence[str] = ()
    missing: Sequence[int] = ()
    events: int = 0
    links: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    place: int = 0

    @property
    def is_under_way(self) -> bool:
        """Return whether a pass has begun and not ended."""
        return 0 < self.position < self.end

    def __str__(self) -> str:
        # Strangers may read health pages: neither how much the log holds, nor whose events.
        under_way = (
            f"a pass is at {100 * self.position // self.end} %; " if self.is_under_way else ""
        )
        ended_at = f"{datetime.fromtimestamp(self.finished_at, UTC):%Y-%m-%d %H:%M:%S} UTC"
        last_pass = (
            f"the last whole pass ended at {ended_at}"
            if self.finished_at
            else "no pass has ended yet"
        )
        count = len(self.problems)
        result = (
            f"{count} problems were found: `lightstream audit` names them"
            if count
            else "nothing is amiss"
        )
        return f"{under_way}{last_pass}; {result}"


async def read_audit_progress(values: SharedValues) -> AuditProgress | None:
    """Return how far the rolling audit is; None before the first part has ended. Raises
    `Unavailable`.
    """
    value, _ = await values.read(KEY)
    return AuditProgress(**json.loads(value)) if value else None


async def audit_note(values: SharedValues) -> str | None:
    """Return how far the rolling audit is, for people; None where none has begun, or the bus does
    not answer.
    """
    with suppress(Retryable):
        progress = await read_audit_progress(values)
        return str(progress) if progress else None
    return None


async def write_audit_progress(values: SharedValues, progress: AuditProgress | None) -> None:
    """Note how far the rolling audit is; None: it begins anew. Raises `Unavailable`."""
    _, revision = await values.read(KEY)
    await values.write(KEY, json.dumps(asdict(progress)).encode() if progress else b"", revision)
