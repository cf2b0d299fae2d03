"""What people state of documents after they were added, as events: when they hold and what they
supersede, and their tags.
"""

import asyncio
from datetime import UTC, datetime

from contracts.envelope import Envelope, wrap
from contracts.events import Event, SupersessionStated, TagsChanged
from contracts.ids import event_id, sha256
from publishing.current_version import current_version, existing_id
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log

Statement = SupersessionStated | TagsChanged


async def publish_statement(
    log: Log, *, workspace: str, statement: Statement, source: str
) -> int | None:
    """Publish the statement and return its sequence once the log has it; None where the log has no
    such document. Raises Unavailable.
    """
    id = await existing_id(log, workspace=workspace, id=statement.document_id)
    event = statement.model_copy(update={"document_id": id})
    version, earlier = await asyncio.gather(
        current_version(log, workspace, id), log.newest(workspace, id, event.type_name())
    )
    if version.event is None:
        return None
    # What was stated before is part of the id: a statement that comes back is a new event.
    before = earlier.sequence if earlier else 0
    envelope: Envelope[Event] = wrap(
        event,
        id=event_id(
            f"{workspace}/{id}/{before}/{sha256(event.model_dump_json())}", event.type_name()
        ),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    return await log.publish(envelope)
