"""Edits of the graph as events."""

from datetime import UTC, datetime

from contracts.envelope import Envelope, wrap
from contracts.events import Event, GraphEdited
from contracts.ids import event_id, sha256
from contracts.moments import microseconds
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log


async def edit_graph(log: Log, *, workspace: str, edit: GraphEdited, source: str) -> int:
    """Publish an edit of the graph and return its time, in microseconds since 1970, once the log
    has it durably.

    Of the same edit, made several times at the same moment, there is one. Raises `Unavailable`.
    """
    newest_edit = await log.newest(workspace, edit.aggregate_id, edit.type_name())
    before = newest_edit.sequence if newest_edit else 0
    now = datetime.now(UTC)
    envelope: Envelope[Event] = wrap(
        edit,
        id=event_id(
            f"{workspace}/{edit.aggregate_id}/{before}/{sha256(edit.model_dump_json())}",
            edit.type_name(),
        ),
        source=source,
        workspace=workspace,
        time=now,
        lineage=command_lineage(),
    )
    await log.publish(envelope)
    return microseconds(now)
