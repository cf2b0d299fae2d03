"""How many partitions a log is made with, and whether the server knows them."""

from nats.js import JetStreamContext

from contracts import subjects
from contracts.partitions import MAPPED_PREFIX, MAX_PARTITIONS, mapped_subject, server_mapping
from runtime.bus.nats.log_streams import has_log, log_streams
from runtime.errors import ConfigurationError
from runtime.workarounds.nats_py import connection_of

MAPPING_SECONDS = 2.0
"""Seconds until a message that the server maps has to come back."""


async def partitions_to_apply(jetstream: JetStreamContext, wanted: int | None) -> int:
    """Return how many partitions the log has, or is to be made with.

    Raises ConfigurationError where it has another number than is `wanted`, where that is none, and
    where the server does not map what is published to so many.
    """
    if await has_log(jetstream):
        present_count = (await log_streams(jetstream)).count
        if wanted not in (None, present_count):
            raise ConfigurationError(
                f"this log was made with {present_count} partitions and keeps them: {wanted} are "
                "for a new stack, or an empty bus, to which documents are added again"
            )
        return present_count
    count = wanted or 1
    if not 1 <= count <= MAX_PARTITIONS:
        raise ConfigurationError(f"a log has 1 to {MAX_PARTITIONS} partitions, not {wanted}")
    if count > 1:
        await require_mapping(jetstream, count)
    return count


async def require_mapping(jetstream: JetStreamContext, count: int) -> None:
    """Publish where no stream listens yet, and see what becomes of the subject. Raises
    ConfigurationError where the server does not map it to so many partitions.
    """
    client = connection_of(jetstream)
    subject = subjects.MAPPING_TRIAL
    subscription = await client.subscribe(f"{MAPPED_PREFIX}.>")
    try:
        await client.publish(subject, b"")
        message = await subscription.next_msg(MAPPING_SECONDS)
        if message.subject == mapped_subject(subject, count):
            return
    except TimeoutError:
        pass
    finally:
        await subscription.unsubscribe()
    source, target = server_mapping(count)
    raise ConfigurationError(
        f"the server of the bus does not map events to {count} partitions: put this into its "
        f'configuration, in the account of the log: mappings {{ "{source}": "{target}" }}'
    )
