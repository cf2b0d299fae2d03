"""Summaries that are due in a generation that a rebuild has made, and that nothing else would
remind anybody of.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from contracts import subjects
from contracts.events import Event, GraphMerged
from contracts.partitions import LogPosition
from knowledge.contributions import Key
from runtime.bus.codec import decode
from runtime.bus.parking.port import ParkedEvent, ParkedEvents
from runtime.bus.port import Log
from runtime.errors import NewerVersion, Poison

DURABLE = "merger-summaries"
PAGE = 500

MAX_FILTERS = 100
"""Workspaces that are read each by a filter of its own; of more, all are read."""


@dataclass(frozen=True)
class Reminder:
    """An event of the log that names things with due summaries."""

    sequence: int
    subject: str
    workspace: str


async def find_reminders(
    log: Log, due_keys: Mapping[str, Collection[Key]], until: LogPosition
) -> list[Reminder]:
    """Return for each of these keys, by workspace, the newest event up to a place that names it; in
    the order of the log.

    A key that no event names was not merged yet where the rebuild stopped reading: its event comes,
    or is read at the promotion.
    """
    newest_reminders: dict[tuple[str, Key], Reminder] = {}
    start = LogPosition.start(len(until.sequences))
    workspaces = [workspace for workspace, keys in due_keys.items() if keys]
    if workspaces:
        filters = _filters(workspaces)
        async for messages in log.read_behind(start, filters, page=PAGE, until=until):
            for message in messages:
                # What nobody can read names nothing.
                with suppress(NewerVersion, Poison):
                    envelope = decode(message.data, message.subject, message.headers)
                    workspace = envelope.workspace
                    due = due_keys.get(envelope.workspace, ())
                    reminder = Reminder(message.sequence, message.subject, workspace)
                    newest_reminders |= {
                        (workspace, key): reminder for key in _keys(envelope.data) if key in due
                    }
    return sorted(set(newest_reminders.values()), key=lambda reminder: reminder.sequence)


def _filters(workspaces: Sequence[str]) -> list[str]:
    """Return the filters of the events that name what was merged in these workspaces."""
    if len(workspaces) > MAX_FILTERS:
        return [subjects.of_type("GraphMerged")]
    return [subjects.of_type_in(workspace, "GraphMerged") for workspace in workspaces]


def _keys(event: Event) -> list[Key]:
    if not isinstance(event, GraphMerged):
        return []
    relations: list[Key] = [(relation.source, relation.target) for relation in event.relations]
    return [(entity.name,) for entity in event.entities] + relations


async def remind(parked_events: ParkedEvents, reminders: Collection[Reminder]) -> None:
    """Have the live services handle these events once more; where one is parked already, nothing
    changes.
    """
    now = time.time()
    for reminder in reminders:
        record = ParkedEvent(
            durable=DURABLE,
            sequence=reminder.sequence,
            subject=reminder.subject,
            reason="retried",
            event_type="GraphMerged",
            workspace=reminder.workspace,
            error="summaries are due since a rebuild",
            parked_at=now,
            not_before=now,
            wait=0.0,
        )
        await parked_events.put(record)
