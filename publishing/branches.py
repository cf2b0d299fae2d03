"""What is said of branches: each an event with a derived id, so that saying it twice is once."""

import re
from datetime import UTC, datetime

from contracts import subjects
from contracts.envelope import Envelope, wrap
from contracts.events import (
    BRANCH,
    BranchCreated,
    BranchDropped,
    BranchPromoted,
    DocumentAdded,
    Event,
)
from contracts.ids import BRANCH_PATTERN, branch_workspace, event_id, origin_of
from runtime.branches import promoted_branch
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log
from runtime.errors import InvalidInput


async def refuse_name(log: Log, origin: str, name: str) -> None:
    """Raise InvalidInput for a name that a new branch of this workspace cannot have. Raises
    `Unavailable`.
    """
    if not re.match(BRANCH_PATTERN, name):
        raise InvalidInput(f"a branch is called by a-z, 0-9, '_' and '-', at most 32: not {name!r}")
    if origin_of(origin):
        raise InvalidInput(f"{origin} is a branch: branches have none of their own")
    workspace = branch_workspace(origin, name)
    if len(workspace) > 64:
        raise InvalidInput(
            f"the name {workspace} has more than 64 characters: choose a shorter one"
        )
    names = (BranchCreated.type_name(), BranchDropped.type_name(), DocumentAdded.type_name())
    if any([await log.following(0, subjects.of_type_in(workspace, kind)) for kind in names]):
        raise InvalidInput(f"there is, or was, a branch {name!r} of {origin}: a name is used once")


async def refuse_promoted(log: Log, origin: str, name: str) -> None:
    """Raise InvalidInput for a branch that cannot be dropped, since it answers for its origin.
    Raises `Unavailable`.
    """
    if await promoted_branch(log, origin) == name:
        raise InvalidInput(
            f"branch {name} answers for {origin}: `lightstream branch rollback` first"
        )


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
