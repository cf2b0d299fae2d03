"""Makes streams, durables and bucket as `contracts/topology.py` declares them, or says where they differ."""

from dataclasses import fields
from typing import Any

from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    KeyValueConfig,
    RetentionPolicy,
    StorageType,
    StoreCompression,
    StreamConfig,
)
from nats.js.errors import NotFoundError

from contracts.topology import BUCKETS, CONSUMERS, STREAMS, Bucket, Consumer, Stream


def stream_config(stream: Stream, replicas: int = 1) -> StreamConfig:
    """Return the server's configuration of a stream."""
    return StreamConfig(
        name=stream.name,
        description=stream.why,
        subjects=list(stream.subjects),
        retention=RetentionPolicy.LIMITS,
        discard=DiscardPolicy.NEW,
        discard_new_per_subject=stream.discard_new_per_subject,
        max_age=stream.max_age,
        max_bytes=stream.max_bytes,
        max_msgs_per_subject=stream.max_msgs_per_subject,
        max_msg_size=stream.max_msg_size,
        storage=StorageType.FILE,
        num_replicas=replicas,
        duplicate_window=stream.duplicate_window,
        compression=StoreCompression.S2 if stream.compressed else StoreCompression.NONE,
        allow_msg_ttl=stream.message_ttl,
        # Deletions are not denied: an erasure overwrites messages by them, and permissions say who may.
        deny_purge=False,
        allow_direct=True,
        # Set although they are the server's defaults: fields that are not set are not compared, and each loses events.
        max_msgs=-1,
        no_ack=False,
        sealed=False,
        persist_mode="",  # pyright: ignore[reportArgumentType] - the server names the mode only where it is "async"
    )


def durable_config(durable: Consumer) -> ConsumerConfig:
    """Return the server's configuration of a durable.

    Deliveries have no limit: giving up is the event processor's decision, and never silent.
    """
    return ConsumerConfig(
        durable_name=durable.name,
        description=durable.why,
        deliver_policy=DeliverPolicy.ALL,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=durable.ack_wait,
        max_deliver=-1,
        max_ack_pending=durable.max_ack_pending,
        filter_subject=durable.filters[0] if len(durable.filters) == 1 else None,
        filter_subjects=list(durable.filters) if len(durable.filters) > 1 else None,
        # Set although they are the server's defaults: fields that are not set are not compared, and each loses events.
        deliver_subject="",
        backoff=[],
        inactive_threshold=0.0,
        headers_only=False,
        mem_storage=False,
    )


def _differences(name: str, wanted: StreamConfig | ConsumerConfig, found: StreamConfig | ConsumerConfig) -> list[str]:
    """Return the fields we set in which the server differs. An empty value and an absent one are the same."""
    values = [(field.name, getattr(wanted, field.name), getattr(found, field.name)) for field in fields(wanted)]
    return [
        f"{name}: {field} is {_shown(has)}, declared {_shown(wants)}"
        for field, wants, has in values
        if wants is not None and (wants or None) != (has or None)
    ]


def _keeping_denial(wanted: StreamConfig, found: StreamConfig) -> StreamConfig:
    """Return the configuration with the denial of deletions of a stream that an older version made.

    The server never takes it back, and all but an erasure goes on as before.
    """
    return wanted.evolve(deny_delete=found.deny_delete)


def _shown(value: Any) -> Any:
    return getattr(value, "value", value)


async def apply(jetstream: JetStreamContext, replicas: int = 1) -> list[str]:
    """Create what is missing, change what differs, and return a line for each thing done.

    Raises the server's APIError where a difference cannot be changed in place (retention, storage).
    """
    changes: list[str] = []
    for stream in STREAMS:
        config = stream_config(stream, replicas)
        try:
            current = (await jetstream.stream_info(stream.name)).config
        except NotFoundError:
            await jetstream.add_stream(config)
            changes.append(f"created stream {stream.name}")
            continue
        wanted = _keeping_denial(config, current)
        if differences := _differences(stream.name, wanted, current):
            await jetstream.update_stream(wanted)
            changes += [f"changed {difference}" for difference in differences]
    for durable in CONSUMERS:
        wanted_durable = durable_config(durable)
        try:
            has = (await jetstream.consumer_info(durable.stream, durable.name)).config
        except NotFoundError:
            await jetstream.add_consumer(durable.stream, wanted_durable)
            changes.append(f"created durable {durable.name}")
            continue
        if differences := _differences(durable.name, wanted_durable, has):
            await jetstream.add_consumer(durable.stream, wanted_durable)
            changes += [f"changed {difference}" for difference in differences]
    for bucket in await _missing(jetstream):
        await jetstream.create_key_value(
            KeyValueConfig(
                bucket.name, description=bucket.why, history=bucket.history, ttl=bucket.ttl, replicas=replicas
            )
        )
        changes.append(f"created bucket {bucket.name}")
    return changes + await _without_rollups(jetstream)


async def _without_rollups(jetstream: JetStreamContext) -> list[str]:
    """Have no message replace all keys of a bucket: whoever may write one key could empty it (`Nats-Rollup: all`)."""
    changes: list[str] = []
    for bucket in BUCKETS:
        config = (await jetstream.stream_info(f"KV_{bucket.name}")).config
        if config.allow_rollup_hdrs:
            await jetstream.update_stream(config.evolve(allow_rollup_hdrs=False))
            changes.append(f"changed bucket {bucket.name}: no key replaces the others")
    return changes


async def _missing(jetstream: JetStreamContext) -> list[Bucket]:
    buckets: list[Bucket] = []
    for bucket in BUCKETS:
        try:
            await jetstream.key_value(bucket.name)
        except NotFoundError:
            buckets.append(bucket)
    return buckets


async def check(
    jetstream: JetStreamContext, durables: tuple[Consumer, ...] = CONSUMERS, replicas: int = 1
) -> list[str]:
    """Return where the server differs from the declaration; empty when it does not."""
    problems: list[str] = []
    for stream in STREAMS:
        try:
            current = (await jetstream.stream_info(stream.name)).config
        except NotFoundError:
            problems.append(f"stream {stream.name} does not exist")
        else:
            wanted = _keeping_denial(stream_config(stream, replicas), current)
            problems += _differences(stream.name, wanted, current)
    for durable in durables:
        try:
            has = (await jetstream.consumer_info(durable.stream, durable.name)).config
        except NotFoundError:
            problems.append(f"durable {durable.name} does not exist")
        else:
            problems += _differences(durable.name, durable_config(durable), has)
    return problems + [f"bucket {bucket.name} does not exist" for bucket in await _missing(jetstream)]
