"""What is said of branches: each an event with a derived id, so that saying it twice is once."""

from datetime import UTC, datetime

from contracts.envelope import Envelope, wrap
from contracts.events import BRANCH, BranchPromoted, Event
from contracts.ids import event_id
from runtime.branches import promoted_branch
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log
from runtime.errors import InvalidInput


async def publish_branch_event(log: Log, workspace: str, event: Event, source: str) -> int:
    """Publish what is said of a branch, in the name of who acts now, and return its sequence.
    Raises `Unavailable`.
    """
    newest_event = await log.newest(workspace, BRANCH, event.type_name())
    sequence = newest_event.sequence if newest_event else 0
    envelope: Envelope[Event] = wrap(
        event,
        id=event_id(f"{workspace}/{sequence}", event.type_name()),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    return await log.publish(envelope)


async def roll_back(log: Log, origin: str, reason: str, source: str) -> str:
    """Let the workspace answer itself again, and return which branch did. Raises InvalidInput where
    none does, `Unavailable`.
    """
    name = await promoted_branch(log, origin)
    if not name:
        raise InvalidInput(f"no branch of {origin} is promoted")
    await publish_branch_event(log, origin, BranchPromoted(reason=reason), source)
    return name
