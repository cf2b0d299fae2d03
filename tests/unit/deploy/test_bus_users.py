"""The users of the bus in its configuration: what each service may say and take."""

import re

from contracts import subjects
from contracts.registry import PRODUCERS, service_of
from contracts.topology import CONSUMERS
from operations import bus_accounts
from tests.architecture.sources import REPOSITORY, SERVICES


def test_the_users_of_the_bus_are_those_of_the_contracts() -> None:
    assert (REPOSITORY / "deploy/nats/users.conf").read_text(
        "utf-8"
    ) == bus_accounts.configuration()
    bus = (REPOSITORY / "deploy/nats/nats-server.conf").read_text("utf-8")
    assert 'include "users.conf"' in bus
    assert "sync_interval: always" in bus


def test_a_service_may_say_its_events_and_take_from_its_durables_and_may_change_neither() -> None:
    users = {user.name: user for user in bus_accounts.USERS}
    assert {"operator", "publisher", "webhooks", "gateway", *SERVICES} == set(users)
    events = [subject for subject in users["webhooks"].allowed if subject.startswith("kb.v1.")]
    assert events == [], "the sender of webhooks publishes none"
    for name in SERVICES:
        allowed_subjects = users[name].allowed
        event_types = {
            subject.rpartition(".")[2]
            for subject in allowed_subjects
            if subject.startswith("kb.v1.")
        }
        assert subjects.PROBE in allowed_subjects
        assert event_types == {event for event, producers in PRODUCERS.items() if name in producers}
        consumers = {
            subject.rpartition(".")[2]
            for subject in allowed_subjects
            if ".CONSUMER.INFO." in subject
        }
        # Operators who use the API see every consumer, and read and remove dead letters.
        assert consumers == {
            durable.name for durable in CONSUMERS if name == "query" or service_of(durable) == name
        }
        operates = (
            {subject for grant in bus_accounts.OPERATES for subject in grant.allowed}
            if name == "query"
            else ()
        )
        allowed_subjects = tuple(subject for subject in allowed_subjects if subject not in operates)
        forbidden = r"\.(STREAM\.CREATE|UPDATE|DELETE|PURGE|RESET|PAUSE|SNAPSHOT|RESTORE)\.|GENERATIONS\.pointers"  # noqa: E501
        assert not [subject for subject in allowed_subjects if re.search(forbidden, subject)]
        created_filters = {
            subject.partition(".*.")[2]
            for subject in allowed_subjects
            if ".CONSUMER.CREATE." in subject
        }
        taken_types = {
            subject_filter
            for durable in CONSUMERS
            if service_of(durable) == name
            for subject_filter in durable.filters
        }
        assert created_filters == taken_types | {subjects.of_type("StageFailed")}
        denied_subjects = set(users[name].denied)
        assert {
            f"$JS.API.CONSUMER.CREATE.{durable.stream}.{durable.name}.>" for durable in CONSUMERS
        } <= denied_subjects
