"""Summaries that are due in a generation that a rebuild has made, and that nothing else would
remind anybody of.
"""

import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass

from contracts import subjects
from contracts.events import Event, GraphMerged
from knowledge.contributions import Key
from runtime.bus.codec import decode
from runtime.bus.parking.port import ParkedEvent, ParkedEvents
from runtime.bus.port import Log
from runtime.errors import NewerVersion, Poison

DURABLE = "merger-summaries"
PAGE = 500


@dataclass(frozen=True)
class Reminder:
    """An event of the log that names things with due summaries."""

    sequence: int
    subject: str
    workspace: str


async def find_reminders(log: Log, due_keys: Mapping[str, Collection[Key]]) -> list[Reminder]:
    """Return for each of these keys, by workspace, the newest event that names it; in the order of
    the log.

    A key that no event names was not merged yet when the rebuild read the log: its event comes.
    """
    newest_reminders: dict[tuple[str, Key], Reminder] = {}
    if any(due_keys.values()):
        async for messages in log.read(0, [subjects.of_type("GraphMerged")], page=PAGE):
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
