"""What users of the bus may do where the log has several partitions: in each of them, what they may
do in the first.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from contracts import subjects
from contracts.partitions import LOG, MAPPED_PREFIX, stream_name
from contracts.topology import CHECKPOINTS_BUCKET
from operations.bus_grants import Grant
from runtime.bus.nats.carrier import CARRIER

NOTES_OF_STREAMS = {f"$KV.{CHECKPOINTS_BUCKET}.{key}" for key in ("log", "chain")}
"""Keys that further partitions have with their number behind them."""


CARRIES = Grant(
    "what other systems publish to a workspace that was moved, which it carries to where that is",
    (f"$JS.ACK.{LOG}.{CARRIER}.>", f"{MAPPED_PREFIX}.*.*.*.*"),
)


def follows_moves(granted_subjects: Iterable[str]) -> Grant:
    """Return what lets a user who may publish by these subjects do so where workspaces were moved
    to: who publishes to one names its partition.
    """
    event_types = [
        subjects.event_type(subject)
        for subject in granted_subjects
        if subject == subjects.of_type(subjects.event_type(subject))
    ]
    return Grant(
        "its events of workspaces that were moved",
        tuple(f"{MAPPED_PREFIX}.*.*.*.{event_type}" for event_type in event_types),
    )


def in_partitions(grant: Grant, count: int) -> Grant:
    """Return the grant for a log of so many partitions."""
    return replace(
        grant,
        allowed=tuple(_in_partitions(grant.allowed, count)),
        denied=tuple(_in_partitions(grant.denied, count)),
    )


def _in_partitions(granted_subjects: Iterable[str], count: int) -> Iterator[str]:
    """Yield these subjects, each followed by those of the further partitions."""
    for subject in granted_subjects:
        yield subject
        for number in range(1, count):
            yield from _in_partition(subject, number)
        if count > 1 and _is_apart(subject):
            # Its workspace stands elsewhere than the server's mapping looks: whoever publishes it
            # names the partition.
            event_type = subjects.event_type(subject)
            yield f"{MAPPED_PREFIX}.*.{subjects.QUESTIONS}.*.{event_type}"


def _in_partition(subject: str, number: int) -> Iterator[str]:
    """Yield what the subject is in a further partition, where it is another one there."""
    tokens = subject.split(".")
    if LOG in tokens:
        yield ".".join(stream_name(number) if token == LOG else token for token in tokens)
    elif subject == subjects.PROBE:
        yield subjects.probe(number)
    elif subject in NOTES_OF_STREAMS:
        yield f"{subject}.{number}"


def _is_apart(subject: str) -> bool:
    """Return whether a user may publish by it what is said about questions."""
    return subject in map(subjects.of_type, subjects.APART)
