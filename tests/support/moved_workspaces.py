"""A workspace of a log of several partitions that is moved, and what is published to it."""

from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import Event
from operations.partition_move import PartitionMove, move_workspace, plan_move
from runtime.bus.codec import encode
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Message
from runtime.bus.repetitions import subject_of
from tests.support.events import added, sealed

MOVED = "other"
"""A workspace whose hash names partition 0."""


def ignore(_: object) -> None:
    """Report nothing."""


async def move(jetstream: JetStreamContext, target: int, workspace: str = MOVED) -> PartitionMove:
    plan = await plan_move(jetstream, workspace, target)
    await move_workspace(jetstream, plan, ignore)
    return plan


async def publish(jetstream: JetStreamContext, id: str, text: str = "text") -> int:
    return await NatsLog(jetstream).publish(sealed(added(id, text), id=id, workspace=MOVED))


async def publish_as_another_system(jetstream: JetStreamContext, event: Event, id: str) -> int:
    """Publish to the subject of the event, knowing nothing of partitions."""
    envelope = sealed(event, id=id, workspace=MOVED)
    ack = await jetstream.publish(
        subject_of(envelope), encode(envelope), headers={"Nats-Msg-Id": id}
    )
    return ack.seq


async def read_sequences(jetstream: JetStreamContext, filter: str) -> list[int]:
    return [
        message.sequence async for page in NatsLog(jetstream).read(0, [filter]) for message in page
    ]


def document_tokens(messages: list[Message]) -> list[str]:
    return [subjects.document_token(message.subject) for message in messages]
