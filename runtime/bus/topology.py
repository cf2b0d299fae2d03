"""Makes streams, durables and buckets as `contracts/topology.py` declares them, or says where they
differ.
"""

from collections.abc import Iterator
from dataclasses import fields
from itertools import chain
from typing import Any

from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StoreCompression,
    StreamConfig,
    StreamSource,
    SubjectTransform,
)
from nats.js.errors import NotFoundError

from contracts import subjects
from contracts.partitions import (
    LOG,
    first_sequence,
    is_log,
    stored_mapping,
    stream_name,
)
from contracts.placements import PLACEMENTS_KEY
from contracts.topology import (
    BUCKETS,
    CONSUMERS,
    DAY,
    INTAKE,
    INTAKE_READER,
    SHARED_KEY,
    SHORTEST_DUPLICATE_WINDOW,
    STREAMS,
    WRITER_API_KEY,
    Bucket,
    Consumer,
    Stream,
    declared_stream,
)
from runtime.bus.log_metadata import (
    log_metadata,
    our_metadata,
    refuse_newer,
    sharing_place,
    with_placements,
)
from runtime.bus.nats.log_streams import forget_streams, log_streams
from runtime.bus.partitioning import partitions_to_apply
from runtime.errors import ConfigurationError

DUPLICATE_WINDOW = 120.0
"""Seconds for which a bucket knows the ids of messages, as clients make buckets; never longer than
a value lives.
"""


def stream_config(stream: Stream, replicas: int = 1) -> StreamConfig:
    """Return the server's configuration of a stream.

    Not compressed where there are copies: a server that was killed can find a block of them that it
    cannot read when it appends, gives the stream up, and the others wait for it without a leader
    (nats-server 2.15.1; `make cluster`).
    """
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
        compression=StoreCompression.S2
        if stream.compressed and replicas == 1
        else StoreCompression.NONE,
        allow_msg_ttl=stream.message_ttl,
        # Deletions are not denied: an erasure overwrites messages by them (decision 73), and
        # permissions say who may (decision 43).
        deny_purge=False,
        allow_direct=True,
        # Set although they are the server's defaults: fields that are not set are not compared, and
        # each loses events.
        max_msgs=-1,
        no_ack=False,
        sealed=False,
        metadata=log_metadata() if stream.name == LOG else None,
        persist_mode="",  # pyright: ignore[reportArgumentType] - the server names the mode only where it is "async"
    )


def log_configs(
    replicas: int = 1, partitions: int = 1, duplicate_window: float = DAY, shared_from: str = ""
) -> Iterator[StreamConfig]:
    """Yield the configurations of the log's streams, by partition. `duplicate_window` in seconds;
    `shared_from`: the place from which its documents share subjects, empty where they do not.
    """
    config = stream_config(declared_stream(LOG), replicas)
    metadata = log_metadata(partitions, shared_from)
    config = config.evolve(duplicate_window=duplicate_window, metadata=metadata)
    if partitions == 1:
        yield config
        return
    for partition in range(partitions):
        mapped, stored = stored_mapping(partition)
        yield config.evolve(
            name=stream_name(partition),
            subjects=[mapped, subjects.probe(partition)],
            first_seq=first_sequence(partition) if partition else None,
            subject_transform=SubjectTransform(src=mapped, dest=stored),
            metadata=None if partition else metadata,
        )


def bucket_config(bucket: Bucket, replicas: int = 1) -> StreamConfig:
    """Return the server's configuration of the stream that a key-value bucket is.

    As clients make one, but no message replaces all keys: whoever may write one key could empty the
    bucket with `Nats-Rollup: all`.
    """
    return StreamConfig(
        name=f"KV_{bucket.name}",
        description=bucket.why,
        subjects=[f"$KV.{bucket.name}.>"],
        retention=RetentionPolicy.LIMITS,
        discard=DiscardPolicy.NEW,
        max_age=bucket.ttl,
        max_msgs_per_subject=bucket.history,
        storage=StorageType.FILE,
        num_replicas=replicas,
        duplicate_window=min(bucket.ttl or DUPLICATE_WINDOW, DUPLICATE_WINDOW),
        # The leader answers: other replicas may lag behind what was written.
        allow_direct=False,
        allow_msg_ttl=True,
        allow_rollup_hdrs=False,
        deny_delete=True,
    )


def declared_configs(
    replicas: int = 1, partitions: int = 1, duplicate_window: float = DAY, shared_from: str = ""
) -> Iterator[StreamConfig]:
    """Yield every stream that the server has to have: those of events, and those that buckets
    are. Parameters as of `log_configs`.
    """
    for stream in STREAMS:
        if is_log(stream.name):
            yield from log_configs(replicas, partitions, duplicate_window, shared_from)
        else:
            yield stream_config(stream, replicas)
    yield from (bucket_config(bucket, replicas) for bucket in BUCKETS)


def mirror_config(config: StreamConfig, source: StreamSource, writer_api: str = "") -> StreamConfig:
    """Return the configuration of a mirror of this stream, which takes nothing but what its source
    has, at the same subjects and sequences. `writer_api`: where people write, for the mirror of the
    log.

    A mirror has no duplicate window: the server forgets it when it starts again (2.15.1).
    """
    metadata = {**(config.metadata or {}), WRITER_API_KEY: writer_api} if config.metadata else None
    return config.evolve(
        subjects=None,
        first_seq=None,
        subject_transform=None,
        mirror=source,
        metadata=metadata,
        duplicate_window=None,
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
        # Set although they are the server's defaults: fields that are not set are not compared, and
        # each loses events.
        deliver_subject="",
        backoff=[],
        inactive_threshold=0.0,
        headers_only=False,
        mem_storage=False,
    )


def _differences(
    name: str,
    wanted_config: StreamConfig | ConsumerConfig,
    present_config: StreamConfig | ConsumerConfig,
) -> list[str]:
    """Return the fields we set in which the server differs. An empty value and an absent one are
    the same.
    """
    values = [
        (field.name, getattr(wanted_config, field.name), getattr(present_config, field.name))
        for field in fields(wanted_config)
    ]
    # The server has metadata of its own beside ours.
    values = [
        (field, wants, our_metadata(has) if field == "metadata" else has)
        for field, wants, has in values
    ]
    return [
        f"{name}: {field} is {_shown(has)}, declared {_shown(wants)}"
        for field, wants, has in values
        if wants is not None and (wants or None) != (has or None)
    ]


def _applicable(
    name: str,
    present_config: StreamConfig,
    replicas: int | None,
    partitions: int,
    duplicate_window: float | None = None,
    shared_from: str = "",
) -> StreamConfig:
    """Return the declared configuration as it can be had of a stream that is there.

    A denial of deletions, which an older version made, is never taken back by the server, and all
    but an erasure goes on as before. Without `replicas` a stream keeps as many copies as it has,
    and without `duplicate_window` the log knows ids for as long as it does: only who runs the
    cluster knows. Where documents share subjects, they go on to.
    """
    copies = replicas or present_config.num_replicas or 1
    window = duplicate_window or _kept_window(present_config)
    metadata = our_metadata(present_config.metadata)
    shared_from = metadata.get(SHARED_KEY, shared_from)
    declared = declared_configs(copies, partitions, window, shared_from)
    wanted_config = next(config for config in declared if config.name == name)
    if text := metadata.get(PLACEMENTS_KEY):
        metadata_with_text = with_placements(wanted_config.metadata or {}, text)
        wanted_config = wanted_config.evolve(metadata=metadata_with_text)
    if present_config.mirror:
        writer_api = metadata.get(WRITER_API_KEY, "")
        wanted_config = mirror_config(wanted_config, present_config.mirror, writer_api)
    return wanted_config.evolve(deny_delete=wanted_config.deny_delete or present_config.deny_delete)


def _kept_window(present_config: StreamConfig) -> float:
    """Return for how many seconds a log that is there goes on to know ids."""
    window = present_config.duplicate_window or 0.0
    return window if SHORTEST_DUPLICATE_WINDOW <= window <= DAY else DAY


def _shown(value: Any) -> Any:
    return getattr(value, "value", value)


async def apply(
    jetstream: JetStreamContext,
    replicas: int | None = None,
    partitions: int | None = None,
    duplicate_window: float | None = None,
    *,
    share_subjects: bool = False,
) -> list[str]:
    """Create what is missing, change what differs, and return a line for each thing done.

    `replicas`: copies of each stream in a cluster. Without it a stream keeps those it has, and a
    new one gets as many as the log. `partitions`: streams of a new log, one without it.
    `duplicate_window`: seconds for which the log knows ids, from `SHORTEST_DUPLICATE_WINDOW` to a
    day; without it a log keeps its own, and a new one gets a day. `share_subjects`: the documents
    of a log that is there share subjects from here on, as those of a new one do; only for who
    knows that no older program runs. Raises the server's APIError
    where a difference cannot be changed in place (retention, storage), and
    ConfigurationError, before anything is changed, where a newer program has set up the bus, where
    its log has another number of partitions, or where the server does not map to them.
    """
    await refuse_newer(jetstream)
    changes: list[str] = []
    count = await partitions_to_apply(jetstream, partitions)
    copies = await _copies_of_the_log(jetstream) if replicas is None else replicas
    shared_from = await sharing_place(jetstream, count, share_subjects=share_subjects)
    for config in declared_configs(copies, count, duplicate_window or DAY, shared_from):
        name = config.name or ""
        try:
            present_config = (await jetstream.stream_info(name)).config
        except NotFoundError:
            await jetstream.add_stream(config)
            changes.append(f"created {_called(name)}")
            continue
        wanted_config = _applicable(
            name, present_config, replicas, count, duplicate_window, shared_from
        )
        if differences := _differences(name, wanted_config, present_config):
            await jetstream.update_stream(wanted_config)
            changes += [f"changed {difference}" for difference in differences]
    for durable in CONSUMERS:
        for of_stream in durable.in_partitions(count):
            changes += await _apply_durable(jetstream, of_stream)
    forget_streams(jetstream)
    return changes


async def _apply_durable(jetstream: JetStreamContext, durable: Consumer) -> list[str]:
    wanted_durable = durable_config(durable)
    try:
        has = (await jetstream.consumer_info(durable.stream, durable.name)).config
    except NotFoundError:
        await jetstream.add_consumer(durable.stream, wanted_durable)
        return [f"created durable {_named(durable)}"]
    differences = _differences(_named(durable), wanted_durable, has)
    if differences:
        await jetstream.add_consumer(durable.stream, wanted_durable)
    return [f"changed {difference}" for difference in differences]


def _named(durable: Consumer) -> str:
    """Return what a durable is called: with its stream where that is not the first of the log."""
    partition = durable.stream.removeprefix(f"{LOG}_")
    return f"{durable.name} of partition {partition}" if partition.isdecimal() else durable.name


async def apply_intake(jetstream: JetStreamContext) -> None:
    """Make the stream of the intake and its durable, where they are not. A file leaves it as soon
    as it is a document, or a dead letter.
    """
    try:
        await jetstream.stream_info(INTAKE.name)
    except NotFoundError:
        config = stream_config(INTAKE, await _copies_of_the_log(jetstream))
        await jetstream.add_stream(config.evolve(retention=RetentionPolicy.WORK_QUEUE))
    try:
        await jetstream.consumer_info(INTAKE.name, INTAKE_READER.name)
    except NotFoundError:
        await jetstream.add_consumer(INTAKE.name, durable_config(INTAKE_READER))


async def _copies_of_the_log(jetstream: JetStreamContext) -> int:
    try:
        return (await jetstream.stream_info(STREAMS[0].name)).config.num_replicas or 1
    except NotFoundError:
        return 1


def _called(name: str) -> str:
    """Return what a stream of that name is called: a bucket is one too."""
    return f"bucket {name.removeprefix('KV_')}" if name.startswith("KV_") else f"stream {name}"


async def check(
    jetstream: JetStreamContext,
    durables: tuple[Consumer, ...] = CONSUMERS,
    replicas: int | None = None,
) -> list[str]:
    """Return where the server differs from the declaration; empty when it does not.

    Without `replicas` any number of copies is right, and any duplicate window that `apply` takes.
    Where a newer program has set up the bus, that is all it says.
    """
    try:
        await refuse_newer(jetstream)
    except ConfigurationError as newer_error:
        return [str(newer_error)]
    problems: list[str] = []
    count = (await log_streams(jetstream)).count
    for config in declared_configs(partitions=count):
        name = config.name or ""
        try:
            present_config = (await jetstream.stream_info(name)).config
        except NotFoundError:
            problems.append(f"{_called(name)} does not exist")
        else:
            problems += _differences(
                name, _applicable(name, present_config, replicas, count), present_config
            )
    for durable in chain.from_iterable(durable.in_partitions(count) for durable in durables):
        try:
            has = (await jetstream.consumer_info(durable.stream, durable.name)).config
        except NotFoundError:
            problems.append(f"durable {_named(durable)} does not exist")
        else:
            problems += _differences(_named(durable), durable_config(durable), has)
    return problems
