"""A document that failed is tried again by command, by redriving its dead letter, and over HTTP."""

import asyncio
import hashlib
from typing import Any

import httpx

from contracts import subjects
from runtime.bus.encoded_text import EncodedText
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import connected
from tests.support.raw_events import added, history, publish_added
from tests.support.stack import Stack, until

WORKSPACE = ("--workspace", "retries")


def fail(stack: Stack, document: str, text: str) -> dict[str, Any]:
    """Add a document whose long text is missing, and return its dead letter once it has failed."""
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()
    place = subjects.blob_place("retries", digest)
    blob = {"sha256": digest, "size": len(data), "parts": 1, "place": place}
    body = {"document_id": document, "file_path": f"{document}.txt", "blob": blob}
    publish_added(stack, added(document, "retries", data=body), document, "retries")
    until(lambda: status(stack, document) == "failed", stack.logs)
    return next(
        letter
        for letter in stack.json("dead", "list", "--stage", "chunker")
        if f".{document}." in letter["subject"]
    )


def store(stack: Stack, text: str) -> None:
    """Store the text that was missing."""

    async def put() -> None:
        async with connected(stack.settings.nats_url, name="test") as client:
            await NatsBlobs(client.jetstream()).put(EncodedText.of(text), "retries")

    asyncio.run(put())


def status(stack: Stack, document: str) -> str | None:
    with stack.service("retries") as service:
        return next(
            (record.status for record in service.all_documents() if record.id == document), None
        )


def names(stack: Stack, document: str) -> list[str]:
    return [event["name"] for event in history(stack, document, "retries")]


def test_a_dead_letter_is_shown_and_redriven_after_its_cause_is_mended(stack: Stack) -> None:
    text = "Ada Marlow kept the light of Port Elm."
    letter = fail(stack, "redriven", text)
    number = str(letter["number"])
    assert "is not in KB_BLOBS" in letter["reason"]
    details = stack.json("dead", "show", number)
    assert '"document_id": "redriven"' in details["data"]
    assert (details["stage"], details["sequence"]) == ("chunker", letter["sequence"])
    store(stack, text)
    outcome = stack.json("dead", "redrive", number, "--yes", "--reason", "the text is there now")
    assert outcome == {"redriven": [letter["number"]], "obsolete": []}
    until(lambda: status(stack, "redriven") == "processed", stack.logs)
    assert names(stack, "redriven")[:4] == [
        "DocumentAdded",
        "StageFailed",
        "RetryRequested",
        "ChunksCreated",
    ]
    assert (
        "tried again in the chunker: the text is there now" in stack.run("log", *WORKSPACE).stdout
    )
    gone = stack.run("dead", "show", number)
    assert (gone.returncode, gone.stderr.count("there is no dead letter")) == (2, 1)


def test_a_dead_letter_is_redriven_and_dropped_over_http(stack: Stack) -> None:
    text = "Ada Marlow rang the bell of Port Elm."
    first, second = fail(stack, "rung", text), fail(stack, "silent", "This text is nowhere.")
    store(stack, text)
    with httpx.Client(
        base_url=f"{stack.state.api}/operations", headers={"X-Workspace": "retries"}
    ) as api:
        listed = {
            letter["number"]: letter
            for letter in api.get("/dead_letters?stage=chunker").json()["dead_letters"]
        }
        assert '"document_id": "rung"' in api.get(f"/dead_letters/{first['number']}").json()["data"]
        redriven = api.post(
            "/dead_letters/redrive", json={"numbers": [first["number"]], "reason": "found it"}
        ).json()
        dropped = api.post("/dead_letters/drop", json={"numbers": [second["number"]]}).json()[
            "dropped"
        ]
        rest = [letter["number"] for letter in api.get("/dead_letters").json()["dead_letters"]]
        until(lambda: api.get("/projections").json()["projections"][0]["lag"] == 0, stack.logs)
    assert redriven == {"redriven": [first["number"]], "obsolete": []}
    assert dropped == [listed[second["number"]]]
    assert not {first["number"], second["number"]} & set(rest)
    until(lambda: status(stack, "rung") == "processed", stack.logs)
    store(stack, "This text is nowhere.")  # a backup of a stack that lacks a text ends with code 1


def test_what_fails_again_is_a_new_dead_letter(stack: Stack) -> None:
    letter = fail(stack, "still-bad", "Tom Elm never wrote this.")
    stack.json("dead", "redrive", str(letter["number"]), "--yes")
    until(lambda: names(stack, "still-bad").count("StageFailed") == 2, stack.logs)
    until(lambda: status(stack, "still-bad") == "failed", stack.logs)
    (again,) = [
        letter for letter in stack.json("dead", "list") if ".still-bad." in letter["subject"]
    ]
    assert again["number"] > letter["number"]
    outcome = stack.run("dead", "drop", str(again["number"]))
    assert outcome.stdout.startswith(f"would drop {again['number']}: chunker")
    assert again in stack.json("dead", "list")
    assert stack.json("dead", "drop", str(again["number"]), "--yes")["dropped"] == [again]
    assert again not in stack.json("dead", "list")
    store(stack, "Tom Elm never wrote this.")  # as above


def test_documents_are_retried_by_name_and_all_that_failed_at_once(stack: Stack) -> None:
    texts = {name: f"Zoe Marlow met {name} in Port Elm." for name in ("one", "two", "three")}
    for name, text in texts.items():
        fail(stack, name, text)
        store(stack, text)
    assert stack.json("retry", "one.txt", "--yes", *WORKSPACE) == {
        "requested": ["one"],
        "nothing_failed": [],
    }
    until(lambda: status(stack, "one") == "processed", stack.logs)
    requested = stack.json("retry", "--failed", "--yes", "--stage", "chunker", *WORKSPACE)[
        "requested"
    ]
    assert {"two", "three"} <= set(requested)
    until(lambda: {status(stack, name) for name in texts} == {"processed"}, stack.logs)
    unknown = stack.run("retry", "nobody.txt", "--yes", *WORKSPACE)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "no document 'nobody.txt' in workspace retries" in unknown.stderr
    wrong = stack.run("retry", "one.txt", "--stage", "cooker", *WORKSPACE)
    assert (wrong.returncode, "chunker, extractor" in wrong.stderr) == (2, True)
    assert stack.run("retry").returncode == 2
