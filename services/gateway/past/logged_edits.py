"""Reads what people did from the log, above all their edits of the graph."""

from contextlib import aclosing

from contracts.events import Event, GraphEdited
from contracts.moments import microseconds
from knowledge.edit import Edit, edit_of
from runtime.bus.codec import decode
from runtime.bus.port import Log, Message
from runtime.errors import ServiceError
from services.query.errors import BadRequest


async def logged_edits(log: Log, workspace: str, after: int = 0) -> list[Edit]:
    """Return the edits of the graph behind a sequence, in the order of the log. Raises BadRequest
    where one cannot be read, and `Unavailable`.
    """
    edits: list[Edit] = []
    async with aclosing(log.history(workspace, None, GraphEdited.type_name(), after)) as messages:
        async for message in messages:
            event = decoded_event(message)
            if isinstance(event, GraphEdited):
                edits.append(edit_of(message.sequence, microseconds(message.published_at), event))
    return edits


def decoded_event(message: Message) -> Event:
    """Return the event. Raises BadRequest for one that cannot be read."""
    try:
        return decode(message.data, message.subject, message.headers).data
    except ServiceError as error:
        raise BadRequest(
            f"the event at sequence {message.sequence} cannot be read: {error}"
        ) from None
