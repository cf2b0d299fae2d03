"""Moves a workspace to another partition of the log: what it gets from now on enters that one.

Nothing is copied, for the sequence of an event is its name everywhere: the version of a document,
the guard of a row, a line of a tombstone. So the other partition has to be one of greater
sequences, and readers read one after the other. For the seconds in which the log's end is noted
publishers of the workspace wait; whoever did not hear of the move has what it publishes carried to
the new place (`runtime/bus/nats/carrier.py`).
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import uuid4

from nats.js import JetStreamContext

from contracts import subjects
from contracts.partitions import partition_in, stream_name
from contracts.placements import Placement
from contracts.topology import CHECKPOINTS_BUCKET
from runtime.bus.log_metadata import read_placements, refuse_newer, write_placements
from runtime.bus.nats.carrier import have_carried
from runtime.bus.nats.connection import translated
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log_streams import PLACEMENT_SECONDS, log_streams
from runtime.bus.nats.region import refuse_following
from runtime.errors import ConfigurationError, InvalidInput
from runtime.projections.region_progress import read_followers

WAIT_SECONDS = PLACEMENT_SECONDS + 1.0
"""Seconds after which every process knows that the workspace is being moved."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class PartitionMove:
    """What a move does. `placement`: where the workspace is before it; `events`: how many it has;
    `is_resumed`: whether an earlier run of the same move was stopped.
    """

    workspace: str
    target: int
    placement: Placement
    events: int
    is_resumed: bool = False

    @property
    def is_done(self) -> bool:
        """Return whether the workspace is there already."""
        return self.placement.partition == self.target


async def plan_move(jetstream: JetStreamContext, workspace: str, target: int) -> PartitionMove:
    """Return what a move of a workspace would do, changing nothing.

    Raises InvalidInput for a partition that there is not, or whose sequences are smaller, for one
    that is being moved elsewhere, and while a region follows this one; ConfigurationError for a log
    of one partition; `Unavailable`.
    """
    await refuse_newer(jetstream)
    await refuse_following(jetstream)
    streams = await log_streams(jetstream)
    if streams.count == 1:
        raise ConfigurationError(
            "this log has one partition: a new stack can have several, `lightstream up "
            "--partitions N`"
        )
    if target >= streams.count:
        raise InvalidInput(f"this log has partitions 0 to {streams.count - 1}, and no {target}")
    token = subjects.token(workspace)
    placement = (await read_placements(jetstream)).get(token) or streams.placement(workspace)
    if placement.target not in (None, target):
        raise InvalidInput(
            f"workspace {workspace} is being moved to partition {placement.target}: finish that "
            f"first, `lightstream partition move {workspace} --to {placement.target}`"
        )
    if target < placement.partition:
        greater = ", ".join(map(str, range(placement.partition + 1, streams.count)))
        raise InvalidInput(
            f"workspace {workspace} is in partition {placement.partition}, and sequences of "
            f"partition {target} are smaller: a newer version of a document would count as the "
            f"older one. It can be moved to {greater or 'no other partition'}"
        )
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    if target != placement.partition and (followers := await read_followers(values)):
        regions = ", ".join(follower.region for follower in followers)
        raise InvalidInput(
            f"the region {regions} follows this one, and would not hear of the move: have it "
            "forgotten before (`lightstream region forget`)"
        )
    events = await NatsEventFeed(jetstream).count(subjects.of_workspace(workspace))
    return PartitionMove(workspace, target, placement, events, placement.target is not None)


async def move_workspace(jetstream: JetStreamContext, move: PartitionMove, report: Report) -> int:
    """Move the workspace, and return the sequence up to which its events stand where they were.
    Killed anywhere, it goes on when it is run again: until its last step nothing has moved.

    Raises InvalidInput where another run of the same move has begun since, `Unavailable`.
    """
    token = subjects.token(move.workspace)
    run = uuid4().hex
    began = replace(
        move.placement,
        target=move.target,
        run=run,
        began_at=time.time(),
        workspace=move.workspace,
    )
    await write_placements(jetstream, {**await read_placements(jetstream), token: began})
    report(f"whoever publishes to {move.workspace} waits {WAIT_SECONDS:.0f} s until all know of it")
    await asyncio.sleep(WAIT_SECONDS)
    end = await _left_behind(jetstream, move, token)
    placements = await read_placements(jetstream)
    if placements.get(token) != began:
        raise InvalidInput(f"another run moves workspace {move.workspace} since: see what it says")
    new_placement = Placement(
        (*began.partitions, move.target),
        (*began.ends, end),
        moved_at=time.time(),
        workspace=move.workspace,
    )
    await write_placements(jetstream, {**placements, token: new_placement})
    report(f"events of {move.workspace} enter partition {move.target} from now on")
    return end


async def _left_behind(jetstream: JetStreamContext, move: PartitionMove, token: str) -> int:
    """Have what comes to the partition later carried on, and return the sequence of its end now.
    In this order: no event is behind that end and not carried.
    """
    stream = stream_name(move.placement.partition)
    streams = await log_streams(jetstream)
    partition = partition_in(stream)
    tokens = {
        other_token
        for other_token, placement in streams.placements.items()
        if placement.end_in(partition) is not None
    }
    with translated():
        begin = (await jetstream.stream_info(stream)).state.last_seq
    await have_carried(jetstream, stream, tokens | {token}, begin)
    with translated():
        return (await jetstream.stream_info(stream)).state.last_seq
