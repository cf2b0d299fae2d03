"""What users of the bus may do, each with its reason: subjects that they may publish to."""

from dataclasses import dataclass

from contracts import subjects
from contracts.partitions import LOG
from contracts.topology import (
    BATCHES_BUCKET,
    BUCKETS,
    CHECKPOINTS_BUCKET,
    CONSUMERS,
    CONVERSATIONS_BUCKET,
    GENERATIONS_BUCKET,
    LIMITS_BUCKET,
    PARKED_STREAM,
    REQUESTS_BUCKET,
    STREAMS,
    UPLOADS_BUCKET,
    WEBHOOKS_BUCKET,
)

API = "$JS.API"
"""Prefix of the subjects of JetStream's API."""


@dataclass(frozen=True)
class Grant:
    """Subjects that a user may publish to, with the reason.

    `denied` stay forbidden although a wildcard of `allowed` has them.
    """

    why: str
    allowed: tuple[str, ...]
    denied: tuple[str, ...] = ()


READS_GENERATIONS = Grant(
    "which generation is live", (f"{API}.STREAM.MSG.GET.KV_{GENERATIONS_BUCKET}",)
)
READS_LIMITS = Grant(
    "what is known of the providers of models",
    (f"{API}.STREAM.MSG.GET.KV_{LIMITS_BUCKET}",),
)
SHARES_LIMITS = Grant(
    "what all replicas together ask of a model's provider",
    (f"$KV.{LIMITS_BUCKET}.*", f"{API}.STREAM.MSG.GET.KV_{LIMITS_BUCKET}"),
)
SHARES_BATCHES = Grant(
    "which batches the providers of models work on",
    (f"$KV.{BATCHES_BUCKET}.*.*", f"{API}.STREAM.MSG.GET.KV_{BATCHES_BUCKET}"),
)
CHECKS_STREAMS = Grant(
    "the comparison with contracts/topology.py, and where the log ends",
    tuple(
        f"{API}.STREAM.INFO.{name}"
        for name in (
            *(stream.name for stream in STREAMS),
            *(f"KV_{bucket.name}" for bucket in BUCKETS),
        )
    ),
)
READS_CHECKPOINTS = Grant(
    "what the log and the stores held, and what each service found",
    (f"{API}.STREAM.MSG.GET.KV_{CHECKPOINTS_BUCKET}",),
)
READS_BLOBS = Grant(
    "long texts, also those of older versions",
    (f"{API}.DIRECT.GET.KB_BLOBS.blob.*.*.*", f"{API}.DIRECT.GET.KB_BLOBS.blob.*.*"),
)
WRITES_BLOBS = Grant(
    "long texts, and a trial whether they are taken", ("blob.*.*.*", "blob.probe.*")
)
WRITES_OLDER_BLOBS = Grant(
    "long texts, also as older clients name them", ("blob.*.*.*", "blob.*.*")
)
READS_LOG = Grant(
    "any event by its place: the server cannot narrow this call",
    (f"{API}.STREAM.MSG.GET.{LOG}",),
)

FOLLOWS_LOG = Grant(
    "readers of its own, of all events; durables are nobody's to change",
    (f"{API}.CONSUMER.CREATE.{LOG}.*.{subjects.ALL}", f"{API}.CONSUMER.MSG.NEXT.{LOG}.*"),
    (
        *(f"{API}.CONSUMER.CREATE.{durable.stream}.{durable.name}.>" for durable in CONSUMERS),
        *(f"{API}.CONSUMER.MSG.NEXT.{durable.stream}.{durable.name}" for durable in CONSUMERS),
    ),
)

READS_NEWEST_VERSION = Grant(
    "the newest version of a document that it can name, so that no work is paid for in vain",
    tuple(
        f"{API}.DIRECT.GET.{LOG}.{subjects.of_type(name)}"
        for name in ("DocumentAdded", "DocumentDeleted", "DocumentCancelled", "ChunksCreated")
    ),
)

READS_BUDGET = Grant(
    "the budget of a workspace", (f"{API}.DIRECT.GET.{LOG}.{subjects.of_type('BudgetSet')}",)
)

READS_BRANCHES = Grant(
    "how the documents of a branch are worked on",
    (f"{API}.DIRECT.GET.{LOG}.{subjects.of_type('BranchCreated')}",),
)


SHARES_WEBHOOKS = Grant(
    "webhooks: their addresses, their secrets and how far each is",
    (f"$KV.{WEBHOOKS_BUCKET}.*.*", f"{API}.STREAM.MSG.GET.KV_{WEBHOOKS_BUCKET}"),
)
KEEPS_CONVERSATIONS = Grant(
    "the conversations of accounts",
    (f"$KV.{CONVERSATIONS_BUCKET}.*.*", f"{API}.STREAM.MSG.GET.KV_{CONVERSATIONS_BUCKET}"),
)

SHARES_UPLOADS = Grant(
    "uploads that are no documents yet, or were refused",
    (f"$KV.{UPLOADS_BUCKET}.*", f"{API}.STREAM.MSG.GET.KV_{UPLOADS_BUCKET}"),
)

REMEMBERS_REQUESTS = Grant(
    "what each Idempotency-Key was used for",
    (f"$KV.{REQUESTS_BUCKET}.*.*", f"{API}.STREAM.MSG.GET.KV_{REQUESTS_BUCKET}"),
)

OPERATES = (
    SHARES_WEBHOOKS,
    KEEPS_CONVERSATIONS,
    SHARES_UPLOADS,
    REMEMBERS_REQUESTS,
    Grant(
        "dead letters, for operators who use the API",
        (
            f"{API}.CONSUMER.CREATE.KB_DEAD.*",
            f"{API}.CONSUMER.MSG.NEXT.KB_DEAD.*",
            f"{API}.STREAM.MSG.GET.KB_DEAD",
            f"{API}.STREAM.MSG.DELETE.KB_DEAD",
        ),
    ),
    Grant("orders for rebuilds and branches, which it may not make itself", (subjects.REBUILDS,)),
    Grant(
        "how far every consumer is",
        tuple(f"{API}.CONSUMER.INFO.{consumer.stream}.{consumer.name}" for consumer in CONSUMERS),
    ),
)

READS_PARKED = Grant(
    "what is parked: records without text",
    (f"{API}.STREAM.MSG.GET.{PARKED_STREAM}",),
)
