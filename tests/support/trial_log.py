"""What a trial service has done, by what stands in the log."""

from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError

from contracts import subjects
from tests.support.nats_server import until


async def until_answered(
    jetstream: JetStreamContext, name: str, event_type: str = "DocumentDeleted"
) -> RawStreamMsg:
    """Wait for the service's event about a document."""
    subject = subjects.subject("trial", name, event_type)

    async def answered() -> bool:
        try:
            await jetstream.get_last_msg("KB_EVENTS", subject)
        except NotFoundError:
            return False
        return True

    await until(answered, f"{event_type} of {name}")
    return await jetstream.get_last_msg("KB_EVENTS", subject)


async def until_acknowledged(jetstream: JetStreamContext, durable: str) -> None:
    """Wait until a durable has nothing left, in the stream or in anybody's hands."""

    async def acknowledged() -> bool:
        info = await jetstream.consumer_info("KB_EVENTS", durable)
        return not info.num_pending and not info.num_ack_pending

    await until(acknowledged, f"{durable} acknowledged everything")
