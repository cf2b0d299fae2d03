"""The declaration of streams and consumers agrees with itself and with the events."""

from collections import Counter

import pytest
from nats.js.api import DiscardPolicy

from contracts import subjects
from contracts.events import EVENTS
from contracts.registry import SERVICES, consumers_of, consuming_services, service_of
from contracts.topology import (
    CONSUMERS,
    STREAMS,
    Consumer,
    Stream,
    declared_consumer,
    declared_stream,
)
from runtime.bus.topology import stream_config


def covers(pattern: str, subject: str) -> bool:
    """Whether a NATS subject pattern matches a subject."""
    tokens = pattern.split(".")
    result = subject.split(".")
    if tokens[-1] == ">":
        tokens, result = (
            tokens[:-1],
            result[: len(tokens) - 1] if len(result) >= len(tokens) else [],
        )
    return len(tokens) == len(result) and all(
        w in ("*", f) for w, f in zip(tokens, result, strict=True)
    )


def test_no_name_is_given_twice() -> None:
    names = Counter([stream.name for stream in STREAMS] + [durable.name for durable in CONSUMERS])
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("event_type", sorted(EVENTS))
def test_every_event_is_kept_by_the_log_and_by_no_other_stream(event_type: str) -> None:
    subject = subjects.subject("harbour", "doc-1", event_type)
    assert [s.name for s in STREAMS if any(covers(pattern, subject) for pattern in s.subjects)] == [
        "KB_EVENTS"
    ]


@pytest.mark.parametrize("event_type", sorted(EVENTS))
def test_every_event_is_delivered_to_those_who_hear_it(event_type: str) -> None:
    subject = subjects.subject("harbour", "doc-1", event_type)
    covering = [d for d in CONSUMERS if any(covers(pattern, subject) for pattern in d.filters)]
    assert list(consumers_of(event_type)) == covering
    assert {service_of(d) for d in covering} == set(consuming_services(event_type))
    assert "query" in consuming_services(event_type), "a status must see every event"


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda d: d.name)
def test_a_durable_belongs_to_a_service_and_waits_for_events_that_exist(consumer: Consumer) -> None:
    assert service_of(consumer) in SERVICES
    assert any(d.name == consumer.stream for d in STREAMS)
    if consumer.stream == "KB_EVENTS":
        types = {pattern.rpartition(".")[2] for pattern in consumer.filters}
        assert types <= {*EVENTS, "*"}


def test_an_event_nobody_asks_for_reaches_only_those_who_hear_everything() -> None:
    assert {
        pattern for consumer in consumers_of("DocumentLost") for pattern in consumer.filters
    } == {subjects.ALL}


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda d: d.name)
def test_a_batch_fits_into_what_may_be_unacknowledged(consumer: Consumer) -> None:
    assert 1 <= consumer.batch <= consumer.max_ack_pending


def test_the_log_never_evicts() -> None:
    log = declared_stream("KB_EVENTS")
    assert log.max_age == 0.0
    assert stream_config(log).discard == DiscardPolicy.NEW
    assert log.duplicate_window == 24 * 3600


def test_blobs_are_immutable() -> None:
    blobs = declared_stream("KB_BLOBS")
    assert (blobs.max_msgs_per_subject, blobs.discard_new_per_subject) == (1, True)


def test_patterns_of_two_streams_never_meet() -> None:
    """JetStream refuses a stream whose subjects overlap another's."""
    samples = {
        pattern: pattern.replace("*", "a").replace(">", "a.b")
        for stream in STREAMS
        for pattern in stream.subjects
    }
    for pattern, sample in samples.items():
        owners = [
            s.name
            for s in STREAMS
            if any(covers(owned_pattern, sample) for owned_pattern in s.subjects)
        ]
        assert len(owners) == 1, f"{pattern} is kept by {owners}"


def test_what_is_not_declared_is_not_found() -> None:
    with pytest.raises(KeyError):
        declared_stream("KB_LOST")
    with pytest.raises(KeyError):
        declared_consumer("nobody")


def test_a_stream_and_a_durable_say_what_they_are_for() -> None:
    declarations: list[Stream | Consumer] = [*STREAMS, *CONSUMERS]
    assert all(declaration.why for declaration in declarations)
