"""Takes back several events as one act: those that are named, and the last deletions of documents
that are named.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowledge.edit import Edit
from runtime.concurrency.bounded_gathering import gather_bounded
from runtime.errors import NotFound
from services.gateway.past.logged_edits import logged_edits
from services.gateway.past.undo import Undo, Undoing
from services.query.errors import BadRequest, Conflict

PARALLEL_EVENTS = 16
"""Events that are planned or published at the same time."""


@dataclass(frozen=True)
class Remainder:
    """An event that is not taken back, and why. `type`: empty where there is none."""

    sequence: int
    type: str
    reason: str


@dataclass(frozen=True)
class CommonUndoing:
    """What takes several events back, newest first, and what stays."""

    undoings: tuple[Undoing, ...]
    remainders: tuple[Remainder, ...]

    @classmethod
    def of(cls, plans: Iterable[Undoing | Remainder | None]) -> "CommonUndoing":
        """Return it of the plans of single events; None where nothing has to be done."""
        needed_plans = [plan for plan in plans if plan]
        needed_plans.sort(key=lambda plan: plan.sequence, reverse=True)
        return cls(
            tuple(plan for plan in needed_plans if isinstance(plan, Undoing)),
            tuple(plan for plan in needed_plans if isinstance(plan, Remainder)),
        )

    async def publish(self, undo: Undo) -> "CommonUndoing":
        """Publish it, and return it with positions.

        Raises Unavailable; after an outage in between, a repetition publishes what is missing.
        """
        undoings = await gather_bounded(undo.publish, self.undoings, at_once=PARALLEL_EVENTS)
        return CommonUndoing(tuple(undoings), self.remainders)


async def plan_events(
    undo: Undo, sequences: Sequence[int], documents: Sequence[str]
) -> CommonUndoing:
    """Return what would be published to take back the events at these sequences, and the last
    deletions of these documents. Raises BadRequest for an edit that cannot be read, Unavailable.
    """
    edits: Sequence[Edit] = ()
    if sequences:
        edits = await logged_edits(undo.log, undo.workspace, min(sequences) - 1)

    async def plan_event(sequence: int) -> Undoing | Remainder:
        event_type = ""
        try:
            event = await undo.event_at(sequence)
            event_type = event.type_name()
            newer_edits = [edit for edit in edits if edit.sequence >= sequence]
            return await undo.plan_of(sequence, event, newer_edits)
        except (BadRequest, Conflict, NotFound) as error:
            return Remainder(sequence, event_type, str(error))

    async def plan_deletion(document: str) -> Undoing | Remainder:
        deletion = await undo.log.newest(undo.workspace, document, "DocumentDeleted")
        if deletion is None:
            return Remainder(0, "", f"document {document!r} was not deleted")
        return await plan_event(deletion.sequence)

    return CommonUndoing.of(
        [
            *await gather_bounded(plan_event, dict.fromkeys(sequences), at_once=PARALLEL_EVENTS),
            *await gather_bounded(plan_deletion, dict.fromkeys(documents), at_once=PARALLEL_EVENTS),
        ]
    )
