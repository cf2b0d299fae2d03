"""The instruments of every process. Counting costs nothing until `exposition.configure` installs
who keeps count.
"""

from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter

from opentelemetry import metrics

from runtime import semantic_conventions as names

FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Bounds of histograms, in seconds: from a lookup in memory to a slow language model."""

_meter = metrics.get_meter(names.SCOPE)


def _histogram(name: str, description: str) -> metrics.Histogram:
    return _meter.create_histogram(name, "s", description, explicit_bucket_boundaries_advisory=FAST)


events_handled = _meter.create_counter(
    names.EVENTS_HANDLED,
    description="deliveries by outcome: done, again (it comes again), parked, dead",
)
handle = _histogram(
    names.HANDLE, "one call of a handler, with what it publishes; a call may take a batch"
)
model_call = _histogram(names.MODEL_CALL, "one call of a model's provider, once its turn has come")
model_tokens = _meter.create_counter(
    names.MODEL_TOKENS, description="tokens that providers counted"
)
provider_pauses = _meter.create_counter(
    names.PROVIDER_PAUSES, description="times that a provider was paused"
)
cache_lookups = _meter.create_counter(
    names.CACHE_LOOKUPS, description="lookups by outcome: hit, miss"
)
receipts = _meter.create_counter(
    names.RECEIPTS, description="receipts of answers by outcome: published, lost"
)
clock_steps = _meter.create_counter(
    names.CLOCK_STEPS, description="times that the machine's clock was set"
)
query = _histogram(
    names.QUERY,
    "one stage of answering a question; `total` is until the answer, or its stream, begins",
)
http_request = _histogram(
    names.HTTP_REQUEST, "requests of the query service, until the end of the answer"
)

build_info = _meter.create_gauge(
    names.BUILD_INFO, description="always 1; its labels tell service and version"
)
ready_gauge = _meter.create_gauge(names.READY, description="1 while the process is ready, else 0")
provider_paused = _meter.create_gauge(
    names.PROVIDER_PAUSED, description="1 while calls wait for a provider, else 0"
)
durable_pending = _meter.create_gauge(
    names.DURABLE_PENDING, description="messages not delivered yet"
)
durable_ack_pending = _meter.create_gauge(
    names.DURABLE_ACK_PENDING, description="messages delivered and not acknowledged yet"
)
durable_redelivered = _meter.create_gauge(
    names.DURABLE_REDELIVERED,
    description="messages delivered more than once and not acknowledged yet",
)
dead_letters = _meter.create_gauge(
    names.DEAD_LETTERS, description="dead letters that nobody has removed"
)
projection_lag = _meter.create_gauge(
    names.PROJECTION_LAG, description="events its slowest consumer has yet to handle"
)
partition_lag = _meter.create_gauge(
    names.PARTITION_LAG,
    description="events of one partition of the log that its slowest consumer has yet to handle",
)
generation = _meter.create_gauge(
    names.GENERATION, description="the live generation of a projection"
)
documents = _meter.create_gauge(names.DOCUMENTS, description="documents of all workspaces")
stream_size = _meter.create_gauge(names.STREAM_SIZE, "By", "bytes on the bus's disk")
stream_messages = _meter.create_gauge(names.STREAM_MESSAGES, description="messages on the bus")
log_sequence = _meter.create_gauge(names.LOG_SEQUENCE, description="the end of the log")
log_writable = _meter.create_gauge(
    names.LOG_WRITABLE, description="1 while events can be written, else 0"
)
audit_position = _meter.create_gauge(
    names.AUDIT_POSITION, description="how far the rolling audit of the log is"
)
audit_finished = _meter.create_gauge(
    names.AUDIT_FINISHED, "s", description="when its last whole pass ended; 0: never"
)
audit_problems = _meter.create_gauge(
    names.AUDIT_PROBLEMS, description="problems that it found in the log"
)


def count_lookups(cache: str, *, hits: int = 0, misses: int = 0) -> None:
    """Count lookups of a cache."""
    if hits:
        cache_lookups.add(hits, {names.CACHE: cache, names.OUTCOME: "hit"})
    if misses:
        cache_lookups.add(misses, {names.CACHE: cache, names.OUTCOME: "miss"})


@contextmanager
def timed(histogram: metrics.Histogram, attributes: dict[str, str]) -> Generator[None]:
    """Record how long the block takes, also when it fails."""
    began = perf_counter()
    try:
        yield
    finally:
        histogram.record(perf_counter() - began, attributes)
