"""Callers of one workspace see no sequences of the common log: not in feeds, streams, webhooks, nor
of the past.
"""

import json
import re
from ipaddress import ip_network
from typing import Any

import pytest

from contracts.events import GraphEdited
from contracts.partitions import MAX_PARTITIONS, first_sequence
from runtime.bus.feed.memory import MemoryEventFeed
from runtime.bus.memory import MemorySharedValues
from services.gateway.auth.permissions import Permissions, Principal
from services.gateway.egress import Target
from services.gateway.feeds.streams import EventStreams
from services.gateway.places import MARK, PLAIN, Places
from services.gateway.webhooks.delivery import Webhooks
from services.gateway.webhooks.endpoints import Endpoint, Endpoints
from services.gateway.webhooks.notifications import Notifier
from services.gateway.webhooks.sender import Lease, WebhookSender
from services.gateway.webhooks.signing import new_secret
from services.query.errors import BadRequest
from tests.support.access import KEY, SEVERAL, WRITER, behind, client, keyed
from tests.support.events import added, sealed
from tests.support.querying import QueryHarness

HERE = [ip_network("127.0.0.0/8")]

KEYS = f"{SEVERAL},all:{KEY}:*:write"
OTHERS = 7
"""Events of another workspace in front of each one of w."""

OWN = [OTHERS + 1, 2 * OTHERS + 2, 3 * OTHERS + 3, 4 * OTHERS + 4]
"""The sequences of the events of w."""


@pytest.fixture
async def harness() -> QueryHarness:
    """A log of two workspaces: of w three documents and an edit."""
    harness = QueryHarness()
    edit = GraphEdited(operation="create_entity", names=("Ada",))
    for number, event in enumerate([added("a"), added("b"), added("a", "newer"), edit]):
        for foreign in range(OTHERS):
            envelope = sealed(added(f"{number}-{foreign}"), id=f"{number}-{foreign}", workspace="v")
            await harness.log.publish(envelope)
        await harness.log.publish(sealed(event, id=f"e{number}", workspace="w"))
    return harness


def numbers(text: str) -> set[int]:
    """All whole numbers in a text that could be sequences of this log."""
    return {int(digits) for digits in re.findall(r"(?<![\w.:+-])\d{1,4}(?![\w.:-])", text)}


def test_a_place_is_read_by_who_it_was_shown_to() -> None:
    places = Places("w", b"k" * 32)
    foreign_places = Places("v", b"k" * 32)
    place_numbers = [places.shown(sequence) for sequence in range(1, 2000)]
    assert len({*place_numbers}) == len(place_numbers)
    assert all(MARK <= number < 2 * MARK <= 2**53 for number in place_numbers)
    assert [places.sequence(number) for number in place_numbers] == [*range(1, 2000)]
    assert Places("w", b"k" * 32).shown(5) == place_numbers[4], "of every replica the same"
    assert places.shown(0) == places.sequence(0) == 0
    assert place_numbers != sorted(place_numbers)
    read = 0
    for number in place_numbers:
        try:
            read += foreign_places.sequence(number) < 2000
        except BadRequest:
            continue
    assert read == 0, "it means nothing in another workspace"


@pytest.mark.parametrize("partition", [1, 15, MAX_PARTITIONS - 1])
def test_a_place_in_any_partition_is_read_by_who_it_was_shown_to(partition: int) -> None:
    places = Places("w", b"k" * 32)
    first = first_sequence(partition)
    sequences = [*range(first, first + 2000), first - 2 + 2**40]
    place_numbers = [places.shown(sequence) for sequence in sequences]
    assert all(MARK <= number < 2 * MARK for number in place_numbers)
    assert [places.sequence(number) for number in place_numbers] == sequences
    text = f"takes back the edit at {first}"
    assert str(first) not in places.shown_in_sentence(text)


@pytest.mark.parametrize("place", [1, 17, MARK - 1, 2 * MARK, 2**60])
def test_what_was_never_shown_is_refused(place: int) -> None:
    with pytest.raises(BadRequest, match="is no place of this workspace"):
        Places("w", b"k" * 32).sequence(place)


def test_all_replicas_and_restarts_have_the_same_key() -> None:
    principal = Principal("key:writer", Permissions(frozenset({"w"})))
    first, second = (
        behind(lightstream_api_keys=KEYS, nats_url="nats://q:secret@h:4222") for _ in "ab"
    )
    assert first.places_for(principal, "w").shown(5) == second.places_for(principal, "w").shown(5)
    third = behind(lightstream_api_keys=KEYS, nats_url="nats://q:other@h:4222")
    assert first.places_for(principal, "w").shown(5) != third.places_for(principal, "w").shown(5)
    assert first.places_of("key:all", "w") == PLAIN
    assert first.places_of("key:removed", "w").key


async def test_feeds_page_by_places(harness: QueryHarness) -> None:
    async with keyed(harness.app(behind(lightstream_api_keys=KEYS)), WRITER) as api:
        first = (await api.get("/events", params={"after": 0, "limit": 2})).json()
        second = (await api.get("/events", params={"after": first["after"], "limit": 2})).json()
        earlier = (await api.get("/events", params={"before": second["before"], "limit": 2})).json()
        assert [event["document"] for event in [*first["events"], *second["events"]]] == [
            "a",
            "b",
            "a",
            "_graph",
        ]
        assert earlier["events"] == first["events"]
        for event in first["events"]:
            details = (await api.get(f"/events/{event['sequence']}")).json()
            assert details["summary"] == event
        assert not numbers(json.dumps([first, second])) & {*OWN}
        assert (await api.get("/events", params={"after": 8})).status_code == 400
        assert (await api.get("/events/8")).status_code == 404
        documents = (await api.get("/documents/a/events")).json()
        assert [event["sequence"] for event in documents["events"]] == [
            first["events"][0]["sequence"],
            second["events"][0]["sequence"],
        ]
    async with keyed(harness.app(behind(lightstream_api_keys=KEYS)), KEY, "w") as api:
        page = (await api.get("/events", params={"after": 0})).json()
        assert [event["sequence"] for event in page["events"]] == OWN


async def test_the_ids_of_a_stream_are_places_to_resume_from(harness: QueryHarness) -> None:
    streams = EventStreams()
    app = harness.app(behind(lightstream_api_keys=KEYS), streams=streams)
    streams.stopping.set()
    async with keyed(app, WRITER) as api:
        page = (await api.get("/events", params={"after": 0})).json()
        now = (await api.get("/events/stream")).text
        assert f"\nid: {page['after']}\n" in now, "from its own newest event on"
        answer = await api.get("/events/stream", headers={"Last-Event-ID": str(page["before"])})
        assert f"\nid: {page['before']}\n" in answer.text
        assert (await api.get("/events/stream", headers={"Last-Event-ID": "8"})).status_code == 400
        # What others do shows nowhere.
        await harness.log.publish(sealed(added("more"), id="more", workspace="v"))
        assert (await api.get("/events/stream")).text == now


async def test_the_past_is_asked_by_places_and_times(harness: QueryHarness) -> None:
    async with keyed(harness.app(behind(lightstream_api_keys=KEYS)), WRITER) as api:
        events = (await api.get("/events", params={"after": 0})).json()["events"]
        places = [event["sequence"] for event in events]
        diff = (
            await api.get("/operations/diff", params={"from": places[0], "to": places[2]})
        ).json()
        assert (diff["from_sequence"], diff["to_sequence"]) == (places[0], places[2])
        changes = {document["id"]: document["change"] for document in diff["documents"]}
        assert changes == {"a": "changed", "b": "appeared"}
        history = (await api.get("/graph/entity/history", params={"name": "Ada"})).json()
        assert [event["sequence"] for event in history["events"]] == [places[3]]
        undo = {"sequence": places[3], "dry_run": True}
        plan = await api.post("/operations/undo", json=undo)
        assert (plan.status_code, plan.json()["sequence"]) == (200, places[3])
        assert plan.json()["event"]["undoes"] == places[3]
        answers = [diff, history, plan.json()]
        for path, params in (
            ("/operations/diff", {"from": "8"}),
            ("/graphs", {"label": "*", "as_of": "8"}),
        ):
            refusal = await api.get(path, params=params)
            assert refusal.status_code == 400
            answers.append(refusal.json()["detail"].replace("8 is no place", ""))
        absent = await api.post("/operations/undo", json={"sequence": 32, "dry_run": True})
        assert absent.status_code == 400
        assert not numbers(json.dumps(answers)) & {*OWN}


class Posts:
    """`Poster` that takes everything."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.ids: list[str] = []

    async def post(self, target: Target, headers: dict[str, str], body: bytes) -> int:
        self.bodies.append(json.loads(body))
        self.ids.append(headers["webhook-id"])
        return 204


async def test_webhooks_tell_places(harness: QueryHarness) -> None:
    config = behind(lightstream_api_keys=KEYS)
    posts = Posts()
    endpoints = Endpoints(MemorySharedValues())
    webhooks = Webhooks(endpoints, posts, HERE, config.may_write)
    notifier = Notifier(
        harness.log, harness.pointers, harness.documents, places_of=config.places_of
    )
    sender = WebhookSender(webhooks, MemoryEventFeed(harness.log), notifier)
    types = ("DocumentAdded", "GraphEdited")
    draft = Endpoint(
        "", "w", "http://127.0.0.1:9/", types, new_secret(), with_body=True, created_by="key:writer"
    )
    endpoint = await endpoints.add(draft, 0)
    assert await sender.step(endpoint.id, Lease(endpoints, endpoint.id, "here"))
    async with keyed(harness.app(config), WRITER) as api:
        page = (await api.get("/events", params={"after": 0})).json()
    sequences = [body["data"]["sequence"] for body in posts.bodies]
    assert sequences == [event["sequence"] for event in page["events"]]
    assert not numbers(json.dumps([posts.bodies, posts.ids])) & {*OWN}


async def test_a_registered_webhook_shows_where_it_is_as_a_place(harness: QueryHarness) -> None:
    webhooks = Webhooks(Endpoints(MemorySharedValues()), Posts(), HERE)
    app = harness.app(behind(lightstream_api_keys=KEYS), webhooks=webhooks)
    async with keyed(app, WRITER) as api:
        page = (await api.get("/events", params={"after": 0})).json()
        body = {"url": "http://127.0.0.1:9/hook", "types": ["DocumentAdded"]}
        answer = await api.post("/operations/webhooks", json=body)
        assert answer.status_code == 200, answer.text
        webhook = answer.json()
        assert (webhook["cursor"], webhook["lag"]) == (page["after"], 0)
        registration = await api.post(
            "/operations/webhooks", json={**body, "after": page["before"]}
        )
        assert (registration.json()["cursor"], registration.json()["lag"]) == (page["before"], 3)
        replay = f"/operations/webhooks/{webhook['id']}/replay"
        assert (await api.post(replay, json={"after": page["before"]})).json()["lag"] == 3
        assert (await api.post(replay, json={"after": 8})).status_code == 400


async def test_without_credentials_sequences_stay_sequences(harness: QueryHarness) -> None:
    async with client(harness.app(), **{"X-Workspace": "w"}) as api:
        page = (await api.get("/events", params={"after": 8})).json()
    assert [event["sequence"] for event in page["events"]] == OWN[1:]
