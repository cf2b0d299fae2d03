"""Streams, durables and key-value buckets: the single declaration. `lightstream topology apply`
makes it so.

Services create nothing: they compare the server with this module and refuse to start on a
difference.
"""

from dataclasses import dataclass, field, replace

from contracts import subjects
from contracts.partitions import LOG, is_log, stream_name

KiB = 1024
MiB = 1024 * 1024
HOUR = 3600.0
DAY = 24 * 3600.0

VERSION = 1
"""Raised with every change of this declaration: programs of an older one refuse the bus."""

SHARED_VERSION = 2
"""The version of a log whose documents share subjects: older programs, which take each subject for
one document's, refuse it. A log that was made before has `VERSION` until it is told to.
"""

PLACED_VERSION = 3
"""The version of a log of which workspaces were moved to other partitions: older programs, which
look for each in the partition of its hash, refuse it.
"""

PARTITIONED = 100
"""Added to the version where the log has partitions: programs that know of one stream refuse the
bus.
"""

SHORTEST_DUPLICATE_WINDOW = 120.0
"""Seconds for which the log knows ids at least: four times as long as a publisher goes on trying
with one. A day is the longest, and what a new log has.
"""

VERSION_KEY = "lightstream.topology"
"""Where the version stands in the metadata of the log."""

SHARED_KEY = "lightstream.shared-subjects"
"""Where it stands in the metadata of the log that its documents share subjects: the place in the
whole log before which none of them does, in one word.
"""


@dataclass(frozen=True)
class Stream:
    """A JetStream stream. Ages and windows in seconds, sizes in bytes."""

    name: str
    subjects: tuple[str, ...]
    why: str
    max_msg_size: int = MiB
    duplicate_window: float = 120.0
    max_age: float = 0.0
    max_bytes: int = -1
    max_msgs_per_subject: int = -1
    discard_new_per_subject: bool = False
    message_ttl: bool = False
    """Whether a message may say after how many seconds it vanishes."""
    compressed: bool = True


@dataclass(frozen=True)
class Consumer:
    """A pull consumer with explicit acknowledgement of `stream`, shared by all replicas of a
    service.
    """

    name: str
    filters: tuple[str, ...]
    why: str
    stream: str = LOG
    ack_wait: float = 10.0
    """Seconds without a heartbeat until a message is delivered again: how long a killed process
    delays its work.
    """
    max_ack_pending: int = 512
    batch: int = 1
    """Messages one call of the handler may take."""
    batches_per_second: float = field(default=4.0, repr=False)
    """Calls a second while there is always something, but for whole batches, which never wait.
    It is no part of the declaration, which is what the bus is told.

    What a call writes is one transaction in each store, and a key that several of its messages name
    is written once: fewer and larger calls cost less, and messages wait as much longer.
    """

    def in_partitions(self, count: int) -> tuple["Consumer", ...]:
        """Return this consumer of each stream: a log of `count` partitions has so many."""
        if not is_log(self.stream):
            return (self,)
        return tuple(replace(self, stream=stream_name(number)) for number in range(count))


PARKED_STREAM = "KB_PARKED"
"""The list of parked events: of each record the newest wins, and one that is done vanishes by
itself.
"""


def _inputs(*event_types: str) -> tuple[str, ...]:
    """Return the filters of a durable that handles these types, and what of them failed when a
    retry is requested.
    """
    return (*map(subjects.of_type, event_types), subjects.of_type("RetryRequested"))


STREAMS = (
    Stream(
        LOG,
        (subjects.ALL, subjects.PROBE),
        (
            "the log, the only truth: never evicts, refuses new ones when full; only `lightstream "
            "erase` deletes events"
        ),
        duplicate_window=DAY,
    ),
    Stream(
        "KB_BLOBS",
        ("blob.*.*.*", "blob.*.*"),
        (
            "texts too long for an event: immutable, by workspace and hash; those of older "
            "versions by their hash alone"
        ),
        max_msgs_per_subject=1,
        discard_new_per_subject=True,
    ),
    Stream(
        "KB_DEAD", ("dead.>",), "what could not be decoded, raw, with the reason in its headers"
    ),
    Stream(
        PARKED_STREAM,
        (subjects.parked(),),
        (
            "events that wait outside of their durable's window: a to-do list, one record per "
            "durable and event"
        ),
        max_msgs_per_subject=1,
        message_ttl=True,
    ),
    Stream(
        "KB_ADVISORIES",
        (
            "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>",
            "$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.>",
        ),
        (
            "what the server says about messages it stopped delivering, which it should never; "
            "`doctor` reads it"
        ),
        max_age=30 * DAY,
    ),
)

CONSUMERS = (
    Consumer("chunker", _inputs("DocumentAdded"), "cuts documents"),
    Consumer("chunker-figures", _inputs("FiguresListed"), "has figures described"),
    Consumer("extractor", _inputs("ChunksCreated"), "asks the language model"),
    Consumer(
        "merger",
        _inputs("EntitiesExtracted", "StageFailed"),
        "folds what chunks say",
        batch=64,
        batches_per_second=1.0,
    ),
    Consumer(
        "merger-extents",
        _inputs("ChunksCreated", "DocumentDeleted"),
        "takes back what deleted and shorter documents no longer say",
        batch=64,
        batches_per_second=1.0,
    ),
    Consumer(
        "merger-summaries", _inputs("GraphMerged"), "has long descriptions condensed", batch=64
    ),
    Consumer(
        "merger-summarized",
        _inputs("DescriptionSummarized"),
        "keeps what was condensed",
        batch=64,
        batches_per_second=1.0,
    ),
    Consumer(
        "merger-edits", _inputs("GraphEdited"), "keeps what people say of the graph", batch=64
    ),
    Consumer(
        "indexer-chunks",
        _inputs("ChunksCreated", "DocumentDeleted"),
        "embeds passages, removes those that are gone",
        batch=16,
        batches_per_second=1.0,
    ),
    Consumer(
        "indexer-graph",
        _inputs("GraphMerged"),
        "embeds what changed",
        batch=64,
        batches_per_second=1.0,
    ),
    Consumer(
        "query-status",
        (subjects.ALL,),
        "folds every fact into document status",
        batch=200,
        batches_per_second=2.0,
    ),
)

INTAKE = Stream(
    "KB_INTAKE",
    (f"{subjects.INTAKE}.*",),
    "files that other systems hand in, until they are documents: made by `lightstream intake`",
    max_msg_size=8 * MiB,
    duplicate_window=DAY,
)
"""Stands on a bus only where somebody takes in files; no service knows it."""

INTAKE_READER = Consumer(
    "intake",
    INTAKE.subjects,
    "makes documents of what is handed in",
    stream=INTAKE.name,
    ack_wait=120.0,
    max_ack_pending=64,
)

GENERATIONS_BUCKET = "KB_GENERATIONS"
"""Key-value bucket that names the live generation of each projection."""

LIMITS_BUCKET = "KB_LIMITS"
"""Key-value bucket in which all replicas agree on what they ask of a model's provider; it may be
lost.
"""

CHECKPOINTS_BUCKET = "KB_CHECKPOINTS"
"""Key-value bucket that notes what the log and each projection's stores held: whoever holds less
has lost it.
"""
WEBHOOKS_BUCKET = "KB_WEBHOOKS"
"""Key-value bucket of webhooks: addresses, secrets, and how far each is. Secrets stand here and
never in the log.
"""
TURNS_BUCKET = "KB_TURNS"
"""Key-value bucket in which replicas agree on who handles a message before its delivery; it may be
lost.
"""
BATCHES_BUCKET = "KB_BATCHES"
"""Key-value bucket of the batches that models' providers work on: their ids, and whose passages are
in them. It belongs to the log: without it what is in a batch is paid for a second time.
"""

CONVERSATIONS_BUCKET = "KB_CONVERSATIONS"
"""Key-value bucket of what each account asked. It is not in the log, where it could not be
forgotten.
"""

UPLOADS_BUCKET = "KB_UPLOADS"
"""Key-value bucket of uploads that are no documents: how far those are whose pages are recognized,
and why files were refused; it may be lost.
"""

REQUESTS_BUCKET = "KB_REQUESTS"
"""Key-value bucket of what each `Idempotency-Key` was used for, without text. It belongs to the
log: without it a key could be used for a second request.
"""


@dataclass(frozen=True)
class Bucket:
    """A key-value bucket. `history`: values kept per key; `ttl`: seconds a value lives, 0 for
    ever.
    """

    name: str
    why: str
    history: int = 1
    ttl: float = 0.0


BUCKETS = (
    Bucket(GENERATIONS_BUCKET, "names the live generation of each projection", history=16),
    Bucket(
        LIMITS_BUCKET,
        "what all replicas together ask of a model's provider, and since when it is paused",
        ttl=DAY,
    ),
    Bucket(
        CHECKPOINTS_BUCKET,
        "what the log and the stores of each projection held, and which of them lost it",
    ),
    Bucket(
        WEBHOOKS_BUCKET,
        "where events are sent over HTTP, with the secrets they are signed with, and how far",
    ),
    Bucket(
        TURNS_BUCKET,
        "which messages are handled before their delivery, and so by which replica",
        ttl=HOUR,
    ),
    Bucket(
        BATCHES_BUCKET,
        "which batches the providers of models work on, and which passages are in them",
        ttl=35 * DAY,
    ),
    Bucket(CONVERSATIONS_BUCKET, "what each account asked, by conversation, for it alone"),
    Bucket(
        UPLOADS_BUCKET,
        "how far uploads are whose pages are recognized, and why files were refused",
        ttl=7 * DAY,
    ),
    Bucket(
        REQUESTS_BUCKET,
        "what each Idempotency-Key was used for, and which documents that added",
        ttl=DAY,
    ),
)


MIRRORED_STREAMS = (LOG, "KB_BLOBS", "KB_DEAD", PARKED_STREAM)
"""Streams that a following region has as mirrors of those of the writing region."""

MIRRORED_BUCKETS = (WEBHOOKS_BUCKET, BATCHES_BUCKET, REQUESTS_BUCKET)
"""Buckets that belong to the log, and are mirrored with it; the others speak of a region's own
stores and processes.
"""

WRITER_API_KEY = "lightstream.writer-api"
"""Where the address of the writing region's HTTP API stands in the metadata of a mirrored log."""


def declared_stream(name: str) -> Stream:
    """Return the declared stream of that name. Raises KeyError."""
    return {stream.name: stream for stream in STREAMS}[name]


def declared_consumer(name: str) -> Consumer:
    """Return the declared durable of that name. Raises KeyError."""
    return {durable.name: durable for durable in CONSUMERS}[name]
