"""The branches of workspaces, read from the log: each is a workspace that follows another one."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import datetime

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import (
    BRANCH,
    BranchCreated,
    BranchDropped,
    BranchPromoted,
    BranchSettings,
    Event,
)
from contracts.ids import origin_of, sha256
from runtime.bus.codec import decode
from runtime.bus.port import Log, Message
from runtime.errors import NewerVersion, NotFound, Poison


@dataclass(frozen=True)
class Branch:
    """A branch as its log begins. `is_ended`: somebody has dropped it, perhaps not to the end."""

    workspace: str
    event: BranchCreated
    sequence: int
    at: datetime
    actor: str
    is_ended: bool = False

    @property
    def name(self) -> str:
        """Return its name among the branches of its origin."""
        return self.event.name

    @property
    def origin(self) -> str:
        """Return the workspace whose documents it follows."""
        return self.event.origin

    def takes(self, document_id: str) -> bool:
        """Return whether the document is in it: all are, unless it is a sample."""
        return not self.event.sampled_up_to or sha256(document_id) <= self.event.sampled_up_to


async def branch_settings(log: Log, workspace: str) -> BranchSettings | None:
    """Return the settings that this workspace has of its own; None for one that is no branch, or
    whose beginning the replica that is asked does not have yet. Raises `Unavailable`.
    """
    if origin_of(workspace) is None:
        return None
    message = await log.newest(workspace, BRANCH, BranchCreated.type_name(), exact=False)
    event = _event(message) if message else None
    return event.settings if isinstance(event, BranchCreated) else None


async def read_branches(
    log: Log, origin: str | None = None, *, with_ended: bool = False
) -> list[Branch]:
    """Return the branches of a workspace, or of all, oldest first. Raises `Unavailable`."""
    branches: dict[str, Branch] = {}
    async for message, envelope in _branch_events(log):
        workspace, event = envelope.workspace, envelope.data
        if origin_of(workspace) is None or origin not in (None, origin_of(workspace)):
            continue
        if isinstance(event, BranchCreated):
            at = envelope.time or message.published_at
            actor = envelope.actor or ""
            branches[workspace] = Branch(workspace, event, message.sequence, at, actor)
        elif branch := branches.get(workspace):
            branches[workspace] = replace(branch, is_ended=True)
    return [branch for branch in branches.values() if with_ended or not branch.is_ended]


async def _branch_events(log: Log) -> AsyncGenerator[tuple[Message, Envelope[Event]]]:
    """Yield the beginnings of all branches, and behind them the ends, each by a request of its own:
    there are few.
    """
    for kind in (BranchCreated, BranchDropped):
        sequence = 0
        while message := await log.following(sequence, subjects.of_type(kind.type_name())):
            sequence = message.sequence
            try:
                yield message, decode(message.data, message.subject, message.headers)
            except (Poison, NewerVersion):
                continue


async def is_dropped(log: Log, workspace: str) -> bool:
    """Return whether somebody has dropped the branch. Raises `Unavailable`."""
    return await log.newest(workspace, BRANCH, BranchDropped.type_name()) is not None


async def read_branch(log: Log, origin: str, name: str, *, with_ended: bool = False) -> Branch:
    """Return a branch by its name. Raises NotFound where there is none, `Unavailable`."""
    branches = await read_branches(log, origin, with_ended=with_ended)
    for branch in branches:
        if branch.name == name:
            return branch
    names = ", ".join(branch.name for branch in branches)
    raise NotFound(
        f"workspace {origin} has no branch {name!r}; it has {names or 'none: `branch create`'}"
    )


async def promoted_branch(log: Log, origin: str) -> str:
    """Return the name of the branch that answers for this workspace; empty where it does so itself.
    Raises `Unavailable`.
    """
    message = await log.newest(origin, BRANCH, BranchPromoted.type_name())
    event = _event(message) if message else None
    return event.name if isinstance(event, BranchPromoted) else ""


def _event(message: Message) -> Event | None:
    try:
        return decode(message.data, message.subject, message.headers).data
    except (Poison, NewerVersion):
        return None
