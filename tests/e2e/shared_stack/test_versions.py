"""New versions, deletions and edits on a running stack: what is left equals what was never
otherwise.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from contracts.envelope import wrap
from contracts.events import GraphEdited
from contracts.graph_edits import EditedValues
from lightstream_rag.documents import Chunking
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from tests.support.corpus import documents
from tests.support.stack import Stack, at_rest, until

COUNT = 24
TEXTS = documents(COUNT, sentences=8)
KEPT = dict(list(TEXTS.items())[: COUNT // 2])
GONE = dict(list(TEXTS.items())[COUNT // 2 :])
SHORT = Chunking(
    strategy="fixed_token", params={"chunk_token_size": 40, "chunk_overlap_token_size": 5}
)
"""Several chunks of each document."""


def add(stack: Stack, texts: Mapping[str, str], workspace: str) -> None:
    stack.add(texts, workspace, SHORT)


@pytest.fixture(scope="module")
def never(stack: Stack) -> dict[str, Any]:
    """The digest of a workspace that only ever had the documents that are kept."""
    add(stack, KEPT, "never")
    assert stack.settled(len(KEPT), "never")["processed"] == len(KEPT)
    return stack.digest("never")


def quiet(stack: Stack) -> None:
    """Wait until no event is being handled, waits or is parked."""
    until(lambda: at_rest(stack), stack.logs)


def test_deleted_documents_leave_everything_as_if_they_had_never_been(
    stack: Stack, never: dict[str, Any]
) -> None:
    add(stack, TEXTS, "deleted")
    assert stack.settled(COUNT, "deleted")["processed"] == COUNT
    assert stack.digest("deleted") != never

    outcome = stack.json("delete", *GONE, "--yes", "--wait", "--workspace", "deleted")

    assert len(outcome["deleted"]) == len(GONE)
    quiet(stack)
    assert stack.digest("deleted") == never
    assert stack.counts("deleted")["all"] == len(KEPT)


def test_documents_deleted_while_they_are_being_indexed_are_gone_too(
    stack: Stack, never: dict[str, Any]
) -> None:
    add(stack, TEXTS, "early")
    until(lambda: stack.counts("early").get("all") == COUNT, stack.logs)
    stack.json("delete", *GONE, "--yes", "--workspace", "early")
    stack.settled(len(KEPT), "early")
    quiet(stack)
    assert stack.digest("early") == never


def test_shorter_versions_leave_nothing_of_the_longer_ones(
    stack: Stack, never: dict[str, Any]
) -> None:
    add(stack, {name: f"{text} {GONE_TEXT}" for name, text in KEPT.items()}, "shorter")
    assert stack.settled(len(KEPT), "shorter")["processed"] == len(KEPT)
    add(stack, KEPT, "shorter")
    quiet(stack)
    assert stack.settled(len(KEPT), "shorter")["processed"] == len(KEPT)
    assert stack.digest("shorter") == never


GONE_TEXT = " ".join(GONE.values())[:1500]


def test_a_deleted_document_can_be_added_again(stack: Stack, never: dict[str, Any]) -> None:
    name = list(KEPT)[-1]  # the newest, for descriptions are joined in the order of their documents
    stack.json("delete", name, "--yes", "--wait", "--workspace", "never")
    assert stack.digest("never") != never
    add(stack, {name: KEPT[name]}, "never")
    assert stack.settled(len(KEPT), "never")["processed"] == len(KEPT)
    quiet(stack)
    assert stack.digest("never") == never


def test_deleting_what_is_not_there_says_so(stack: Stack) -> None:
    outcome = stack.run("delete", "nobody.txt")
    assert (outcome.returncode, "no document 'nobody.txt'" in outcome.stderr) == (2, True)


def test_an_alias_makes_one_entity_of_two_and_taken_back_leaves_no_trace(
    stack: Stack, never: dict[str, Any]
) -> None:
    decision = ("Port Elm", "Ada Marlow", "--workspace", "never")
    assert stack.json("alias", "accept", *decision)["status"] == "success"
    quiet(stack)
    accepted = stack.digest("never")
    assert accepted["graph"] != never["graph"]
    assert accepted["vectors"] != never["vectors"]
    known = stack.json("alias", "list", "--state", "accepted", "--workspace", "never")
    assert [(one["name"], one["entity"]) for one in known] == [decision[:2]]
    assert stack.json("alias", "undo", *decision, "--yes")["status"] == "success"
    quiet(stack)
    assert stack.digest("never") == never


def speaks_of(stack: Stack, name: str) -> str:
    """One of the documents of the workspace `never` that speak of the entity."""
    with stack.client("never") as client:
        return client.get("/graph/provenance", params={"name": name}).json()["sources"][0][
            "document_id"
        ]


def test_a_split_name_means_two_things_and_taken_back_leaves_no_trace(
    stack: Stack, never: dict[str, Any]
) -> None:
    id = speaks_of(stack, "Ada Marlow")
    here = ("--workspace", "never")
    assert (
        stack.json("alias", "split", "Ada Marlow", "Ada (ship)", "--document", id, *here)["status"]
        == "success"
    )
    quiet(stack)
    assert speaks_of(stack, "Ada (ship)") == id
    split = stack.digest("never")
    assert split["graph"] != never["graph"]
    assert split["vectors"] != never["vectors"]
    history = stack.json("history", "Ada (ship)", *here)["events"]
    (sequence,) = (event["sequence"] for event in history if event["operation"] == "split_entity")
    said = [event for event in history if event["type"] == "EntitiesExtracted"]
    assert {event["document_id"] for event in said if event["effect"] == "counts"} == {id}, said
    assert stack.json("undo", str(sequence), "--yes", *here)["published"]
    quiet(stack)
    assert stack.digest("never") == never


def test_edits_reach_graph_and_vectors_and_outlive_a_rebuild(
    stack: Stack, never: dict[str, Any]
) -> None:
    edit(stack, GraphEdited(operation="rename_entity", names=("Port Elm",), target="Elmhaven"))
    split = (speaks_of(stack, "Ada Marlow"),)
    edit(
        stack,
        GraphEdited(
            operation="split_entity", names=("Ada Marlow",), target="Ada (ship)", documents=split
        ),
    )
    edit(
        stack,
        GraphEdited(
            operation="edit_entity",
            names=("Ada Marlow",),
            values=EditedValues(description="Captain"),
        ),
    )
    quiet(stack)
    edited = stack.digest("never")
    assert edited["graph"] != never["graph"]
    assert edited["vectors"] != never["vectors"]
    assert edited["status"] == never["status"]

    outcome = stack.json("rebuild", "all")

    assert outcome["language_model_calls"] == 0
    for workspace, expected in (
        ("never", edited),
        ("deleted", never),
        ("early", never),
        ("shorter", never),
    ):
        assert stack.digest(workspace) == expected, workspace


def edit(stack: Stack, event: GraphEdited) -> None:
    """Publish an edit of the workspace `never`."""

    async def send() -> None:
        async with connected(stack.settings.nats_url, name="test") as client:
            await NatsLog(client.jetstream()).publish(
                wrap(
                    event,
                    id=str(uuid4()),
                    source="/test",
                    workspace="never",
                    time=datetime.now(UTC),
                )
            )

    asyncio.run(send())
